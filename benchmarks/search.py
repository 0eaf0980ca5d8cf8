"""A search over 20,000 files: `python -m benchmarks.search` makes the tree and measures both sides, as JSON.

The floor runs ripgrep as a person would and reads what it prints; ours is the tool `search_files`, called as the task
calls it. One looks for a name that stands once, one for a name in a few hundred files, one for a word in every file.
"""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure

ROOT = Path(__file__).parent.parent
FILES, FOLDERS, LINES = 20_000, 400, 60
SEARCHES = {
    "search_one": ("a search that finds one line", "unmistakable_name"),
    "search_some": ("a search that finds 250 lines", r"\bfrequent_name\("),
    "search_all": ("a search that finds 100,000 lines", "return"),
}
_TIMES = 5


def make_tree(folder: Path, files: int = FILES) -> None:
    """About 2 KB of source code a file."""
    chance = random.Random(5)
    words = [f"name_{i}" for i in range(3_000)]
    for number in range(files):
        lines = [f"def {chance.choice(words)}({chance.choice(words)}):" for _ in range(LINES)]
        for at in range(0, LINES, 12):
            lines[at] = f"    return {chance.choice(words)} + {number}"
        if number % 80 == 0:
            lines[7] = "    frequent_name(1)"
        if number == files // 2:
            lines[9] = "unmistakable_name = 1"
        path = folder / f"part_{number % FOLDERS}" / f"module_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")


def bare(program: str, folder: Path, regex: str) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    command = [program, "--no-config", "-n", "-C1", "-e", regex, str(folder)]
    found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    assert found
    return (time.perf_counter() - began) * 1e3


Search = Callable[[str], Coroutine[None, None, None]]


def tool(folder: Path) -> Search:
    from halocline.hosts.files.local import LocalFiles
    from halocline.hosts.ripgrep import Ripgrep
    from halocline.ports.tool import SecretFilter, TaskView, ToolContext, ToolHost
    from halocline.tools import search_files

    host = ToolHost(**dict.fromkeys(ToolHost.__struct_fields__) | {"files": LocalFiles(), "search": Ripgrep()})
    parts = {"workspace": folder, "host": host, "task": TaskView(), "secrets": SecretFilter()}
    context = ToolContext(**dict.fromkeys(ToolContext.__struct_fields__) | parts)

    async def search(regex: str) -> None:
        output = await search_files.run(search_files.Input(regex), context)
        assert ".py\n" in output.content[0].text

    return search


async def _timed(search: Search, regex: str) -> float:
    began = time.perf_counter()
    await search(regex)
    return (time.perf_counter() - began) * 1e3


async def measure(folder: Path) -> dict[str, tuple[float, float]]:
    """For each search the floor's milliseconds and ours: medians, in turn, after one uncounted run of both."""
    from halocline.hosts.executables import find_ripgrep

    search, program = tool(folder), find_ripgrep()
    sides: dict[str, tuple[float, float]] = {}
    for name, (_, regex) in SEARCHES.items():
        pairs = [(bare(program, folder, regex), await _timed(search, regex)) for _ in range(_TIMES + 1)][1:]
        sides[name] = (median(low for low, _ in pairs), median(high for _, high in pairs))
    return sides


def figures(rounds: int) -> list[Figure]:
    """Medians over rounds, each in a process of its own with a tree of its own."""
    command = [sys.executable, "-m", __name__]
    runs = [json.loads(subprocess.check_output(command, cwd=ROOT)) for _ in range(max(1, rounds // 3))]
    return [
        Figure(name, f"{title}, 20,000 files, ms", *(median(run[name][side] for run in runs) for side in (0, 1)))
        for name, (title, _) in SEARCHES.items()
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        make_tree(Path(place))
        print(json.dumps(asyncio.run(measure(Path(place)))))
