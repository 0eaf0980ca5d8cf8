"""A real task of 17,000 events, read in every way: `python -m benchmarks.long_task [--steps N]`, a table, an exit code.

The task is run first, by the scripted model: it reads, searches, edits and runs commands, with checkpoints and policy
on. Another of a quarter of the steps shows what is not linear. Times are CPU seconds: of the whole command, of the live
screen until its prompt can be used, of the page's server until the task was told. The floor is reading and folding the
log.
"""

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import web
from benchmarks.growth import Row, print_rows
from benchmarks.history import WORDS
from benchmarks.process import measure
from benchmarks.session import HALO
from benchmarks.terminal import Terminal
from halocline.protocol import codec
from halocline.protocol.state.reducer import fold_events
from halocline.task.log_reading import read_log

STEPS, SHORTER, SHORTEST = 3_200, 4, 8
"""Steps, those of the longest by those of the shorter task, and the steps of one that costs little but a start."""
FILES, LINES = 60, 60
READERS = {
    "halo tasks show, into a pipe": (("tasks", "show"), 6),
    "halo export": (("export",), 5.5),
    "halo export -f jsonl": (("export", "-f", "jsonl"), 3.5),
    "halo replay, which runs the loop again": (("replay",), 8),
}
"""What reads the task, and its limit, in floors. Eight are 1.5 s where the floor takes 0.19 s."""
SCREEN, PAGE = 5, 2.4
LINEAR = 1.25
"""Most that an event of the longer task may cost beside one of the shorter."""
_CALLS = (
    'tool = "read_file"\narguments = {{ path = "m{file}.py" }}',
    'tool = "execute_command"\narguments = {{ command = "head -30 m{file}.py", requires_approval = false }}',
    'tool = "search_files"\narguments = {{ path = ".", regex = "value_{file} = " }}',
    'tool = "replace_in_file"\narguments = {{ path = "m{edited}.py", diff = "{edit}" }}',
)


_EDIT = r"------- SEARCH\nvalue_{line} = 0\n=======\nvalue_{line} = {step}\n+++++++ REPLACE\n"
"""As it stands in TOML."""


def run_task(root: Path, steps: int) -> str:
    """Run a task of so many steps in a folder of its own; return its ID. Raises CalledProcessError."""
    chance = random.Random(steps)
    said = lambda count: " ".join(chance.choices(WORDS.split(), k=count))
    folder = root / f"project-{steps}"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"m{number}.py").write_text("".join(f"value_{at} = 0  # {said(6)}\n" for at in range(LINES)))
    turns = []
    for step in range(steps):
        edits = step // len(_CALLS)
        edit = _EDIT.format(line=edits // FILES % LINES, step=step + 1)
        call = _CALLS[step % len(_CALLS)].format(file=step % FILES, edited=edits % FILES, edit=edit)
        usage = "usage = { input = 900, output = 200, cache_read = 9000 }"
        turns.append(f'[[turn]]\ntext = "{said(30)}"\n{usage}\n[[turn.call]]\n{call}\n')
    script = root / f"script-{steps}.toml"
    script.write_text("\n".join([*turns, '[[turn]]\ntext = "Done."\n']))
    before = set(_tasks(root))
    words = [str(HALO), "-p", "go", "-y", "-m", f"scripted/{script}", "--max-steps", str(steps + 1), "-C", str(folder)]
    subprocess.run(words, env=_environment(root), cwd=folder, stdout=subprocess.DEVNULL, check=True)
    (task,) = set(_tasks(root)) - before
    return task


def _tasks(root: Path) -> list[str]:
    folder = root / "home" / "tasks"
    return [entry.name for entry in folder.iterdir() if (entry / codec.LOG_NAME).exists()] if folder.exists() else []


def _log_of(root: Path, task: str) -> Path:
    return root / "home" / "tasks" / task / codec.LOG_NAME


def _environment(root: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "LANG": "C.UTF-8"}


def time_readers(root: Path, task: str) -> dict[str, float]:
    """CPU seconds of each way of reading a task."""
    return {
        "reading and folding the log": _fold(root, task),
        **{name: _run(root, *words, task) for name, (words, _) in READERS.items()},
        "halo -r, until one can type": _resume(root, task),
        "the page, until the task was told": asyncio.run(_tell(root, task)),
    }


def _fold(root: Path, task: str) -> float:
    began = sum(os.times()[:2])
    fold_events(read_log(_log_of(root, task)))
    return sum(os.times()[:2]) - began


def _run(root: Path, *words: str) -> float:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        outcome = measure([str(HALO), *words], root, _environment(root), output, errors)
        errors.seek(0)
        if outcome.exit_code:
            raise RuntimeError(f"halo {' '.join(words)}: {errors.read().decode()}")
    return outcome.cpu


def _resume(root: Path, task: str) -> float:
    """CPU seconds of the live screen until one can type."""
    model = f"scripted/{root}/script-{SHORTEST}.toml"  # the task's own model would read its long script
    terminal = Terminal([str(HALO), "-r", task, "-m", model], str(root / "home"))
    try:
        terminal.read_until(lambda text: b"nothing asks" in text, 60)
        return terminal.cpu()
    finally:
        terminal.close()


async def _tell(root: Path, task: str) -> float:
    """CPU seconds of the page's server until a task was told, from the second page on."""
    async with web.served(root) as server:
        await web.told(server, next(other for other in _tasks(root) if other != task))
        before = server.cpu
        await web.told(server, task)
        return server.cpu - before


def measure_reading(steps: int) -> Iterator[Row]:
    """Run both tasks, read them, and compare."""
    root = Path(tempfile.mkdtemp(prefix="halocline-long-"))
    try:
        tasks = [run_task(root, count) for count in (SHORTEST, steps // SHORTER, steps)]
        counts = [sum(1 for _ in read_log(_log_of(root, task))) for task in tasks]
        times = [time_readers(root, task) for task in tasks]
    finally:
        shutil.rmtree(root)
    limits = {name: limit for name, (_, limit) in READERS.items()}
    limits |= {"halo -r, until one can type": SCREEN, "the page, until the task was told": PAGE}
    floor = times[-1]["reading and folding the log"]
    for name, limit in limits.items():
        each = [taken[name] for taken in times]
        yield Row(f"{name}, {counts[-1]:,} events, s", each[-1], limit * floor, floor)
        yield Row("… each of the later three quarters ÷ each of the first", _find_growth(each, counts), LINEAR)


def _find_growth(times: list[float], counts: list[int]) -> float:
    """What an event costs that only the longest task has, beside one that the shorter has, too."""
    first, later = ((times[at + 1] - times[at]) / (counts[at + 1] - counts[at]) for at in (0, 1))
    return later / first


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    print("| what | floor | ours | limit | |", "| --- | ---: | ---: | ---: | --- |", sep="\n")
    rows = list(measure_reading(parser.parse_args().steps))
    print_rows(rows)
    return int(any(row.ours > row.limit for row in rows))


if __name__ == "__main__":
    sys.exit(main())
