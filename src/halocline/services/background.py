"""The process that runs tasks without a terminal: one for each home, from its first task to the end of its last.

Its folder is like that of a task: the lock says who it is, and the socket takes what to run. Who runs a task is said
by the task's own lock, and once a task runs, only its own socket is used. Its state is the logs.
"""

import asyncio
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline._version import __version__
from halocline.protocol import ipc, json_input, json_output
from halocline.protocol.child_environment import child_environment, declare_environment
from halocline.protocol.errors import HaloclineError, TaskBusy, UsageError
from halocline.protocol.messages import UserPart
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value
from halocline.runtime.attach import connection
from halocline.runtime.attach.owner_socket import OwnerSocket
from halocline.runtime.task_options import Choices, TaskOptions
from halocline.services.tasks import TaskService
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.task import lock
from halocline.task.log_reading import read_log

PATIENCE = 20.0
"""Seconds for the process to start and to answer: a slow machine takes a few."""
ANSWER_LIMIT = 120.0
"""Seconds for a task to open: it waits for its MCP servers."""
PAUSE = 0.02
_LOGGER = logging.getLogger("halocline")
_OWN_HOME = "HALOCLINE_HOME"
LARGEST_OUTPUT = 1_000_000
"""Bytes of the process's own output that are kept."""
_COMMAND = (sys.executable, "-P", "-m", "halocline", "background")
_WAITS, _TAIL = b'"after":["', 256 * 1024
"""The mark in the log of a task whose prompt waits for others, and where it stands."""
_OF_PROCESS = (
    r"HOME|(?:AWS|AZURE|GOOGLE|AICORE|CLOUD_ML|ANTHROPIC_VERTEX)_\w+|OPENAI_API_VERSION|XDG_\w+_HOME|SSL_CERT_\w+"
)
"""Variables that libraries read from the process, so that all its tasks share them."""


class StartRequest(Value, frozen=True):
    """A prompt for a new task, or for one to resume, with the options and variables of the terminal.

    The API key of the command line stands apart, as no value with a secret is written.
    """

    task: str
    folder: str
    content: tuple[UserPart, ...]
    choices: Choices
    options: TaskOptions
    environment: dict[str, str]
    api_key: str = ""
    name: str | None = None
    resumes: bool = False
    after: tuple[str, ...] = ()
    """The prompt waits until these tasks have ended well."""
    version: str = ""
    """Set when it is sent."""

    @property
    def all_choices(self) -> Choices:
        """The choices with the key."""
        return msgspec.structs.replace(self.choices, api_key=Secret(self.api_key)) if self.api_key else self.choices

    @property
    def variables(self) -> dict[str, str]:
        """The environment of the terminal that asked."""
        return {name: os.fsdecode(value.encode("latin-1")) for name, value in self.environment.items()}


_request = json_input.Decoder(StartRequest)


def pack_environment(environment: Mapping[str, str], home: Home) -> dict[str, str]:
    """Return an environment as JSON can hold it: a value may be no text. The process is in another folder."""
    whole = {**environment, _OWN_HOME: str(home.root)} if environment.get(_OWN_HOME) else environment
    return {name: os.fsencode(value).decode("latin-1") for name, value in whole.items() if name.isascii()}


