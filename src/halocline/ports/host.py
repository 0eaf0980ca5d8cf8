"""The doors to the machine the tools act on: files, commands, search."""

from asyncio import Future
from collections.abc import Callable, Sequence
from enum import StrEnum
from os import stat_result
from pathlib import Path
from typing import NamedTuple, Protocol

from halocline.ports.jobs import Jobs
from halocline.protocol.events import ApprovalMode, SandboxChecked, ShellMoved
from halocline.protocol.values import Value


class FileInfo(Value, frozen=True):
    """`size` is in bytes; `is_file` is true for regular files only."""

    size: int
    is_file: bool
    is_dir: bool
    modified_ns: int = 0


class Mark(NamedTuple):
    """What a file looks like from outside; another look means another file. Times are in nanoseconds.

    `altered` is when anything of it was, its time of change as well.
    """

    modified: int
    size: int
    inode: int
    altered: int


class FileChangedOutside(Exception):
    """The file no longer holds what the writer read."""


class FileWrite(Value, frozen=True):
    """What one file shall be. `data` None removes it; `expected` is the content that must be there now (None: nothing).

    `like` is a file whose permissions a new one takes.
    """

    path: Path
    data: bytes | None
    expected: bytes | None
    like: Path | None = None


class Scope(Protocol):
    """What one call may read of the machine, by places: absolute paths without links."""

    @property
    def hides_names(self) -> bool:
        """Whether there is anything whose name is not given."""

    def refusal(self, place: str, found: stat_result | None = None) -> str:
        """Why a place may not be read; empty when it may. `found` is what was opened there; None for a mere look."""

    def hides(self, place: str) -> bool:
        """Whether not even its name is given."""

    def is_secret(self, place: str) -> bool:
        """Whether it may hold secrets, by its name."""


class LineRange(Value, frozen=True):
    """Lines of a file, as bytes: `first` is the number of the first, `total` how many there are in the file.

    `encoding` is that of the whole file; empty for what is no text.
    """

    data: bytes
    first: int
    total: int
    encoding: str


class Files(Protocol):
    """Files of the host. Failures are `OSError`s, translated by the tools."""

    async def info(self, path: Path) -> FileInfo | None:
        """None when nothing is there. Links are followed."""

    async def read(self, path: Path, limit: int) -> bytes:
        """The first `limit` bytes of a regular file. Raises OSError for devices, pipes and sockets."""

    async def read_lines(self, path: Path, first: int, last: int, limit: int) -> LineRange:
        """Lines of a file of any size (from 1), clamped to it: at most `limit` bytes. Raises OSError as `read` does."""

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        """Replace the file in one step, keeping its permissions; parents are made.

        `expected` is the content that must be there now (None: nothing). A failed write leaves bytes and
        modification time as they were. A symbolic link stays one; its target is written.

        Raises:
            FileChangedOutside: the content is not what was expected.
        """

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        """Make several files what they shall be, all or none: a failure leaves every one as it was.

        A link is not removed. When the process dies on the way, `mend` puts back what was done.

        Raises:
            FileChangedOutside: the content of one is not what was expected.
        """

    async def mend(self, cut_short: Sequence[Path] = ()) -> list[str]:
        """Put back what processes that died within `write_all` left half done. Says it, one sentence for each.

        Beside the files named, which one that died was about to `write`, nothing half written is left either.
        """

    async def marks(self, folder: Path, names: Sequence[str]) -> "Sequence[Mark | None]":
        """How files look, each named from the folder or by its whole path; None where no regular file is."""

    def only(self, may_write: Callable[[str], bool], scope: Scope | None = None) -> "Files":
        """The same files, of which only those are written whose resolved path may be, and read what is in the scope.

        The path that was looked at is the one that is read and written: nobody can put a link in the way between.
        """

    async def present(self, folder: Path, names: Sequence[str]) -> list[str]:
        """Those of the names below a folder that are there now, without a link on the way, and are not hidden.

        A name of a folder may end in `/`.
        """

    async def list(self, path: Path) -> list[tuple[str, bool]]:
        """Names directly in a folder, sorted, each with whether it is a folder."""


