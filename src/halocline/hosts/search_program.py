"""ripgrep as a process: the programs of one search run in one thread, until it takes too long or is stopped."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock, Thread, Timer
from time import monotonic
from typing import IO, TypeAlias, TypeVar

from halocline.files.blocking import SEARCH_LISTS, find_blocking, find_blocking_below, watch_program
from halocline.hosts.search_source import Source, search_source
from halocline.ports.host import Scope
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later

T = TypeVar("T")
Collect: TypeAlias = Callable[[IO[bytes], Source], T]

BLOCKED = "Nothing was searched, because ripgrep would wait forever: {found}, or search another folder."
_COMMON = ("--no-config", "--no-ignore-messages", "--no-require-git", "--no-ignore-parent", "--hidden")
_OWN_LISTS = (".gitconfig", ".config/git/config", ".config/git/ignore")
_MOST_COMPLAINTS = 10_000
_UNREADABLE = compile_later(r"rg: (?:IO error for operation on )?(\./.*?|-): [^\n:]+ \(os error (\d+)\)\n", re.DOTALL)
_ODD_LINE = compile_later(r"rg: [^\n]+: line \d+: [^\n]+\n")
"""Its message about a line of an ignore file that it skips."""
_GONE = "2"


class Running:
    """The programs of one search, for `patience` seconds; `stop` is for other threads.

    `unreadable` are the names of files and folders that they could not open. `encodings` are those of the settings.
    """

    def __init__(self, program: str, scope: Scope | None, patience: float, encodings: Mapping[str, str]) -> None:
        self.scope = scope
        self.encodings = encodings
        self.unreadable: set[str] = set()
        self.is_stopped = False
        self._program = program
        self._patience = patience
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._half = 0.0

    @property
    def is_late(self) -> bool:
        """True once half of its patience is over."""
        return self.is_stopped or monotonic() > self._half

    def work(self, does: "Callable[[Running], T]") -> T:
        """Do it in this thread; its patience lasts from now on."""
        clock = Timer(self._patience, self.stop)
        clock.daemon = True
        clock.start()
        self._half = monotonic() + self._patience / 2
        try:
            return does(self)
        finally:
            clock.cancel()

    def run(self, path: str, options: Sequence[str], collect: Collect[T], glob: str = "", *, all: bool = False) -> T:
        """Run ripgrep and collect its results; those of a program that was stopped are incomplete.

        Raises ToolFailure: the folder cannot be searched, or the expression is wrong.
        """
        look = partial(_find_blocking, os.path.realpath(path))
        with (
            search_source(path, self.scope) as source,
            self._start(source, options, glob, all=all) as process,
            _listening(process) as complaints,
            watch_program(look, self.stop) as watch,
        ):
            assert process.stdout
            result = collect(process.stdout, source)
            if process.stdout.read(1):
                process.kill()
        if watch.found:
            raise ToolFailure(BLOCKED.format(found=watch.found))
        self._note_complaints("".join(complaints), source, failed=process.returncode > 1)
        return result

    def stop(self) -> None:
        with self._lock:
            self.is_stopped = True
            if self._process:
                self._process.kill()

    def _start(self, source: Source, options: Sequence[str], glob: str, *, all: bool) -> "subprocess.Popen[bytes]":
        rules = source.set_rules(glob, all=all)
        chosen = ["--no-ignore"] if all else []
        chosen += [] if source.is_folder else ["--text"]  # or a NUL would end a line of one file
        with self._lock:
            process = source.start([self._program, *_COMMON, *chosen, *options, *rules.options], rules.text)
            self._process = process
            if self.is_stopped:
                process.kill()
            return process

    def _note_complaints(self, text: str, source: Source, *, failed: bool) -> None:
        names = [found[1].removeprefix("./") for found in _UNREADABLE.finditer(text) if found[2] != _GONE]
        self.unreadable.update(source.shown(names))
        if failed and (message := _ODD_LINE.sub("", _UNREADABLE.sub("", text)).strip()):
            raise ToolFailure(f"ripgrep could not search: {_explain_message(message)}")


@contextmanager
def _listening(process: "subprocess.Popen[bytes]") -> Iterator[list[str]]:
    """Collect what it complains of while it runs: once a pipe is full, it would wait forever."""
    kept: list[str] = []
    thread = Thread(target=_keep_lines, args=(process.stderr, kept), daemon=True)
    thread.start()
    try:
        yield kept
    except BaseException:
        process.kill()
        raise
    finally:
        thread.join()


def _keep_lines(stream: IO[bytes], kept: list[str]) -> None:
    for line in stream:
        if len(kept) < _MOST_COMPLAINTS:
            kept.append(os.fsdecode(line))


def _find_blocking(folder: str, is_over: Callable[[], bool]) -> str:
    """Find an ignore file that ripgrep would wait for."""
    own = os.environ.get("HOME", "")
    return find_blocking(f"{own}/{name}" for name in _OWN_LISTS) or find_blocking_below(folder, SEARCH_LISTS, is_over)


def _explain_message(message: str) -> str:
    """ripgrep's message, without its advice on an option that cannot be set here."""
    problem, _, advice = message.partition("\n\nConsider enabling ")
    rewrite = "\nRewrite the pattern without look-around and backreferences."
    return problem + rewrite * advice.startswith("PCRE2")