class StartSocket(OwnerSocket):
    """The socket of the process. `start` runs a request and returns once its task is open."""

    def __init__(self, home: Home, start: Callable[[StartRequest], Awaitable[None]]) -> None:
        super().__init__(home.background, home.root)
        self._start = start
        self.was_asked = False

    async def serve_process(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.was_asked = True
        answer = await self._answer(_request.decode(await reader.readline()))
        writer.write(json_output.encode(ipc.Answered(answer)) + b"\n")
        await writer.drain()

    async def _answer(self, request: StartRequest) -> str:
        """Run a request; return why it was refused, or an empty string."""
        if request.version != __version__:
            return f"The background process has version {__version__}, not {request.version}. Stop its tasks first."
        if others := find_other_variables(request.variables, os.environ):
            return (
                f"The background process was started with other values of {', '.join(others)}, which all its tasks "
                "share. Stop its tasks first, or wait for their end."
            )
        try:
            await self._start(request)
        except HaloclineError as error:
            return f"{error.text} {error.hint}".rstrip()
        except Exception as error:
            _LOGGER.error("task %s cannot be started: %s", request.task, error, exc_info=error)
            return f"The background process cannot start the task: {error}"
        return ""


def find_other_variables(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the names of variables that the process has for all its tasks, and whose values differ."""
    names = sorted(name for name in {*wanted, *found} if re.fullmatch(_OF_PROCESS, name))
    return [name for name in names if wanted.get(name) != found.get(name)]


class BackgroundService:
    """The background process of a home, as other processes see it."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.output = home.logs / "background.log"
        """File of the process's output."""

    @property
    def pid(self) -> str:
        """The pid of the process; empty if none runs."""
        return (lock.read_owner(self._home.background) or "").partition(" ")[0]

    def new_id(self) -> str:
        """Return an id for a new task."""
        return history.new_task_id()

    def take_lock(self) -> int:
        """Become the process; closing the returned descriptor ends that. Raises TaskBusy: there is another one."""
        make_private_folder(self._home.background)
        return lock.take_lock(self._home.background, "background")

    def give_back(self, held: int) -> None:
        """Release the lock: this process takes no more tasks."""
        lock.give_back(held)

    def open_socket(self, start: Callable[[StartRequest], Awaitable[None]]) -> StartSocket:
        """Return the socket of this process, to open within `async with`."""
        return StartSocket(self._home, start)

    def take_cut_short(self) -> list[str]:
        """Return the tasks that ran when the process was killed, once: those whose locks name the same dead process.

        Their agents are not among them: the task that started them continues them.
        """
        try:
            dead = lock.read_dead_owner(self._home.background)
            if not dead:
                return []
            self.give_back(self.take_lock())
        except (OSError, TaskBusy):  # none ever ran, or the next one runs
            return []
        cut = []
        for path in sorted(self._home.tasks.glob(f"*/{lock.LOCK_NAME}")):
            with suppress(OSError):
                if lock.read_dead_owner(path.parent) == dead:
                    cut.append(path.parent.name)
        infos = (history.task_info(self._home.tasks, name) for name in cut)
        return [info.task for info in infos if info and info.status == "unfinished" and not info.parent]

    def list_left_waiting(self) -> list[StartRequest]:
        """Return requests to resume the tasks whose prompt waits for other tasks, and which no process has open."""
        service = TaskService(self._home, 0)
        opened = service.list_open()
        found = service.search(TaskQuery(status=frozenset({"unfinished"})))
        waiting = [info for info in found if info.task not in opened and self._waits_for_others(info.task)]
        return [self.make_resumption(info.task, info.workspace) for info in waiting]

    def make_resumption(self, task: str, folder: str, content: tuple[UserPart, ...] = ()) -> StartRequest:
        """Return a request to resume a task with the variables of this process; without content it asks again."""
        environment = pack_environment(os.environ, self._home)
        return StartRequest(task, folder, content, Choices(), TaskOptions(), environment, resumes=True)

    def _waits_for_others(self, task: str) -> bool:
        with suppress(OSError, HaloclineError):
            if _WAITS in self._home.log(task).read_bytes()[-_TAIL:]:
                return bool(fold_events(read_log(self._home.log(task))).queue.waits)
        return False

    async def hand_over(self, request: StartRequest) -> list[str]:
        """Have the process run a request, and start the process if there is none.

        Returns once the task is open: the tasks that an earlier process ran when it was killed just now.

        Raises:
            UsageError: the process refused it, and says why.
            HaloclineError: there is no process, or it does not answer.
        """
        line = json_output.encode(msgspec.structs.replace(request, version=__version__)) + b"\n"
        deadline, before = time.monotonic() + PATIENCE, self._measure_log(request.task)
        process: subprocess.Popen[bytes] | None = None
        cut: list[str] = []
        while time.monotonic() < deadline:
            if (answer := await self._ask(line)) is not None:
                if answer.refused:
                    raise UsageError(answer.refused, "")
                return cut
            if self._measure_log(request.task) != before and not self._forget_empty(request):  # it is not done twice
                raise HaloclineError(
                    f"The background process ended while it started task {request.task}.",
                    f"See what it has: halo logs {request.task}. Then: halo run --bg -r {request.task}",
                )
            ended = 0 if process is None else process.poll()
            if ended is not None and ended > 0:
                break
            if ended is not None and not self.pid:  # there was none, or it lost the race or was killed
                cut.extend(self.take_cut_short())  # the next process takes the lock that still names the killed one
                process = await asyncio.to_thread(self._start_process)
            await asyncio.sleep(PAUSE)
        raise HaloclineError("The background process does not answer.", f"What it printed is in {self.output}")

    def _forget_empty(self, request: StartRequest) -> bool:
        """Delete a new task whose process was killed before it had the prompt. Return False for any other one."""
        if request.resumes:
            return False
        try:
            held = lock.take_lock(self._home.task(request.task), request.task)
        except TaskBusy:
            return False
        try:
            if is_empty := fold_events(read_log(self._home.log(request.task))).is_empty:
                history.forget_task(self._home.tasks, request.task)
        finally:
            lock.give_back(held)
        return is_empty

    def _measure_log(self, task: str) -> int:
        """Return the size of a task's log; 0 if there is none."""
        path = self._home.log(task)
        return path.stat().st_size if path.exists() else 0

    async def _ask(self, line: bytes) -> ipc.Answered | None:
        """Send a request; None if no process took it."""
        with suppress(OSError, ValueError, msgspec.DecodeError):  # a timeout is an OSError
            reader, writer = await connection.open_connection(self._home.background)
            try:
                writer.write(line)
                async with asyncio.timeout(ANSWER_LIMIT):
                    answer = await reader.readline()
                if answer and isinstance(frame := connection.read_frame(answer), ipc.Answered):
                    return frame
            finally:
                await connection.close_connection(writer)
        return None

    def _start_process(self) -> "subprocess.Popen[bytes]":
        """Start the process in a session of its own, without a terminal; of two, the one with the lock stays."""
        make_private_folder(self._home.background)
        make_private_folder(self.output.parent)
        output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            return subprocess.Popen(
                _COMMAND,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=Path("/"),
                env=declare_environment(child_environment(os.environ, passed=("*",)), _list_own(self._home)),
                start_new_session=True,
            )
        finally:
            os.close(output)


def _list_own(home: Home) -> dict[str, str]:
    """Return the variables by which the process finds the home and these modules, wherever it was started."""
    paths = filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")))
    return {_OWN_HOME: str(home.root), "PYTHONPATH": os.pathsep.join(paths)}


def bound_output() -> None:
    """Begin the output of this process again when it is large: its file is opened to append."""
    with suppress(OSError):
        if os.fstat(1).st_size > LARGEST_OUTPUT:
            os.ftruncate(1, 0)