class ShellCommand(Value, frozen=True):
    """`timeout` is in seconds; None waits for ever.

    It runs in `cwd`, unless an earlier command left the shell elsewhere. One in the `background` goes on as a job once
    it is quiet or ready; one on a `terminal` does so when it waits for input. One that was `judged` to only read runs
    in an environment that no earlier command changed, and leaves nothing but its folder. `unsandboxed` means that a
    person let it.
    """

    text: str
    cwd: str
    timeout: float | None = None
    background: bool = False
    terminal: bool = False
    judged: bool = False
    unsandboxed: bool = False


class Left(StrEnum):
    """Why a command goes on as a job: the model or a person wanted it, or its shell ended and left children behind."""

    MODEL = "model"
    PERSON = "person"
    SHELL = "shell"


class Cut(StrEnum):
    """What a person wishes for a command that runs: that it goes on as a job, or that it ends."""

    LEAVE = "leave"
    STOP = "stop"


class ShellResult(Value, frozen=True):
    """How a command ended. `output` is standard output and error, interleaved, its middle left out when it is long.

    `exit_code` is None when the time limit or a person stopped the command, or when it goes on as `job`; negative means
    it died of that signal. `full` is a file that holds the whole output, when `output` does not. `stuck` says that a
    command that was stopped had been `quiet` for that many seconds and used no processor; `ports` are those it listens
    on. `moved` tells what this command changed for the next one, `gone` is the folder it should have started in.
    `set_aside` tells of files that a sandboxed one made, which other programs would obey, and which are no longer
    there; `withheld` names the variables that commands do not get because they look like secrets.
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
    set_aside: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


class Shell(Protocol):
    """Runs commands, each as a process group of its own; folder and exported variables pass from one to the next."""

    @property
    def jobs(self) -> Jobs:
        """Those that go on."""

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> SandboxChecked:
        """How commands are held in an approval mode, from now on; found out when first asked."""

    async def run(
        self, command: ShellCommand, on_output: Callable[[str], None], cut: "Future[Cut] | None" = None
    ) -> ShellResult:
        """Run to the end, or until it goes on. Cancellation and the time limit kill the whole group first.

        `cut` can say meanwhile what shall become of it; such a command is none that `leave` means.
        """

    def leave(self) -> bool:
        """Let the command that runs now go on as a job, and its `run` end. False when none runs."""

    async def close(self) -> None:
        """End all that was ever started and what came of it, wherever it went."""


class SearchQuery(Value, frozen=True):
    """`regex` is in ripgrep's syntax; `glob` narrows the files; `limit` is in matches."""

    path: str
    regex: str
    glob: str = ""
    context: int = 1
    limit: int = 300


class Match(Value, frozen=True):
    """One line of a result; `is_match` is false for a context line."""

    path: str
    line: int
    text: str
    is_match: bool = True


class SearchResult(Value, frozen=True):
    """`left_out` are files that would have been searched but for secrets that they may hold, relative to the folder."""

    matches: tuple[Match, ...]
    cut: bool = False
    left_out: tuple[str, ...] = ()


class Search(Protocol):
    """Finds text and files, honouring ignore files."""

    def only(self, scope: Scope) -> "Search":
        """The same search, which gives nothing of what is not in the scope, and no hidden name."""

    async def search(self, query: SearchQuery) -> SearchResult:
        """Raises ToolFailure when the expression is wrong."""

    async def files(self, path: Path, limit: int) -> tuple[list[str], bool]:
        """Paths of files below a folder, relative to it, nearest first; and whether the list was cut."""


class WebAnswer(Value, frozen=True):
    """What a server gave. `media_type` is in lower case without parameters; `location` is where it sends one on to."""

    status: int
    media_type: str
    charset: str = ""
    location: str = ""
    body: bytes = b""
    cut: bool = False


class Web(Protocol):
    """Pages and documents at http and https addresses."""

    async def lookup(self, hostname: str) -> tuple[str, ...]:
        """The IP addresses of a name; none when it does not resolve."""

    async def get(self, url: str, addresses: tuple[str, ...]) -> WebAnswer:
        """Ask once, following nothing. Only `addresses` are connected to, or the proxy of the settings.

        Raises:
            ToolFailure: nobody answered.
        """
