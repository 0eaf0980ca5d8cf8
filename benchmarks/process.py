"""One process measured from outside: wall time, CPU, peak memory, bytes written, and what others did meanwhile."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PERIOD = 0.01
_GIVE_UP = 180.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a process went. Times are seconds (`started` and `ended` on CLOCK_MONOTONIC), sizes bytes.

    `cpu` is user and system time of the process and of all descendants that were waited for. `peak` is the largest sum
    of resident memory over its tree. `written` is what the tree gave the file system to write back, in whole pages.
    `rest` is the CPU seconds that all other processes of the machine used meanwhile, in ticks of 10 ms.
    """

    started: float
    ended: float
    exit_code: int
    cpu: float
    peak: int
    written: int
    rest: float

    @property
    def wall(self) -> float:
        return self.ended - self.started


def measure(
    command: list[str],
    folder: Path,
    environment: dict[str, str],
    output: IO[bytes],
    errors: IO[bytes],
    on_start: Callable[[int], None] = lambda _process: None,
) -> Outcome:
    """Run the command to its end; `on_start` gets its process ID. One that hangs is killed after three minutes."""
    busy = _busy_seconds()
    own = time.process_time()
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        process_group=0,
    )
    on_start(process.pid)
    with PeakMemory(process.pid) as memory, _time_limit(process.pid):
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.monotonic()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    rest = _busy_seconds() - busy - cpu - (time.process_time() - own)
    return Outcome(
        started=started,
        ended=ended,
        exit_code=process.returncode,
        cpu=cpu,
        peak=memory.bytes,
        written=usage.ru_oublock * _BLOCK,
        rest=max(0.0, rest),
    )


class PeakMemory:
    """Watches a process tree from a thread, every 10 ms, through /proc.

    A child counts from its second sighting on: between fork and exec it still shows its parent's memory. For the
    process itself the kernel's own high-water mark is used, so that no peak between two looks is lost.
    """

    def __init__(self, root: int) -> None:
        self.bytes = 0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        seen: set[int] = set()
        while True:
            family = set(_descendants(self._root))
            total = _resident(self._root) + sum(_resident(child) for child in family & seen)
            self.bytes = max(self.bytes, total, _high_water(self._root))
            seen = family
            if self._over.wait(_PERIOD):
                return


@contextmanager
def _time_limit(group: int) -> Iterator[None]:
    """Kill the process group when the body takes too long."""
    timer = threading.Timer(_GIVE_UP, os.killpg, (group, signal.SIGKILL))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def left_running(marker: str) -> list[str]:
    """Names of the processes of this user whose environment holds the marker."""
    owners = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [_proc(owner, "comm").strip() for owner in owners if marker in _proc(owner, "environ")]


def _descendants(process: int) -> list[int]:
    children = [int(word) for word in _proc(process, f"task/{process}/children").split()]
    return [*children, *(below for child in children for below in _descendants(child))]


def _resident(process: int) -> int:
    fields = _proc(process, "statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _high_water(process: int) -> int:
    _, _, rest = _proc(process, "status").partition("VmHWM:")
    return int(rest.split(maxsplit=1)[0]) * 1024 if rest else 0


def _proc(process: int, name: str) -> str:
    """A file of the process in /proc; empty when it has gone or the kernel does not offer it."""
    try:
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def _busy_seconds() -> float:
    """CPU seconds all processes of the machine have used since it started."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _wait, irq, softirq = map(int, stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) * _TICK
