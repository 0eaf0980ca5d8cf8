"""Ports for the machine that tools act on: files, commands, search, web."""

from asyncio import Future
from collections.abc import Callable, Sequence
from enum import StrEnum
from os import stat_result
from pathlib import Path
from typing import NamedTuple, Protocol

from halocline.ports.jobs import Jobs
from halocline.ports.shell_facts import Hides
from halocline.protocol.events import SandboxChecked, ShellMoved
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.values import Value

LARGEST_EDIT = 100_000_000  # bytes of a file


class FileInfo(Value, frozen=True):
    """Facts about a path. `size` is in bytes; `is_file` is true only for regular files."""

    size: int
    is_file: bool
    is_dir: bool
    modified_ns: int = 0


class Mark(NamedTuple):
    """Metadata that changes whenever the file does. Times are in nanoseconds.

    `altered` is the ctime: the last change of content or metadata, including the modification time.
    """

    modified: int
    size: int
    inode: int
    altered: int


class FileChangedOutside(Exception):
    """The file's content is no longer what the writer read."""


class FileWrite(Value, frozen=True):
    """New content of one file. `data` None removes it; `expected` is its required current content (None: no file).

    A new file copies the permissions of `like`.
    """

    path: Path
    data: bytes | None
    expected: bytes | None
    like: Path | None = None


class Scope(Protocol):
    """Paths that one call may read. Places are absolute paths without links."""

    @property
    def hides_names(self) -> bool:
        """True if any names are hidden."""

    def refusal(self, place: str, found: stat_result | None = None) -> str:
        """Say why a place may not be read; empty if it may. `found` is the opened file; None to check the path only."""

    def hides(self, place: str) -> bool:
        """True if even the name is hidden."""

    def folder_of(self, place: str) -> str:
        """The opened folder that a place is in; empty for a place outside."""

    def is_secret(self, place: str) -> bool:
        """True if the file may hold secrets, judged by its name."""


class LineRange(Value, frozen=True):
    """Lines of a file, as bytes: `first` is the number of the first line, `total` the number of lines in the file.

    `encoding` is that of the whole file; empty if it is not text.
    """

    data: bytes
    first: int
    total: int
    encoding: str


class Files(Protocol):
    """Files of the host. Failures are `OSError`s, which the tools translate."""

    async def info(self, path: Path) -> FileInfo | None:
        """Return facts about a path; None if nothing is there. Links are followed."""

    async def read(self, path: Path, limit: int) -> bytes:
        """Read the first `limit` bytes of a regular file. Raises OSError for devices, pipes and sockets."""

    def declared_encoding(self, path: Path) -> str:
        """Return the encoding that is declared for a file of this name; empty if none is. `decode_text` takes it."""

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        """Read lines (from 1, clamped) of a file of any size, at most `limit` bytes. Raises OSError as `read` does."""

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        """Replace the file atomically, keeping its permissions; parent folders are created.

        `expected` is the required current content (None: no file). A failed write leaves content and modification
        time unchanged. A symbolic link stays; its target is written.

        Raises:
            FileChangedOutside: the current content is not `expected`.
        """

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        """Write several files, all or none: a failure leaves every file unchanged.

        Links are not removed. If the process dies halfway, `mend` reverts what was written.

        Raises:
            FileChangedOutside: the current content of a file is not what was expected.
        """

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        """Revert what processes that died in `write_all` left half done. Return one sentence for each.

        Also remove partly written temporary files next to the files in `cut_short`, which a dead process was writing.
        """

    async def marks(self, folder: Path, names: Sequence[str]) -> "Sequence[Mark | None]":
        """Return the metadata of files, named relative to the folder or absolutely; None if it is no regular file."""

    def only(self, may_write: Callable[[str], bool], scope: Scope | None = None) -> "Files":
        """Return these files restricted: writes need `may_write` of the resolved path, reads must be in the scope.

        The path that was checked is the one that is used: no link can be swapped in between.
        """

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        """Return those of the names below a folder that exist, are reached without links, and are not hidden.

        A name of a folder may end in `/`.
        """

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        """List the names in a folder, sorted; each with True if it is a folder."""


class ShellCommand(Value, frozen=True):
    """A command to run. `timeout` is in seconds; None means no limit.

    It runs in `cwd`, unless an earlier command changed the shell's folder. A `background` command continues as a job
    once it is quiet or ready; one on a `terminal`, when it waits for input. A command `judged` read-only runs in an
    environment that no earlier command changed, and only its folder persists. `unsandboxed` means that a person
    allowed it to run without the sandbox. `call` is the id of the tool call that it belongs to. `written` is the
    command as the model wrote it, where the `text` is another form of it. In a sandbox it cannot read what `hides`
    says, nor secret files unless a person allowed it to (`shows_secrets`). A `fresh` one neither gets the folder and
    the variables that earlier commands left, nor leaves its own. `traceparent` is the place of the call in a trace, for
    programs that send spans of their own; empty: in none.
    """

    text: str
    cwd: str
    timeout: float | None = None
    background: bool = False
    terminal: bool = False
    judged: bool = False
    unsandboxed: bool = False
    call: str = ""
    written: str = ""
    hides: Hides | None = None
    shows_secrets: bool = False
    fresh: bool = False
    traceparent: str = ""


