"""Runs hooks: each in its own session, with JSON on standard input, a time limit and bounded output.

When a hook ends, the processes it started are killed too; a hook that hangs or prints without end is killed. A thread
talks to each hook while it runs.
"""

import asyncio
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property

from halocline.hosts.shell import readiness
from halocline.ports.hooks import Hear, Hook, HookEnd
from halocline.protocol.child_environment import ChildEnvironment, child_environment, declare_environment

PLUGIN_VARIABLE = "CLAUDE_PLUGIN_ROOT"
"""The variable with the folder of the plug-in that a hook is of; Claude Code's plug-ins name their scripts by it."""
MARK = "HALOCLINE_HOOK"
"""The variable that identifies a hook's processes when they leave its session."""
MOST_OUTPUT = 1 << 20
MOST_ERRORS = 1 << 16
_CHUNK = 1 << 16
_WITHOUT_CACHES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/dev/null"}
"""Compiled code beside a script would run in its place, and trust does not cover it."""
_LOOK = 0.05
"""Seconds between checks for its end or a request to stop."""
_DRAIN = 0.2
"""Seconds after its end in which processes it started may still print."""


@dataclass(slots=True)
class HookOutput:
    """The output of a hook on one stream, up to `room` bytes; `hear` gets what comes."""

    room: int
    hear: Hear
    data: bytearray = field(default_factory=bytearray)
    over: bool = False

    def take(self, chunk: bytes) -> None:
        kept = chunk[: self.room - len(self.data)]
        self.data += kept
        if kept:
            self.hear(kept)
        self.over = self.over or len(self.data) >= self.room

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Talk:
    """What a hook is given, how long it may take in seconds, who hears its output, and the signal to stop it."""

    given: bytes
    timeout: float
    hear: Hear
    stop: threading.Event


class LocalHooks:
    """Implements `ports.hooks.HookRunner`. Hooks run in `folder` or their own folder.

    Variables that look like secrets, and those in `hidden`, reach hooks only if they are in `passed`: see
    `child_environment`.
    """

    def __init__(
        self,
        folder: str,
        hidden: frozenset[str] = frozenset(),
        passed: tuple[str, ...] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._folder = folder
        self._given = environment
        self._hidden, self._passed = hidden, passed

    @cached_property
    def _environment(self) -> ChildEnvironment:
        return child_environment(self._given, self._hidden, self._passed)

    async def run(self, hook: Hook, given: bytes, timeout: float, hear: Hear) -> HookEnd:
        stop = threading.Event()
        thread = ThreadPoolExecutor(1)
        loop = asyncio.get_running_loop()

        def hear_on_loop(piece: bytes) -> None:
            loop.call_soon_threadsafe(hear, piece)

        talk = loop.run_in_executor(thread, self._talk, hook, Talk(given, timeout, hear_on_loop, stop))
        try:
            return await asyncio.shield(talk)
        finally:  # on cancellation, the hook is ended first
            stop.set()
            await asyncio.wait([talk])
            thread.shutdown(wait=False)

    @asynccontextmanager
    async def lent(self, files: Mapping[str, bytes], folder: str) -> AsyncIterator[Mapping[str, str]]:
        paths = await asyncio.to_thread(_write_files, files, folder)
        try:
            yield paths
        finally:
            for path in paths.values():
                with suppress(OSError):
                    os.unlink(path)

    def _talk(self, hook: Hook, talk: Talk) -> HookEnd:
        began = time.monotonic()
        mark = os.urandom(8).hex()
        try:
            process = self._start(hook, declare_environment(self._environment, {MARK: mark}))
        except (OSError, ValueError) as error:
            return HookEnd(trouble=f"it cannot be run: {_explain_error(error)}")
        conversation = Conversation(process, talk)
        with process:
            try:
                in_time = conversation.goes_on_until(began + talk.timeout, talk.stop)
            finally:
                _kill_group(process.pid, f"{MARK}={mark}".encode())
        seconds = round(time.monotonic() - began, 3)
        if conversation.output.over:
            trouble = f"it printed more than {MOST_OUTPUT:,} bytes"
        else:
            trouble = "" if in_time else f"it took longer than {talk.timeout:g} s"
        output, errors = conversation.output.text, conversation.errors.text
        return HookEnd(process.returncode, output, errors, seconds, timed_out=not in_time, trouble=trouble)

    def _start(self, hook: Hook, environment: ChildEnvironment) -> subprocess.Popen[bytes]:
        folder = hook.folder or self._folder
        own = {**_WITHOUT_CACHES, "CLAUDE_PROJECT_DIR": folder, "HALOCLINE_WORKSPACE": folder}
        words = list(hook.words)
        own |= {PLUGIN_VARIABLE: hook.plugin} if hook.plugin else {}
        if hook.words[:2] != ("/bin/sh", "-c"):  # a shell expands the variables itself, safely
            words = [word.replace("${CLAUDE_PROJECT_DIR}", folder) for word in words]
            words = [word.replace(f"${{{PLUGIN_VARIABLE}}}", hook.plugin) for word in words]
        return subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=declare_environment(environment, own),
            start_new_session=True,
        )


