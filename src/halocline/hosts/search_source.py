"""The start of a search, held by its descriptor, so that no other folder or file can be put in its place.

The search program walks a folder by itself, so its results are checked again: a line counts only if its file is reached
below the folder without links and may be read.
"""

import codecs
import os
import re
import stat
import subprocess
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from errno import EFBIG
from functools import partial
from io import BufferedReader, FileIO, TextIOWrapper
from itertools import islice

from halocline.edits.text import BinaryContent, decode_text
from halocline.files.opening import NOT_REGULAR, links_below, open_below, open_resolved
from halocline.files.real_paths import find_real_path
from halocline.files.regular import read_from
from halocline.hosts.files.declared_encodings import find_declared
from halocline.hosts.search_rules import Rules, build_rules
from halocline.policy.paths import is_within
from halocline.ports.host import Scope
from halocline.protocol.child_environment import ChildEnvironment, child_environment
from halocline.protocol.errors import ToolFailure

LARGEST_DECODED = 20_000_000
"""Largest file in bytes that is decoded to check a line; UTF-8 files are checked at the line's offset."""
_BEGINNING = 1 << 13
"""Bytes in which a file that is not text shows it, usually."""
_PIPE = 1 << 14
_PIECE = 1 << 20
_BY_DESCRIPTOR = "/proc/self/fd"
_KEPT = r"PATH|HOME|LANG|LC_\w+|TMPDIR|SYSTEMROOT"


class Source:
    """A folder or file to search. `path` is the path as it was given."""

    def __init__(self, path: str, fd: int, place: str, scope: Scope | None, *, is_folder: bool) -> None:
        self.is_folder = is_folder
        self.rules = Rules()
        self._path = path
        self._fd = fd
        self._place = place
        self._scope = scope
        self._prefix = f"{path.rstrip('/')}/"
        self._name = ""
        self._file: int | None = None
        self._lines: _MarkedLines | None = None

    def set_rules(self, glob: str, *, all: bool) -> Rules:
        """Return the rules for what is searched, which names are checked against from now on."""
        if self.is_folder:
            root = self._scope.folder_of(self._place) if self._scope else ""
            self.rules = build_rules(self._place, root, glob, all=all)
        return self.rules

    @property
    def operand(self) -> str:
        return "./" if self.is_folder else "-"

    def start(self, command: list[str], ignored: str) -> "subprocess.Popen[bytes]":
        """Start ripgrep in the folder, or with the file as its input. `ignored` is the text of an ignore file."""
        given = {name: value for name, value in os.environ.items() if re.fullmatch(_KEPT, name)}
        env = child_environment(given)
        with _hold_text(ignored) as held:
            command = [*command, f"--ignore-file=/dev/fd/{held}", "--", self.operand]
            if not self.is_folder:
                return _start_process(command, env, held, stdin=self._fd)
            if os.path.isdir(_BY_DESCRIPTOR):
                return _start_process(command, env, held, cwd=f"{_BY_DESCRIPTOR}/{self._fd}")
            return _start_process(command, env, held, enter=partial(os.fchdir, self._fd))

    def path_of(self, name: str) -> str:
        """The path of a file below the given path; the program's names start with the operand."""
        return self._prefix + name[2:] if self.is_folder else self._path

    def holds(self, name: str, number: int, offset: int, line: bytes) -> bool:
        """True if a file has the line where the program found it."""
        if not self.is_folder:
            return True
        if name != self._name:
            self.close()
            self._name, self._file = name, self._open(name[2:]) if self.rules.fits(name[2:]) else None
        if self._file is None:
            return False
        return os.pread(self._file, len(line), offset) == line or self._holds_decoded(self._file, number, line)

    def shown(self, names: list[str]) -> list[str]:
        """The names that fit and are not hidden."""
        if self.rules.patterns:
            names = list(filter(self.rules.fits, names))
        if self._scope is None or not self._scope.hides_names:
            return names
        return [name for name in names if not self._scope.hides(os.path.join(self._place, name))]

    def links(self, names: Iterable[str], *, outside: bool = False) -> Iterator[str]:
        """Yield the links beside names, one to a folder with a slash; `outside`: those to what is not searched."""
        folders = {""}
        for folder in (name.rpartition("/")[0] for name in names):
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        for folder in folders:
            for name, is_folder in links_below(self._fd, folder):
                inside = f"{folder}/{name}" if folder else name
                if not (outside and self._leads_inside(inside)) and not self._hides_target(inside):
                    yield inside + "/" * is_folder

    def is_secret(self, name: str) -> bool:
        """True if a file may contain secrets, so it is not searched."""
        return self._scope is not None and self._scope.is_secret(os.path.join(self._place, name))

    def _leads_inside(self, name: str) -> bool:
        """True if a link leads to what is searched, or to nothing."""
        path = os.path.join(self._place, name)
        return not os.path.exists(path) or is_within(os.path.realpath(path), self._place)

    def _hides_target(self, name: str) -> bool:
        with suppress(OSError):
            return bool(self._scope and self._scope.hides(find_real_path(os.path.join(self._place, name))))
        return False

    def close(self) -> None:
        """Close the file that was checked last."""
        if self._file is not None:
            os.close(self._file)
        self._file, self._lines = None, None

    def _open(self, name: str) -> int | None:
        try:
            fd = open_below(self._fd, name)
        except OSError:
            return None
        found = os.fstat(fd)
        if stat.S_ISREG(found.st_mode) and not self._refuses(name, found):
            return fd
        os.close(fd)
        return None

    def _refuses(self, name: str, found: os.stat_result) -> bool:
        return self._scope is not None and bool(self._scope.refusal(os.path.join(self._place, name), found))

    def _holds_decoded(self, file: int, number: int, line: bytes) -> bool:
        """The same for a file with a mark, whose lines the program converts to UTF-8."""
        if self._lines is None or self._lines.passed >= number:
            self._lines = _MarkedLines(file)
        wanted = [one.rstrip("\r") for one in line.decode("utf-8", "replace").removesuffix("\n").split("\n")]
        return self._lines.take(number, len(wanted)) == wanted

    def decode(self, name: str, encodings: Mapping[str, str], is_over: Callable[[], bool]) -> str | None:
        """The text of a file that may be read, with LF line ends; None if it is not text, empty if it is UTF-8.

        Raises:
            OSError: it may not be read, or is too large to decode (`EFBIG`).
        """
        fd = self._open(name) if self.is_folder else os.dup(self._fd)
        if fd is None:
            raise PermissionError(name)
        try:
            os.lseek(fd, 0, os.SEEK_SET)
            if os.fstat(fd).st_size > LARGEST_DECODED:
                if not _is_marked_wide(fd):  # the program itself reads those
                    _require_plain(fd, is_over)
                return ""
            declared = find_declared(os.path.join(self._place, name) if self.is_folder else self._place, encodings)
            if not declared and b"\0" in (beginning := read_from(fd, _BEGINNING)):
                decode_text(beginning)
            os.lseek(fd, 0, os.SEEK_SET)
            return decode_text(read_from(fd, LARGEST_DECODED), declared).text.replace("\r\n", "\n")
        except BinaryContent:
            return None
        finally:
            os.close(fd)