class Left(StrEnum):
    """Reason why a command became a job: the model or a person wanted it, or its shell left child processes."""

    MODEL = "model"
    PERSON = "person"
    SHELL = "shell"


class Cut(StrEnum):
    """A person's request for a running command: continue as a job, or stop."""

    LEAVE = "leave"
    STOP = "stop"


class ShellResult(Value, frozen=True):
    """Result of a command. `output` is stdout and stderr, interleaved, with the middle left out if it is long.

    `exit_code` is None if the time limit or a person stopped the command, or if it continues as `job`; negative means
    killed by that signal. `full` is a file with the whole output, if `output` is cut. `stuck` means that a stopped
    command had printed nothing for `quiet` seconds and used no CPU; `ports` are those it listens on. `moved` is what
    the command changed for the next one; `gone` is the folder it should have started in, if that no longer exists.
    `set_aside` lists files that a sandboxed command created and that were removed because other programs would obey
    them; `bounds` says what the sandbox let a failed command reach; `withheld` names variables that commands do not get
    because they look like secrets.
    """

    exit_code: int | None
    output: str
    total_bytes: int
    seconds: float
    binary: bool = False
    full: str = ""
    job: str = ""
    left: Left | None = None
    ports: tuple[int, ...] = ()
    quiet: float = 0.0
    stuck: bool = False
    full_screen: bool = False
    moved: ShellMoved | None = None
    gone: str = ""
    sandboxed: bool = False
    bounds: str = ""
    set_aside: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


class Shell(Protocol):
    """Runs commands, each in its own process group; the folder and exported variables persist between commands."""

    @property
    def jobs(self) -> Jobs:
        """The background jobs."""

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> SandboxChecked:
        """Use the sandbox for an approval mode from now on, and describe it; tested on the first call."""

    async def run(
        self, command: ShellCommand, on_output: Callable[[str], None], cut: "Future[Cut] | None" = None
    ) -> ShellResult:
        """Run until the command ends or becomes a job. Cancellation and the time limit kill its whole process group.

        `cut` can stop it or turn it into a job; `leave` does not apply to a command run with `cut`.
        """

    def leave(self, call: str = "") -> bool:
        """Turn the running command into a job and end its `run`; if none is running, the one of this call once it runs.

        False if there is neither.
        """

    async def close(self) -> None:
        """Stop every process that was started, with all descendants."""


class SearchQuery(Value, frozen=True):
    """A search. `regex` is in ripgrep's syntax, `glob` one or more patterns for files, `limit` is in matches."""

    path: str
    regex: str
    glob: str = ""
    context: int = 1
    limit: int = 300


class Match(Value, frozen=True):
    """One line of a result; `is_match` is false for context lines."""

    path: str
    line: int
    text: str
    is_match: bool = True


class LeftOut(Value, frozen=True):
    """Files that a search or a list did not look at, and why. Names are relative to the folder.

    `secrets` may hold secrets; `ignored` counts what ignore files leave out, and installed code, mostly in `places`.
    `undecodable` are not text, `large` too large or too many to decode, `long` has the file of each match in an
    overlong line. `unreadable` files and folders could not be opened; `links` lead elsewhere and were not followed.
    `unfitting` counts the files that there are if none fits the patterns. `more`: there may be more of each.
    """

    secrets: tuple[str, ...] = ()
    ignored: int = 0
    places: tuple[str, ...] = ()
    undecodable: int = 0
    large: int = 0
    long: tuple[str, ...] = ()
    unreadable: int = 0
    links: int = 0
    unfitting: int = 0
    more: bool = False

    def __add__(self, other: "LeftOut") -> "LeftOut":
        pairs = ((name, getattr(self, name) + getattr(other, name)) for name in self.__struct_fields__[:-1])
        return LeftOut(**dict(pairs), more=self.more or other.more)


class SearchResult(Value, frozen=True):
    """Matches of a search. `left_out` has all secrets, and is complete if there are no matches."""

    matches: tuple[Match, ...]
    cut: bool = False
    left_out: LeftOut = LeftOut()


class Search(Protocol):
    """Finds text and files, hidden ones too; respects ignore files."""

    def only(self, scope: Scope) -> "Search":
        """Return this search restricted to the scope, without hidden names."""

    async def search(self, query: SearchQuery) -> SearchResult:
        """Search files. Raises ToolFailure if the expression is invalid."""

    async def files(self, path: Path, limit: int, glob: str = "") -> tuple[list[str], bool]:
        """Return files below a folder, relative to it, nearest first; and True if the list was cut."""

    async def count_left_out(self, path: Path, glob: str = "") -> LeftOut:
        """Count what `files` and `search` leave out below a folder."""


class WebAnswer(Value, frozen=True):
    """A server's response. `media_type` is lowercase without parameters; `location` is the target of a redirect."""

    status: int
    media_type: str
    charset: str = ""
    location: str = ""
    body: bytes = b""
    cut: bool = False


class Web(Protocol):
    """Pages and documents at http and https URLs."""

    async def lookup(self, hostname: str) -> tuple[str, ...]:
        """Resolve a name to its IP addresses; empty if it does not resolve."""

    async def get(self, url: str, addresses: tuple[str, ...]) -> WebAnswer:
        """Send one request, without following redirects. Connect only to `addresses`, or to the proxy in the settings.

        Raises:
            ToolFailure: no server answered.
        """
