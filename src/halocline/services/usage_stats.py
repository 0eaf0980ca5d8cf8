"""Usage of tasks by day, by model and by tool, read from their logs.

Only recent logs are read, up to a bound, and of each only the lines that count. A fork repeats the events of its
source, which count once; a price that is unknown is never 0.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from halocline.protocol import codec, json_input
from halocline.protocol.messages import Usage
from halocline.protocol.values import Value

MOST_TASKS = 2000
MOST_BYTES = 1_000_000_000
COUNTED = tuple(
    f'{{"type":"{kind}"'.encode()
    for kind in (
        "turn_started",
        "step_started",
        "usage_reported",
        "mcp_sampled",
        "side_question_answered",
        "tool_call_ended",
        "task_started",
    )
)
FAILED = frozenset({"failed", "rejected"})


class Amount(msgspec.Struct):
    """Requests to models, tokens, and the cost in US dollars (None if nothing is known) without `unpriced` requests."""

    requests: int = 0
    tokens: int = 0
    cost: float | None = None
    unpriced: int = 0

    def add(self, usage: Usage, cost: float | None) -> None:
        self.merge(Amount(1, usage.total, cost, int(cost is None)))

    def merge(self, more: "Amount") -> None:
        self.requests += more.requests
        self.tokens += more.tokens
        self.cost = self.cost if more.cost is None else (self.cost or 0.0) + more.cost
        self.unpriced += more.unpriced


class ToolUse(msgspec.Struct):
    """Calls of a tool, and those that failed or were refused."""

    calls: int = 0
    failed: int = 0


class UsageStats(msgspec.Struct):
    """Amounts by day (`2026-11-23`), and by model; tools by name; the tasks and turns of each day.

    `left_out` counts the logs that were not read because of the bound.
    """

    days: dict[str, Amount] = {}
    models: dict[str, Amount] = {}
    tools: dict[str, ToolUse] = {}
    tasks: dict[str, set[str]] = {}
    turns: dict[str, int] = {}
    left_out: int = 0


class _Line(Value, frozen=True):
    type: str
    seq: int = 0
    at: float = 0.0
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    name: str = ""
    status: str = ""
    forked_at: int = 0
    subtask: dict[str, object] | None = None


_line = json_input.Decoder(_Line, deepest=None)


def collect_stats(
    tasks: Path, since: float, *, most_tasks: int = MOST_TASKS, most_bytes: int = MOST_BYTES
) -> UsageStats:
    """Read the logs that changed since then, the newest first."""
    stats = UsageStats()
    logs = sorted(_list_logs(tasks, since), reverse=True)
    read = 0
    for number, (_, size, path) in enumerate(logs):
        read += size
        if number >= most_tasks or read > most_bytes:
            stats.left_out = len(logs) - number
            break
        _add_log(stats, path, since)
    return stats


def _list_logs(tasks: Path, since: float) -> Iterator[tuple[float, int, Path]]:
    for entry in os.scandir(tasks) if tasks.exists() else ():
        path = Path(entry.path) / codec.LOG_NAME
        try:
            found = path.stat()
        except OSError:
            continue
        if found.st_mtime >= since:
            yield found.st_mtime, found.st_size, path


def _add_log(stats: UsageStats, path: Path, since: float) -> None:
    model, forked_at, is_subagent = "", 0, False
    for line in _read_lines(path):
        if line.type == "task_started":
            forked_at, is_subagent = line.forked_at, line.subtask is not None
        elif line.type == "step_started":
            model = line.model
        elif line.seq > forked_at and line.at >= since:
            _add_line(stats, line, model, path.parent.name, is_subagent=is_subagent)


def _read_lines(path: Path) -> Iterator[_Line]:
    try:
        with path.open("rb") as file:
            for line in file:
                if line.startswith(COUNTED):
                    try:
                        yield _line.decode(line)
                    except msgspec.DecodeError:
                        continue
    except OSError:
        return


def _add_line(stats: UsageStats, line: _Line, model: str, task: str, *, is_subagent: bool) -> None:
    day = time.strftime("%Y-%m-%d", time.localtime(line.at))
    match line.type:
        case "turn_started" if not is_subagent:
            stats.turns[day] = stats.turns.get(day, 0) + 1
            stats.tasks.setdefault(day, set()).add(task)
        case "usage_reported" | "mcp_sampled" | "side_question_answered":
            stats.days.setdefault(day, Amount()).add(line.usage, line.cost)
            stats.models.setdefault(line.model or model, Amount()).add(line.usage, line.cost)
        case "tool_call_ended":
            tool = stats.tools.setdefault(line.name, ToolUse())
            tool.calls += 1
            tool.failed += line.status in FAILED
