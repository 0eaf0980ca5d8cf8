"""Background commands: each has a name and a time limit, its output is captured, and its end is reported."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from halocline.context.budget import NEWS, NEWS_END
from halocline.context.notes.withheld_variables import withheld_note
from halocline.hosts.shell.job import Job
from halocline.hosts.shell.output import plain_output
from halocline.hosts.shell.readiness import is_building, is_ready
from halocline.ports.host import Cut
from halocline.ports.jobs import JobOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.protocol.values import Value

ENDED_KEPT = 16
"""Number of ended jobs that are kept, so that their output can still be read."""
GRACE = 2.0
_LAST_WORDS = 1.0
_HOT, _HOT_BUILD = 2.0, 15.0
_LOOK_EVERY, _PORTS_EVERY = 0.25, 1.0
_NOTICES, _AFTER_EDIT = 0.3, 5.0
"""Seconds in which a job that watches files should notice an edit, and the longest to wait for it."""


class Patience(Value, frozen=True):
    """Seconds to wait for a job: for its first output, while it is quiet after that, in all, and once it is ready."""

    first: float
    quiet: float
    longest: float
    ready: float = 0.3


START = Patience(first=3.0, quiet=1.5, longest=15.0)
START_ON_TERMINAL = Patience(first=2.0, quiet=0.4, longest=15.0)
TYPED = Patience(first=1.0, quiet=0.3, longest=10.0)


async def wait_until_settled(job: Job, patience: Patience, cut: "asyncio.Future[Cut] | None" = None) -> None:
    """Wait until a job has ended, is ready or quiet, or is left running; at most `patience.longest` seconds."""
    now = asyncio.get_running_loop().time
    began, ready = now(), False
    while job.exit_code is None and not (cut and cut.done()) and now() - began < patience.longest:
        spoke = job.spoke > began
        if not ready:
            await job.find_ports()
            ready = bool(job.ports) or (spoke and is_ready(job.newest))
        limit = _time_limit(job, patience, spoke=spoke, ready=ready)
        left = limit - (now() - max(began, job.spoke))
        if left <= 0:
            return
        await job.speaks(min(left, _LOOK_EVERY))


async def _wait_for_notices(job: Job) -> bool:
    """Wait briefly for a job's output about an edit; longer while it prints or builds.

    False if it was still busy at the end.
    """
    now, before = asyncio.get_running_loop().time, job.capture.total
    began = now()
    while job.exit_code is None and now() - began < _AFTER_EDIT:
        new = job.newest[before - job.capture.total :] if job.capture.total > before else b""
        is_busy = is_building(new) and not is_ready(new)
        left = _NOTICES - (now() - max(began, job.spoke))
        if left <= 0 and not is_busy:
            return True
        await job.speaks(_LOOK_EVERY if is_busy else left)
    return job.exit_code is not None


def _time_limit(job: Job, patience: Patience, *, spoke: bool, ready: bool) -> float:
    if ready:
        return patience.ready
    if spoke and patience is START and is_building(job.newest):
        return patience.longest
    return patience.quiet if spoke else patience.first


class Entry(msgspec.Struct, eq=False):
    """A job with its name. `told` counts the bytes of its output that were already reported or read.

    A job that `chatters` did not fall quiet at the last wait: no wait is made for it until it does.
    """

    name: str
    command: str
    job: Job
    after: Callable[[], None]
    withheld: tuple[str, ...] = ()
    watching: "asyncio.Task[None] | None" = None
    ended_at: float | None = None
    stopped: str = ""
    told: int = 0
    told_end: bool = False
    chatters: bool = False

    def info(self, *, ports: bool = False) -> JobInfo:
        job, now = self.job, asyncio.get_running_loop().time()
        return JobInfo(
            name=self.name,
            command=self.command,
            state=self._state(),
            exit_code=job.exit_code,
            stopped=self.stopped,
            seconds=(self.ended_at or now) - job.began,
            quiet=job.quiet,
            unread=job.capture.unread,
            terminal=job.terminal,
            ports=job.ports if ports and self.ended_at is None else (),
        )

    async def notices(self) -> None:
        """Wait for its output about an edit, unless it prints all the time."""
        if not (self.chatters and self._state() is JobState.HOT):
            self.chatters = not await _wait_for_notices(self.job)

    async def take(self) -> JobOutput:
        """Take the new output; its end counts as reported with it."""
        if self.ended_at is None:
            await self.job.find_ports()
        capture, ended = self.job.capture, self.ended_at is not None
        hint, self.told_end = self._hint(), ended
        text = capture.finish() if ended else capture.take()
        self.told = capture.total
        return JobOutput(self.info(ports=True), text, hint)

    def collect_changes(self) -> JobOutput | None:
        """Return what was not yet reported, or None."""
        capture = self.job.capture
        ended = self.ended_at is not None and not self.told_end
        if not ended and (capture.total == self.told or not capture.unread):
            return None
        hint = self._hint()
        self.told, self.told_end = capture.total, self.ended_at is not None
        text = capture.take() if capture.unread <= NEWS and not capture.binary else capture.newest(NEWS_END)
        return JobOutput(self.info(), text, hint)

    def _hint(self) -> str:
        """A note on variables a job may have lacked, if it ended by itself; given once, with its end."""
        if self.ended_at is None or self.told_end or self.stopped:
            return ""
        output = plain_output(self.job.newest.decode("utf-8", "replace"))
        return withheld_note(self.command, output, self.job.exit_code, self.withheld)

    def _state(self) -> JobState:
        if self.ended_at is not None:
            return JobState.ENDED
        newest, quiet = self.job.newest, self.job.quiet
        hot = quiet < _HOT or (quiet < _HOT_BUILD and is_building(newest) and not is_ready(newest))
        return JobState.HOT if hot else JobState.IDLE


def list_running(entries: dict[str, Entry]) -> list[Entry]:
    return [entry for entry in entries.values() if entry.ended_at is None]


class LocalJobs:
    """Implements `ports.jobs.Jobs`. Names are numbered from `first`."""

    def __init__(self, first: int = 1) -> None:
        self._next = first
        self._entries: dict[str, Entry] = {}
        self._on_end: Callable[[JobInfo], None] = lambda info: None
        self._look_again = 0.0
        self._looking: asyncio.Task[None] | None = None

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        self._on_end = on_end

    def keep(
        self,
        command: str,
        job: Job,
        seconds: float | None,
        after: Callable[[], None] = lambda: None,
        withheld: tuple[str, ...] = (),
    ) -> str:
        """Keep a command running for at most `seconds` more, then call `after`. Returns the job's name.

        `withheld` names the variables it did not get because they look like secrets.
        """
        name = f"job-{self._next}"
        self._next += 1
        job.stop_progress()
        entry = self._entries[name] = Entry(name, command, job, after, withheld)
        entry.told = job.capture.total
        entry.watching = asyncio.create_task(self._wait_for_end(entry, seconds), name=name)
        self._forget_old()
        return name

    def list(self) -> tuple[JobInfo, ...]:
        now = asyncio.get_running_loop().time()
        if now >= self._look_again and list_running(self._entries):
            self._look_again = now + _PORTS_EVERY
            self._looking = asyncio.create_task(self.find_ports())
        return tuple(entry.info(ports=True) for entry in self._entries.values())

    async def find_ports(self) -> None:
        await asyncio.gather(*(entry.job.find_ports() for entry in list_running(self._entries)))

    async def read(self, name: str, wait: float = 0.0) -> JobOutput:
        entry = self._find(name)
        if wait > 0 and entry.watching is not None:
            await asyncio.wait([entry.watching], timeout=wait)
        return await entry.take()

    def tail(self, name: str) -> str:
        return plain_output(self._find(name).job.newest.decode("utf-8", "replace")).strip()

    def screen(self, name: str) -> str:
        job = self._find(name).job
        return job.capture.color(job.recent)

    async def write(self, name: str, text: str) -> JobOutput:
        entry = self._find(name)
        if entry.ended_at is not None:
            raise ToolFailure(f"{name} has ended and takes no more input. Nothing was typed.")
        if not entry.job.terminal:
            raise ToolFailure(f"{name} has no terminal to type into. Start it again with tty=true to type input.")
        data = text.encode()
        if (taken := entry.job.type(data)) < len(data):
            raise ToolFailure(f"{name} is not reading its input: it took only {taken} of {len(data)} bytes.")
        await wait_until_settled(entry.job, TYPED)
        await asyncio.sleep(0)  # lets its end be recorded, if this ended it
        return await entry.take()

    async def stop(self, name: str) -> None:
        entry = self._find(name)
        if entry.ended_at is None:
            entry.stopped = entry.stopped or "on request"
            await entry.job.stop(GRACE)
            await self._wait_for_last_words(entry)

    async def settle(self) -> None:
        await asyncio.gather(*(entry.notices() for entry in list_running(self._entries)))

    def collect_changes(self) -> tuple[JobOutput, ...]:
        return tuple(news for entry in self._entries.values() if (news := entry.collect_changes()))

    async def close(self, end_all: Callable[[], Awaitable[None]]) -> None:
        """End every job by `end_all` and wait for them."""
        running = list_running(self._entries)
        for entry in running:
            entry.stopped = entry.stopped or "the task was closed"
        await end_all()
        for entry in running:
            await self._wait_for_last_words(entry)
        for entry in self._entries.values():
            entry.job.capture.close()
        if self._looking:
            await self._looking

    async def _wait_for_end(self, entry: Entry, seconds: float | None) -> None:
        job = entry.job
        if not await job.ends(seconds):
            entry.stopped = entry.stopped or "it reached its time limit"
            await job.stop(GRACE)
        await job.drain()
        await job.closes()  # children may outlive the shell
        entry.after()
        entry.stopped = entry.stopped or job.loss
        entry.ended_at = asyncio.get_running_loop().time()
        self._on_end(entry.info())

    async def _wait_for_last_words(self, entry: Entry) -> None:
        """Wait a little for the end; a process that left the session may still hold the output."""
        if entry.watching is None:
            return
        done, _ = await asyncio.wait([entry.watching], timeout=_LAST_WORDS)
        if not done:
            entry.job.close()
            await asyncio.wait([entry.watching])

    def _find(self, name: str) -> Entry:
        if name in self._entries:
            return self._entries[name]
        known = ", ".join(self._entries) or "none"
        raise ToolFailure(f"No job {name!r}. Jobs end with the process that started them. Known jobs: {known}.")

    def _forget_old(self) -> None:
        ended = [entry for entry in self._entries.values() if entry.ended_at is not None]
        for entry in ended[:-ENDED_KEPT]:
            entry.job.capture.close()
            del self._entries[entry.name]
