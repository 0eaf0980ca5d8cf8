"""Runs git on a store of ours, apart from every configuration, hook and variable that is not ours.

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

from halocline.files.blocking import GIT_LISTS, describe_blocking, find_blocking_below, watch_program
from halocline.git.environment import plain_environment
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value

_READ_LISTS = frozenset({"ls-files", "check-ignore", "update-index", "check-attr"})
"""Commands that read `.gitignore` and `.gitattributes` in the workspace."""
LEAVE_OUT = "Leave folders out with .haloclineignore, or allow more seconds: checkpoints_patience."
"""What a person can do about a folder that is too large."""


class GitFailed(HaloclineError):
    """A git command ended with an error; `text` holds its last words."""

    code = "checkpoint_failed"


class CheckpointsOff(HaloclineError):
    """Checkpoints cannot be kept here; `text` says why."""

    code = "checkpoints_off"


class TakesLong(CheckpointsOff):
    """A checkpoint is not ready in time. What was read stays read; `seconds` is how long the rest takes, 0: unknown."""

    def __init__(self, text: str, hint: str, seconds: float = 0.0) -> None:
        super().__init__(text, hint)
        self.seconds = seconds


class Stopped(HaloclineError):
    """The work was broken off because Halocline is closing."""

    code = "checkpoints_stopped"


class Blocked(HaloclineError):
    """Git would wait for ever for a file of the workspace that is no regular file; `text` names it."""

    code = "checkpoint_blocked"


class Runner:
    """Runs programs; another thread may end them."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._blocking = ""
        self._is_stopped = False

    def stop(self) -> None:
        """Kill what runs now; whatever is asked for later is refused."""
        self._is_stopped = True
        for process in tuple(self._running):
            process.kill()

    def check(self) -> None:
        """Raises Stopped after `stop`."""
        if self._is_stopped:
            raise Stopped("Checkpoints were stopped.")

    @contextmanager
    def reading(self, workspace: Path, end: Callable[[], None]) -> Iterator[None]:
        """While git reads lists of rules in a workspace: `end` it when it waits for one. Raises Blocked."""
        look = partial(find_blocking_below, os.fspath(workspace), GIT_LISTS)
        with watch_program(look, end) as watch:
            yield
        if watch.found:
            self._blocking = watch.path
            self.check_lists()

    def check_lists(self) -> None:
        """Raises Blocked while the file is there that git waited for last."""
        if self._blocking and (found := describe_blocking(self._blocking)):
            raise Blocked(f"Git would wait for ever: {found}.", "Then everything is saved again.")

    def run(self, process: subprocess.Popen[bytes], data: bytes, seconds: float) -> tuple[int, bytes, bytes]:
        """Feed `data` and wait for the end, which is forced after `seconds`. Gives exit code, output and errors."""
        self._running.add(process)
        # `communicate` can watch the time, but then it sleeps between looks at whether the process has ended.
        clock = threading.Timer(seconds, process.kill)
        with process:
            # `stop` may have looked for the process just before it was noted here.
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
    which every git inherits, so that it is free only when no git of ours lives. `index` is another index than the
    store's own. One that does not enter the workspace runs in the store; it is still a git from outside the workspace.
    """

    program: str
    store: Path
    workspace: Path
    deadline: float
    runner: Runner
    lock: int | None = None
    index: Path | None = None
    enters_workspace: bool = True

    def run(self, *arguments: str, data: bytes = b"", accept: Collection[int] = (0,)) -> bytes:
        """Give what the command writes.

        Raises:
            GitFailed: its exit code is not one to accept.
            CheckpointsOff: there is no git.
            TakesLong: the deadline has passed.
            Stopped: the runner was stopped.
            Blocked: a list of rules is no regular file, and git would wait for it.
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
            raise TakesLong("the files of this folder take too long to read", LEAVE_OUT)
        if code not in accept:
            last_words = errors.decode(errors="replace").strip()[-500:]
            raise GitFailed(f"git {arguments[0]} failed ({code}): {last_words}")
        return output

    def word(self, *arguments: str, data: bytes = b"") -> str:
        """The output of a command that answers with one word."""
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
                # Ctrl-C on the terminal is meant for us, not for git.
                process_group=0,
            )
        except FileNotFoundError as error:
            if error.filename == self.program:
                raise CheckpointsOff("git was not found", "Install git.") from None
            raise GitFailed(f"the folder {self._folder} is gone") from None

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
            # Versions before 2.32 know no GIT_CONFIG_GLOBAL and look here; the store holds no such files.
            "HOME": str(self.store),
            "XDG_CONFIG_HOME": str(self.store),
        }
        return declare_environment(plain_environment(os.environ, str(self.workspace)), place | own)