def _start_process(
    command: list[str],
    environment: ChildEnvironment,
    held: int,
    stdin: int = subprocess.DEVNULL,
    cwd: str | None = None,
    enter: Callable[[], None] | None = None,
) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=cwd, preexec_fn=enter, env=environment, pass_fds=(held,)
    )


@contextmanager
def _hold_text(text: str) -> Iterator[int]:
    """Hold a text open for a program that reads it as a file. Where there is no memory file, a pipe holds its end."""
    if sys.platform == "linux":
        fd = os.memfd_create("ignored")
        os.write(fd, text.encode())
    else:
        fd, end = os.pipe()
        os.write(end, _cut_lines(text.encode(), _PIPE))
        os.close(end)
    try:
        yield fd
    finally:
        os.close(fd)


def _cut_lines(text: bytes, most: int) -> bytes:
    """The last whole lines that have room."""
    return text if len(text) <= most else text[-most:].partition(b"\n")[2]


@contextmanager
def search_source(path: str, scope: Scope | None) -> Iterator[Source]:
    """Open a folder or file to search. Raises ToolFailure if it cannot be searched or is outside the scope."""
    with ExitStack() as stack:
        try:
            fd, place, found = stack.enter_context(open_resolved(path, scope))
        except OSError as error:
            raise ToolFailure(f"{path} cannot be opened: {error.strerror}.") from error
        source = Source(path, fd, place, scope, is_folder=stat.S_ISDIR(found.st_mode))
        if not source.is_folder and not stat.S_ISREG(found.st_mode):
            raise ToolFailure(f"{path} is {NOT_REGULAR}, so it cannot be searched.")
        stack.callback(source.close)
        yield source


class _MarkedLines:
    """The lines of a file that begins with a mark, as they come; files of any size."""

    def __init__(self, file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        encoding = "utf-16" if _is_marked_wide(file) else "utf-8-sig"
        data = BufferedReader(FileIO(file, closefd=False))
        self._text = TextIOWrapper(data, encoding, errors="replace", newline="\n")
        self.passed = 0

    def take(self, number: int, count: int) -> list[str]:
        """Return some lines from a number on, which must be after those that were taken."""
        found = islice(self._text, number - 1 - self.passed, number - 1 - self.passed + count)
        self.passed = number - 1 + count
        return [line.rstrip("\r\n") for line in found]


def _is_marked_wide(file: int) -> bool:
    return os.pread(file, 2, 0) in (BOM_UTF16_LE, BOM_UTF16_BE)


def _require_plain(file: int, is_over: Callable[[], bool]) -> None:
    """Read a file of any size. Raises BinaryContent, or OSError (`EFBIG`): it is not UTF-8, or time is over."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    piece = b"\n"
    while piece:
        piece = os.read(file, _PIECE)
        if b"\0" in piece:
            raise BinaryContent("It has a NUL.")
        try:
            decoder.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise OSError(EFBIG, "too large to decode") from None
        if is_over():
            raise OSError(EFBIG, "too large to look at")
