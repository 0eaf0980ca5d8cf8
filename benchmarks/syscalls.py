"""What a program asks of the kernel at each step, from a trace that strace writes.

Calls whose number depends on who is scheduled when (waiting, waking, sockets, signals, memory) are not counted, nor are
those that name another process's folder in /proc: a start looks for a task above it, at as many files as whoever
started it has open.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from statistics import median_low
from tempfile import TemporaryDirectory

_UNCOUNTED = (
    *("futex", "sched_yield", "epoll_wait", "epoll_pwait", "epoll_ctl", "poll", "ppoll", "select", "pselect6"),
    *("clock_nanosleep", "restart_syscall", "wait4", "waitid", "getpid", "gettid", "exit", "exit_group"),
    *("madvise", "brk", "mmap", "munmap", "mprotect", "mremap", "rseq", "set_robust_list", "sigaltstack"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "kill", "tgkill", "getrandom", "times", "getrusage"),
)
_SOCKETS = ("recvfrom", "sendto")
_READS = ("read", "pread64", "readv")
_WRITES = ("write", "pwrite64", "writev")
_SYNCS = ("fsync", "fdatasync", "sync_file_range", "syncfs", "msync", "sync")
_FORKS = ("clone", "clone3", "fork", "vfork")
_OF_OTHERS = re.compile(r'"/proc/\d+/')
_PROBE_SECONDS = 20
_CALL = re.compile(r"(\w+)\((\w*)")
_RESULT = re.compile(r"= (-?\d+)[^=]*$")
_UNFINISHED = " <unfinished ...>"


@dataclass(frozen=True, slots=True)
class Counts:
    """Counted system calls; of these new processes, programs started and syncs; and bytes read and written."""

    syscalls: int = 0
    forks: int = 0
    programs: int = 0
    syncs: int = 0
    read: int = 0
    written: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(mine + theirs for mine, theirs in zip(_fields(self), _fields(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Step:
    """`gap`: from the last piece of an answer to the next request. `whole`: from one request to the next.

    Calls and bytes of a gap are those of the main thread: what other threads and processes do may overlap with it. New
    processes and syncs are everybody's.
    """

    gap: Counts
    whole: Counts


@dataclass(frozen=True, slots=True)
class Trace:
    """The counts until the first request, and those of each step."""

    start: Counts
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class _Call:
    """One call. `file` is its first argument if that is a name or number; `result` is -1 for an error."""

    name: str
    file: str
    result: int
    text: str
    is_main: bool


def tracing(output: Path) -> list[str]:
    """Return the words before a command that write its trace. The command stays a child of who runs it."""
    chosen = f"trace=!{','.join(_UNCOUNTED)}"
    return [
        "strace",
        "-D",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-s",
        "16",
        "-e",
        "signal=none",
        "-e",
        chosen,
        "-o",
        str(output),
    ]


def missing_tracer() -> str:
    """Say why nothing can be traced here; empty if it can."""
    if not shutil.which("strace"):
        return "strace is not installed"
    with TemporaryDirectory() as folder:
        output = Path(folder, "trace")
        try:
            run = subprocess.run([*tracing(output), "true"], capture_output=True, text=True, timeout=_PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            return "strace does not answer"
        return "" if run.returncode == 0 and output.exists() else f"strace may not trace: {run.stderr.strip()[-200:]}"


def read_trace(path: Path) -> Trace:
    """Split a trace at the requests to the model."""
    with path.open(errors="replace") as lines:
        calls = list(_calls(lines))
    requests = [number for number, call in enumerate(calls) if call.name == "sendto" and '"POST /' in call.text]
    steps = [_step(calls, request, following) for request, following in pairwise(requests)]
    return Trace(_sum(calls[: requests[0]]), steps)


def medians(counts: Sequence[Counts]) -> Counts:
    """Return the median of each count."""
    return Counts(*(median_low(column) for column in zip(*map(_fields, counts), strict=True)))


def _step(calls: Sequence[_Call], request: int, following: int) -> Step:
    connection = calls[request].file
    received = [
        number
        for number in range(request, following)
        if calls[number].name == "recvfrom" and calls[number].file == connection and calls[number].result > 0
    ]
    gap = calls[received[-1] : following]
    everybody, main = _sum(gap), _sum([call for call in gap if call.is_main])
    return Step(
        replace(main, forks=everybody.forks, programs=everybody.programs, syncs=everybody.syncs),
        _sum(calls[request:following]),
    )


def _calls(lines: Iterable[str]) -> Iterator[_Call]:
    """Yield the calls in the order in which they ended; strace splits those that others interrupt."""
    begun: dict[str, str] = {}
    main = ""
    for line in lines:
        process, _, text = line.rstrip("\n").partition(" ")
        text = text.lstrip()
        main = main or process
        if text.endswith(_UNFINISHED):
            begun[process] = text.removesuffix(_UNFINISHED)
            continue
        if text.startswith("<... "):
            text = begun.pop(process, "") + text.partition(" resumed>")[2]
        if head := _CALL.match(text):
            result = _RESULT.search(text)
            yield _Call(head[1], head[2], int(result[1]) if result else -1, text, process == main)


def _sum(calls: Sequence[_Call]) -> Counts:
    return reduce(Counts.__add__, map(_count, calls), Counts())


def _count(call: _Call) -> Counts:
    return Counts(
        syscalls=call.name not in _SOCKETS and not _OF_OTHERS.search(call.text),
        forks=call.name in _FORKS and "CLONE_THREAD" not in call.text,
        programs=call.name == "execve" and call.result == 0,
        syncs=call.name in _SYNCS,
        read=max(0, call.result) if call.name in _READS else 0,
        written=max(0, call.result) if call.name in _WRITES else 0,
    )


def _fields(counts: Counts) -> tuple[int, ...]:
    return (counts.syscalls, counts.forks, counts.programs, counts.syncs, counts.read, counts.written)
