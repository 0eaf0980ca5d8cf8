"""Runs git on a store of our own, isolated from all other configuration, hooks and variables.

A command never outlives its deadline or a `stop`; a git that outlives us (kill -9) keeps the store's lock.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from halocline.checkpoints.store.entries import KnownTrees
from halocline.files.blocking import GIT_LISTS, describe_blocking, find_blocking_below, watch_program
from halocline.git.environment import plain_environment
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.checkpoints.store.tracked import Tracked

_READ_LISTS = frozenset({"ls-files", "check-ignore", "update-index", "check-attr"})
"""Commands that read `.gitignore` and `.gitattributes` in the workspace."""
LEAVE_OUT = "Exclude folders with .haloclineignore, or allow more seconds with the setting checkpoints_patience."
"""Hint for a folder that is too large."""


class GitFailed(HaloclineError):
    """A git command failed; `text` has the end of its error output."""

    code = "checkpoint_failed"


class CheckpointsOff(HaloclineError):
    """Checkpoints cannot be saved here; `text` says why."""

    code = "checkpoints_off"


class TakesLong(CheckpointsOff):
    """A checkpoint is not ready in time. What was read stays saved; `seconds` estimates the rest (0: unknown)."""

    def __init__(self, text: str, hint: str, seconds: float = 0.0) -> None:
        super().__init__(text, hint)
        self.seconds = seconds


class Stopped(HaloclineError):
    """The work was stopped because Halocline is closing."""

    code = "checkpoints_stopped"


class Blocked(HaloclineError):
    """Git would wait forever for a file in the workspace that is not a regular file; `text` names it."""

    code = "checkpoint_blocked"


class Runner:
    """Runs programs; another thread may end them."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._blocking = ""
        self._is_stopped = False

    def stop(self) -> None:
        """Kill running programs and refuse new ones."""
        self._is_stopped = True
        for process in tuple(self._running):
            process.kill()

    def check(self) -> None:
        """Raise Stopped after `stop`."""
        if self._is_stopped:
            raise Stopped("Checkpoints were stopped.")

    @contextmanager
    def reading(self, workspace: Path, end: Callable[[], None]) -> Iterator[None]:
        """Watch a git that reads ignore or attribute files: `end` it if it waits for one. Raises Blocked."""
        look = partial(find_blocking_below, os.fspath(workspace), GIT_LISTS)
        with watch_program(look, end) as watch:
            yield
        if watch.found:
            self._blocking = watch.path
            self.check_lists()

    def check_lists(self) -> None:
        """Raise Blocked while the file that git last waited for is still there."""
        if self._blocking and (found := describe_blocking(self._blocking)):
            raise Blocked(f"Git would wait forever: {found}.", "After that, checkpoints are saved again.")

    def run(self, process: subprocess.Popen[bytes], data: bytes, seconds: float) -> tuple[int, bytes, bytes]:
        """Feed `data` and wait for the end, forced after `seconds`. Returns exit code, output and error output."""
        self._running.add(process)
        # `communicate` has a timeout, but with it, it sleeps between checks for the end of the process.
        clock = threading.Timer(seconds, process.kill)
        with process:
            # `stop` may have run just before the process was added.
            if self._is_stopped:
                process.kill()
            clock.start()
            try:
                output, errors = process.communicate(data or None)
            finally:
                clock.cancel()
                self._running.discard(process)
        self.check()
        return process.returncode, output, errors


class Git(Value, frozen=True):
    """The git program, bound to one store and its workspace.

    `deadline` is in `time.monotonic` seconds, for all commands together; `lock` is the descriptor of the store's lock,
    which every git inherits, so that it is free only when no git of ours runs. `index` replaces the store's own index.
    Without `enters_workspace`, git runs in the store; the program still never comes from the workspace. `trees` is what
    is known of the store, `tracked` what the project's git tracks.
    """

    program: str
    store: Path
    workspace: Path
    deadline: float
    runner: Runner
    lock: int | None = None
    index: Path | None = None
    enters_workspace: bool = True
    trees: KnownTrees = msgspec.field(default_factory=dict)
    tracked: "Tracked | None" = None

    def run(self, *arguments: str, data: bytes = b"", accept: Collection[int] = (0,)) -> bytes:
        """Run a command and return its output.

        Raises:
            GitFailed: its exit code is not in `accept`.
            CheckpointsOff: git is not installed.
            TakesLong: the deadline has passed.
            Stopped: the runner was stopped.
            Blocked: an ignore or attribute file is not a regular file, and git would wait for it.
        """
        self.runner.check()
        seconds = max(self.deadline - time.monotonic(), 0)
        with ExitStack() as stack:
            if arguments[0] in _READ_LISTS:
                self.runner.check_lists()
            process = self._start(arguments, data, self._environment())
            if arguments[0] in _READ_LISTS:
                stack.enter_context(self.runner.reading(self.workspace, process.kill))
            code, output, errors = self.runner.run(process, data, seconds)
        if code == -signal.SIGKILL and time.monotonic() >= self.deadline:
            raise TakesLong("this folder's files take too long to read", LEAVE_OUT)
        if code not in accept:
            last_words = errors.decode(errors="replace").strip()[-500:]
            raise GitFailed(f"git {arguments[0]} failed ({code}): {last_words}")
        return output

    def word(self, *arguments: str, data: bytes = b"") -> str:
        """The output of a command that prints one word."""
        return self.run(*arguments, data=data).decode().strip()

    def _start(self, arguments: tuple[str, ...], data: bytes, environment: ChildEnvironment) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [self.program, *arguments],
                cwd=self._folder,
                env=environment,
                stdin=subprocess.PIPE if data else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=() if self.lock is None else (self.lock,),
                umask=0o077,
                # Ctrl-C in the terminal is for us, not for git.
                process_group=0,
            )
        except FileNotFoundError as error:
            if error.filename == self.program:
                raise CheckpointsOff("git was not found", "Install git.") from None
            raise GitFailed(f"the folder {self._folder} no longer exists") from None

    @property
    def _folder(self) -> Path:
        return self.workspace if self.enters_workspace else self.store

    def _environment(self) -> ChildEnvironment:
        place = {"GIT_DIR": str(self.store), "GIT_WORK_TREE": str(self._folder)}
        if self.index is not None:
            place["GIT_INDEX_FILE"] = str(self.index)
        own = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            # Git before 2.32 ignores GIT_CONFIG_GLOBAL and looks here; the store contains no such files.
            "HOME": str(self.store),
            "XDG_CONFIG_HOME": str(self.store),
        }
        return declare_environment(plain_environment(os.environ, str(self.workspace)), place | own)
