"""10,000 tasks and one of 10,000 events: `python -m benchmarks.history [--tasks N]`, a table and an exit code.

The logs have the shape of a real one (`tests/golden/repair.recording.jsonl` was the model): a prompt, steps with
usage, calls with results of a kilobyte, edits, an answer; a tenth of them are ten times as long. Floors, in the same
run: a look (`stat`) at each log for the lists, reading the file for opening, one `write` of the same line for
`append`. Lists are measured with the index there, after one log in a hundred has grown.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult, Usage
from halocline.protocol.queries.tasks import TaskQuery
from halocline.protocol.state.reducer import fold_events
from halocline.store.tasks.index import TaskIndex
from halocline.task.log import Log

TASKS, LONG, LONGEST = 10_000, 10_000, 222_000
LISTING, OPENING, OPENING_LONGEST, APPENDING = 200.0, 300.0, 5_000.0, 0.1
"""Milliseconds that each may take."""
ROUNDS = 9
WORDS = """
parser cache retry token schema migrate login timeout invoice export import queue worker index search render button
dialog layout theme locale format stream buffer socket proxy header cookie session upload image thumbnail report chart
metric alert deploy rollback config secret policy rule test fixture mock coverage lint type error
"""


def steps(chance: random.Random, number: int, count: int) -> Iterator[ev.Durable]:
    """The events of one task."""
    said = lambda most: " ".join(chance.choices(WORDS.split(), k=chance.randrange(5, most)))
    yield ev.TaskStarted(
        workspace=f"/work/project{number % 40}",
        model=f"anthropic/model-{number % 5}",
        mode=Mode.ACT,
        approval_mode=ApprovalMode.AUTO,
        system_prompt="You are a coding agent. " * 250,
        version="0",
    )
    yield ev.TurnStarted(content=(Text(f"Please {said(30)} (ticket {number})"),))
    for step in range(count):
        call = f"c{step}"
        path = f"src/{chance.choice(WORDS.split())}/{chance.choice(WORDS.split())}.py"
        yield ev.StepStarted(model="anthropic/model")
        yield ev.UsageReported(usage=Usage(input=900, output=200, cache_read=9000), cost=0.012)
        reply = AssistantMessage(
            content=(Text(said(40)), ToolCall(call, "replace_in_file", {"path": path, "diff": said(60)})),
            model="anthropic/model",
            stop_reason=StopReason.END_TURN,
        )
        yield ev.AssistantMessageCompleted(message=reply)
        yield ev.ToolCallStarted(call=call, name="replace_in_file", title=f"Edit {path}", kind=ToolKind.EDIT)
        yield ev.FileChanged(path=f"/work/project{number % 40}/{path}", before="b" * 64, after="a" * 64, cause=call)
        result = ToolResult(call=call, content=(Text(said(160)),))
        yield ev.ToolCallEnded(call=call, name="replace_in_file", status=CallStatus.COMPLETED, result=result)
        yield ev.CheckpointTaken(checkpoint="c" * 12, label=f"Edit {path}")
    yield ev.TurnEnded(reason=StopReason.END_TURN)


def write(folder: Path, name: str, events: Iterator[ev.Durable], at: float) -> int:
    """A log as the product would write it; gives the number of its events."""
    (folder / name).mkdir(parents=True)
    lines = []
    for seq, event in enumerate(events, 1):
        values = {field: getattr(event, field) for field in event.__struct_fields__} | {
            "seq": seq,
            "at": at + seq,
            "task": name,
        }
        lines.append(codec.encode(type(event)(**values)))
    (folder / name / codec.LOG_NAME).write_bytes(b"\n".join(lines) + b"\n")
    return len(lines)


def generate(folder: Path, count: int) -> None:
    chance = random.Random(7)
    for number in range(count):
        events = steps(chance, number, 30 if number % 10 == 0 else 3)
        write(folder, f"2611{number % 28 + 1:02}-{number:06}-abcd", events, 1.79e9 + number * 60)


def grow(folder: Path, round_: int) -> None:
    """One log in a hundred goes on."""
    for number, task in enumerate(sorted(folder.iterdir())):
        if number % 100 == round_:
            log = Log(task, task.name)
            log.load()
            log.append(ev.UsageReported(usage=Usage(input=1), cost=0.001))
            log.close()


def took(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def look(folder: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            os.stat(f"{entry.path}/{codec.LOG_NAME}")


def lists(root: Path, count: int) -> Iterator[tuple[str, float, float, float]]:
    """What a list and a search take, and the floor: name, ours, floor, limit."""
    folder = root / "tasks"
    generate(folder, count)
    index = TaskIndex(root / "history.db", folder)
    print(f"first index of {count:,} tasks: {took(lambda: index.find(TaskQuery(limit=1))) / 1000:.1f} s")
    queries = {
        "list": TaskQuery(),
        "list of a folder": TaskQuery(workspace="/work/project7"),
        "search, one word": TaskQuery(words="invoice", limit=50),
        "search, three words": TaskQuery(words="invoice retry thumb", limit=50),
        "search, a rare word": TaskQuery(words="4711"),
    }
    for name, query in queries.items():
        ours, floor = [], []
        for round_ in range(ROUNDS):
            grow(folder, round_)
            floor.append(took(lambda: look(folder)))
            ours.append(took(lambda query=query: index.find(query)))
        yield name, statistics.median(ours), statistics.median(floor), LISTING


def one_task(root: Path) -> Iterator[tuple[str, float, float, float]]:
    """What opening a long task takes, and writing an event."""
    yield opening(root, LONG, ROUNDS, OPENING)
    yield opening(root, LONGEST, 3, OPENING_LONGEST)
    log = Log(root / "new", "new")
    event = ev.UsageReported(usage=Usage(input=900, output=200), cost=0.012)
    many = lambda: [log.append(event) for _ in range(1000)]
    ours = statistics.median(took(many) for _ in range(ROUNDS)) / 1000
    line = codec.encode(log.append(event)) + b"\n"
    file = os.open(root / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    floor = statistics.median(took(lambda: [os.write(file, line) for _ in range(1000)]) for _ in range(ROUNDS)) / 1000
    os.close(file)
    log.close()
    yield "append an event, without sync", ours, floor, APPENDING


def opening(root: Path, events: int, rounds: int, limit: float) -> tuple[str, float, float, float]:
    count = write(root, f"long{events}", steps(random.Random(1), 1, events // 7), 1.79e9)

    def opened() -> None:
        log = Log(root / f"long{events}", "long")
        fold_events(log.load())
        log.close()

    data = root / f"long{events}" / codec.LOG_NAME
    floor = statistics.median(took(data.read_bytes) for _ in range(rounds))
    return f"open a task of {count:,} events", statistics.median(took(opened) for _ in range(rounds)), floor, limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS)
    count = parser.parse_args().tasks
    root = Path(tempfile.mkdtemp(prefix="halocline-history-"))
    try:
        rows = [*lists(root, count), *one_task(root)]
    finally:
        shutil.rmtree(root)
    print("| what | ms | floor, ms | limit, ms | |\n| --- | ---: | ---: | ---: | --- |")
    for name, ours, floor, limit in rows:
        print(f"| {name} | {ours:.3g} | {floor:.3g} | {limit:g} | {'met' if ours <= limit else 'MISSED'} |")
    return int(any(ours > limit for _, ours, _, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