def _write_files(files: Mapping[str, bytes], folder: str) -> dict[str, str]:
    """Write each to a file that only you can read."""
    paths: dict[str, str] = {}
    with suppress(OSError):
        for name, data in files.items():
            file, path = tempfile.mkstemp(suffix=f"-{name}", dir=folder)
            paths[name] = path
            with open(file, "wb") as opened:
                opened.write(data)
    return paths


class Conversation:
    """Exchange of input and output with a process."""

    def __init__(self, process: subprocess.Popen[bytes], talk: Talk) -> None:
        self.output, self.errors = HookOutput(MOST_OUTPUT, talk.hear), HookOutput(MOST_ERRORS, talk.hear)
        self._process = process
        self._rest = memoryview(talk.given)
        self._pipes = selectors.DefaultSelector()
        for pipe, heard in ((process.stdin, None), (process.stdout, self.output), (process.stderr, self.errors)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._pipes.register(pipe, selectors.EVENT_READ if heard else selectors.EVENT_WRITE, heard)

    def goes_on_until(self, deadline: float, stop: threading.Event) -> bool:
        """Talk until the process ends or is to stop. False when it ran out of time; too much output ends it at once."""
        with self._pipes:
            while not (stop.is_set() or self.output.over):
                if self._process.poll() is not None:
                    deadline = min(deadline, time.monotonic() + _DRAIN)
                    self._read_rest(deadline)
                    return True
                if time.monotonic() >= deadline:
                    return False
                self._exchange(_LOOK)
        return True

    def _read_rest(self, deadline: float) -> None:
        """Read what is in the pipes, without waiting for a child that holds them."""
        while self._is_open and not self.output.over and time.monotonic() < deadline:
            self._exchange(_LOOK)

    @property
    def _is_open(self) -> bool:
        return any(key.data is not None for key in self._pipes.get_map().values())

    def _exchange(self, seconds: float) -> None:
        if not self._is_open:  # it closed its output and still runs
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        for key, _ in self._pipes.select(seconds):
            if key.data is None:
                self._give()
            elif not self._read_chunk(key.fd, key.data):
                self._pipes.unregister(key.fileobj)

    def _give(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            self._rest = self._rest[os.write(pipe.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it need not read
            self._rest = self._rest[:0]
        if not self._rest:
            self._pipes.unregister(pipe)
            pipe.close()

    @staticmethod
    def _read_chunk(pipe: int, heard: HookOutput) -> bool:
        """Read from a pipe. False at its end."""
        try:
            chunk = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return True
        heard.take(chunk)
        return bool(chunk)


def _kill_group(leader: int, mark: bytes) -> None:
    members = readiness.list_members(leader, mark)
    groups = {leader} if members is None else {member.group for member in members}
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _explain_error(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror == "Exec format error":
        return "its first line must name a program, such as #!/bin/sh"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
