"""What a command costs beyond its own run: `python -m benchmarks.commands floor|ours|held` measures one side, as JSON.

The floor starts bash itself and reads its pipe; ours is the shell that `execute_command` uses. Both run the same.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure

ROOT = Path(__file__).parent.parent
_SHORT, _FLOOD = "echo hi", "yes 'a line of output as programs print it' | head -c {size}"
_GIGABYTE = 1_000_000_000
_TIMES = 40

Run = Callable[[str], Awaitable[int]]


async def floor(folder: Path, flood: int = _GIGABYTE) -> dict[str, float]:
    async def run(text: str) -> int:
        return _bare(text, folder)

    return await _measure(run, flood)


def _bare(text: str, folder: Path) -> int:
    with subprocess.Popen(
        ["bash", "-c", text], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        return sum(iter(lambda: len(os.read(pipe, 1 << 16)), 0))


async def ours(folder: Path, flood: int = _GIGABYTE) -> dict[str, float]:
    from halocline.hosts.shell.shell import LocalShell
    from halocline.ports.host import ShellCommand

    shell = LocalShell(folder / "outputs")

    async def run(text: str) -> int:
        return (await shell.run(ShellCommand(text, str(folder)), lambda _: None)).total_bytes

    try:
        return await _measure(run, flood)
    finally:
        await shell.close()


async def held(folder: Path) -> dict[str, float]:
    """`bash -c true` bare and in the sandbox, in turn: milliseconds of both; nothing where there is no full sandbox."""
    from halocline.hosts.sandbox.mounts import SandboxRequest
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.hosts.shell.shell import LocalShell
    from halocline.ports.host import ShellCommand
    from halocline.protocol.kinds import SandboxStanding

    places = {name: folder / name for name in ("workspace", "state", "own")}
    for place in places.values():
        place.mkdir()
    shell = LocalShell(folder / "outputs", sandbox=Sandbox(SandboxRequest(home=Path.home(), **places)))

    async def run(text: str) -> int:
        return (await shell.run(ShellCommand(text, str(places["workspace"])), lambda _: None)).total_bytes

    async def bare(text: str) -> int:
        return _bare(text, folder)

    try:
        if (await shell.sandbox()).standing is not SandboxStanding.FULL:
            return {}
        await run("true")
        turns = [(await _timed(bare, "true", 0), await _timed(run, "true", 0)) for _ in range(_TIMES)]
    finally:
        await shell.close()
    return {name: median(times) * 1e3 for name, times in zip(("bare", "held"), zip(*turns, strict=True), strict=True)}


async def _measure(run: Run, size: int) -> dict[str, float]:
    """Milliseconds of a short command (the first one apart), seconds of a gigabyte, megabytes of memory at most."""
    first = await _timed(run, _SHORT, 3)
    short = median([await _timed(run, _SHORT, 3) for _ in range(_TIMES)])
    flood = await _timed(run, _FLOOD.format(size=size), size)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"first": first * 1e3, "short": short * 1e3, "flood": flood, "memory": memory}


async def _timed(run: Run, text: str, size: int) -> float:
    began = time.perf_counter()
    printed = await run(text)
    seconds = time.perf_counter() - began
    if printed != size:
        raise SystemExit(f"{text!r} gave {printed} bytes instead of {size}")
    return seconds


def figures(rounds: int) -> list[Figure]:
    """Both sides in turn, each in a process of its own; medians."""
    sides: dict[str, list[dict[str, float]]] = {"floor": [], "ours": []}
    for _ in range(rounds):
        for side, runs in sides.items():
            runs.append(json.loads(subprocess.check_output([sys.executable, "-m", __name__, side], cwd=ROOT)))
    low, high = ({name: median(run[name] for run in runs) for name in runs[0]} for runs in sides.values())
    return [*table(low, high), *_held(rounds)]


def _held(rounds: int) -> list[Figure]:
    runs = [
        json.loads(subprocess.check_output([sys.executable, "-m", __name__, "held"], cwd=ROOT)) for _ in range(rounds)
    ]
    if not all(runs):
        return []
    low, high = (median(run[name] for run in runs) for name in ("bare", "held"))
    return [Figure("sandboxed", "a sandboxed `true` against a bare one, ms", low, high)]


def table(low: dict[str, float], high: dict[str, float]) -> list[Figure]:
    """The figures of the floor and of ours."""
    return [
        Figure("command", "a short command, ms", low["short"], high["short"]),
        Figure("command_overhead", "… beyond the floor, ms", None, max(0.0, high["short"] - low["short"])),
        Figure("command_first", "the first command of a task, ms", low["first"], high["first"]),
        Figure("flood", "1 GB of output, s", low["flood"], high["flood"]),
        Figure("flood_memory", "peak memory with 1 GB of output, MB", low["memory"], high["memory"]),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        side = {"floor": floor, "ours": ours, "held": held}[sys.argv[1]]
        print(json.dumps(asyncio.run(side(Path(place)))))
