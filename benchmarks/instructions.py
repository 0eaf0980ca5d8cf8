"""Instructions of a run and of a step, counted by valgrind: they do not depend on what else the machine does.

`python -m benchmarks.instructions [SRC ...]` compares the floor, this version, and others by their `src` folders.
Only the process itself counts, and not the kernel. What loads in the background takes part, by a percent or so.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.session import FLOOR, OURS, ROOT, Arena, Contestant
from benchmarks.workspace import make_template

COUNT = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_TOTAL = re.compile(r"I\s+refs:\s+([\d,]+)")
_WARM, _BARE, _READS, _FEW, _MANY = "S1", "S0", "S3", "S2-few", "S2"


def count_instructions(contestant: Contestant, folder: Path, source: Path | None = None) -> dict[str, float]:
    """Count the instructions, in millions, of a run without a step, of a read, and of a read, an edit and a command.

    Raises RuntimeError if a run did not do its work.
    """
    template, log = folder / "template", folder / "instructions"
    if not template.is_dir():
        template.mkdir(parents=True)
        make_template(template)
    counted = replace(contestant, command=_counting(contestant.command, log))
    arena = Arena(counted, folder / f"{contestant.name}-{abs(hash(source))}", template, 0.0)
    arena.environment |= {"PYTHONHASHSEED": "0"} | ({"PYTHONPATH": str(source)} if source else {})

    def play(scenario: str) -> float:
        if problems := arena.play(scenario).problems:
            raise RuntimeError(f"{contestant.name}: {'; '.join(problems)}")
        return int(_TOTAL.findall(log.read_text())[-1].replace(",", "")) / 1e6

    play(_WARM)
    bare, reads, few, many = map(play, (_BARE, _READS, _FEW, _MANY))
    return {
        "a run without steps": bare,
        "a read": (reads - bare) / 199,
        "the first three steps of each kind": few - bare,
        "a later read, edit and command": (many - few) / 10,
    }


def _counting(command: Callable[[int, Path], list[str]], log: Path) -> Callable[[int, Path], list[str]]:
    return lambda port, workspace: [*COUNT, f"--log-file={log}", *command(port, workspace)]


def main(sources: Iterable[str]) -> int:
    if not shutil.which(COUNT[0]):
        print("valgrind is not installed.", file=sys.stderr)
        return 1
    versions = [(OURS, ROOT / "src"), *((OURS, Path(source).resolve()) for source in sources)]
    with tempfile.TemporaryDirectory() as place:
        found = [
            count_instructions(contestant, Path(place), source) for contestant, source in [(FLOOR, None), *versions]
        ]
    print(f"| millions of instructions | the floor | {' | '.join(str(source) for _, source in versions)} |")
    print(f"| --- {'| ---: ' * len(found)}|")
    for name in found[0]:
        print(f"| {name} | {' | '.join(f'{counts[name]:,.1f}' for counts in found)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
