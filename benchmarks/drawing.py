"""Long replies drawn for a terminal, long tasks shown: `python -m benchmarks.drawing [--only NAME]`, a table, a code.

Each case runs in a process of its own, so that its peak of memory is its own. Replies come in deltas of 400
characters, as from a server; a task is shown with `halo tasks show`. Times are CPU time; what an
empty reply takes is taken off.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from benchmarks.process import measure
from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import AssistantMessage, StopReason, Text

SLOWEST = 5.0
"""MB a second that each case must reach."""
DELTA = 400
SENTENCE = "The parser reads **each** token once, and `cache` keeps what it made of it. "
ITEM = "- an item with `code`, **bold** words and a [link](https://example.org/a)\n"
ROW = "| name | value of the row | 12,345 |\n"


def repeated(piece: str, megabytes: float) -> str:
    return piece * int(megabytes * 1e6 / len(piece))


CASES: dict[str, Callable[[], str]] = {
    "nothing": str,
    "list of 1.6 MB": lambda: repeated(ITEM, 1.6),
    "list of 6.4 MB": lambda: repeated(ITEM, 6.4),
    "prose of 10 MB": lambda: repeated(SENTENCE * 6 + "\n\n", 10),
    "code of 10 MB": lambda: f"```python\n{repeated('value = compute(1, 2)  # as before' + chr(10), 10)}```\n",
    "table of 2 MB": lambda: "| a | b | c |\n| - | - | - |\n" + repeated(ROW, 2),
    "line of 10 MB": lambda: repeated("word ", 10),
    "shown task of 100 MB": lambda: repeated(SENTENCE * 6 + "\n\n", 100),
}


def draw(text: str) -> None:
    """Draw a reply on standard output, as line mode does."""
    from rich.console import Console

    from halocline.surfaces.terminal.drawing.screen import Screen

    screen = Screen(Console(highlight=False, width=100, height=25))
    for start in range(0, len(text), DELTA):
        screen.show(ev.TextDelta(text[start : start + DELTA]))
    screen.show(ev.AssistantMessageCompleted(AssistantMessage((Text(text),))))
    screen.close()


def write_task(home: Path, text: str) -> str:
    """A task with this reply in four messages; gives its id."""
    parts = [text[start : start + len(text) // 4 + 1] for start in range(0, len(text), len(text) // 4 + 1)]
    events = [
        ev.TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "", "0"),
        ev.TurnStarted(content=(Text("go"),)),
        *(ev.AssistantMessageCompleted(AssistantMessage((Text(part),))) for part in parts),
        ev.TurnEnded(reason=StopReason.END_TURN),
    ]
    folder = home / "tasks" / "t"
    folder.mkdir(parents=True)
    stamped = (replace(event, seq=seq, at=1.0, task="t") for seq, event in enumerate(events, 1))
    (folder / codec.LOG_NAME).write_bytes(b"".join(codec.encode(event) + b"\n" for event in stamped))
    return "t"


def run(name: str) -> tuple[float, float, int]:
    """Seconds and MB of memory that a case takes, and the MB of its text."""
    text = CASES[name]()
    with tempfile.TemporaryDirectory(prefix="halocline-drawing-") as place, open(os.devnull, "wb") as nowhere:
        command = [sys.executable, "-m", "benchmarks.drawing", "--draw", name]
        if name.startswith("shown"):
            command = [sys.executable, "-m", "halocline", "tasks", "show", write_task(Path(place), text)]
        outcome = measure(command, Path.cwd(), {**os.environ, "HALOCLINE_HOME": place}, nowhere, nowhere)
    if outcome.exit_code:
        raise subprocess.CalledProcessError(outcome.exit_code, command)
    return outcome.cpu, outcome.peak / 1e6, round(len(text) / 1e6, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.draw:
        draw(CASES[arguments.draw]())
        return 0
    missed, start = 0, run("nothing")[0]
    print("| reply | seconds | MB/s | peak MB |\n| --- | ---: | ---: | ---: |")
    for name in CASES:
        if arguments.only in name:
            seconds, peak, size = run(name)
            seconds = max(0.01, seconds - start)
            missed += size > 0 and size / seconds < SLOWEST
            print(f"| {name} | {seconds:.1f} | {size / seconds:.1f} | {peak:.0f} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
