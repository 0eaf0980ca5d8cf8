"""Figures of all tasks for Prometheus, counted from events: requests, tokens, cost, calls, errors and durations.

`Metrics` is pure: any events fill one. `MetricsCollector` fills one from the logs of a home, whichever
processes write them. Counts begin with it, as Prometheus expects of a process that starts.
"""

import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import Usage
from halocline.protocol.traces.tool_names import ToolNames
from halocline.tools import toolset

SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3600.0)
"""Upper bounds of durations in histograms."""
MOST_VALUES = 200
"""Values that a label has; what comes later is counted as OTHER."""
OTHER = "other"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]
_HELP = {
    "halocline_tasks": ("gauge", "Tasks by state."),
    "halocline_turns_total": ("counter", "Turns that ended, by reason."),
    "halocline_requests_total": ("counter", "Requests to models."),
    "halocline_unpriced_requests_total": ("counter", "Requests whose price is unknown."),
    "halocline_tokens_total": ("counter", "Tokens; input are those that no cache had."),
    "halocline_cost_dollars_total": ("counter", "US dollars of the requests whose price is known."),
    "halocline_tool_calls_total": ("counter", "Tool calls, by how they ended."),
    "halocline_errors_total": ("counter", "Errors that people were shown, by class."),
    "halocline_request_seconds": ("histogram", "From a request to the end of its reply, failed attempts included."),
    "halocline_tool_seconds": ("histogram", "Time that a call ran."),
    "halocline_approval_seconds": ("histogram", "Time that a call waited for a decision."),
    "halocline_turn_seconds": ("histogram", "Time from a prompt to the end of its turn."),
}


class _Histogram(msgspec.Struct):
    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """Counts events of any number of tasks, each task's in order.

    What a fork shares with its source is counted there only. Labels have names that a model was offered, and not many.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._costs: dict[Labels, float] = {}
        self._times: dict[tuple[str, Labels], _Histogram] = {}
        self._began: dict[tuple[str, str], float] = {}
        self._models: dict[str, str] = {}
        self._copied: dict[str, int] = {}
        self._tools = ToolNames(toolset.OURS)
        self._values: dict[str, set[str]] = {}

    def learn(self, event: ev.DurableEvent) -> None:
        """Take in what later events need of one that is not counted."""
        self._tools.learn(event)
        match event:
            case ev.TaskStarted():
                self._copied[event.task] = event.forked_at
            case ev.StepStarted():
                self._models[event.task] = event.model
            case _:
                pass

    def add(self, event: ev.DurableEvent) -> None:
        """Count one event."""
        self.learn(event)
        if event.seq <= self._copied.get(event.task, -1):
            return
        match event:
            case ev.StepStarted():
                self._count("requests_total", model=event.model)
                self._begin(event, "request")
            case ev.AssistantMessageCompleted():
                self._end(event, "request", "request_seconds", model=self._models.get(event.task, ""))
            case ev.UsageReported():
                self._add_usage(self._models.get(event.task, ""), event.usage, event.cost)
            case ev.McpSampled() | ev.SideQuestionAnswered():
                self._count("requests_total", model=event.model)
                self._add_usage(event.model, event.usage, event.cost)
            case ev.ToolCallStarted():
                self._begin(event, event.call)
            case ev.ToolCallEnded():
                self._count("tool_calls_total", tool=(tool := self._tools.find(event.name)), status=event.status.value)
                self._end(event, event.call, "tool_seconds", tool=tool)
            case ev.ErrorRaised():
                self._count("errors_total", code=event.code)
            case _:
                self._add_wait(event)

    def _add_wait(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted():
                self._begin(event, "turn")
            case ev.TurnEnded():
                self._count("turns_total", reason=event.reason.value)
                self._end(event, "turn", "turn_seconds")
                for key in [key for key in self._began if key[0] == event.task]:
                    del self._began[key]
            case ev.ApprovalRequested():
                self._begin(event, f"approval {event.request}")
            case ev.ApprovalResolved():
                self._end(event, f"approval {event.request}", "approval_seconds", decided_by=event.by)
            case _:
                pass

    def render(self, tasks: Mapping[str, int]) -> str:
        """Return all figures as Prometheus reads them; `tasks` are numbers of tasks by state."""
        return "".join(f"{line}\n" for line in self._list_lines(tasks))

    def _list_lines(self, tasks: Mapping[str, int]) -> Iterator[str]:
        values: dict[tuple[str, Labels], float] = {("halocline_tasks", (("state", s),)): n for s, n in tasks.items()}
        values |= self._counts
        values |= {("halocline_cost_dollars_total", labels): round(cost, 6) for labels, cost in self._costs.items()}
        for name, (kind, text) in _HELP.items():
            yield f"# HELP {name} {text}"
            yield f"# TYPE {name} {kind}"
            yield from (
                f"{name}{_format_labels(at)} {value:.15g}" for (one, at), value in values.items() if one == name
            )
            for (one, labels), times in self._times.items():
                if one == name:
                    yield from _list_buckets(name, labels, times)

    def _add_usage(self, model: str, usage: Usage, cost: float | None) -> None:
        kinds = {"input": usage.input, "output": usage.output, "cache_read": usage.cache_read}
        for kind, tokens in {**kinds, "cache_write": usage.cache_write}.items():
            self._count("tokens_total", tokens, model=model, kind=kind)
        if cost is None:
            self._count("unpriced_requests_total", model=model)
        else:
            labels = self._bound({"model": model})
            self._costs[labels] = self._costs.get(labels, 0.0) + cost

    def _count(self, name: str, number: int = 1, **labels: str) -> None:
        self._counts[f"halocline_{name}", self._bound(labels)] += number

    def _bound(self, labels: Mapping[str, str]) -> Labels:
        """Return labels of which none has more than MOST_VALUES values."""
        return tuple((name, self._keep_value(name, value)) for name, value in labels.items())

    def _keep_value(self, name: str, value: str) -> str:
        kept = self._values.setdefault(name, set())
        if value not in kept and len(kept) >= MOST_VALUES:
            return OTHER
        kept.add(value)
        return value

    def _begin(self, event: ev.Durable, key: str) -> None:
        self._began[event.task, key] = event.at

    def _end(self, event: ev.Durable, key: str, name: str, **labels: str) -> None:
        if (began := self._began.pop((event.task, key), None)) is not None:
            times = self._times.setdefault((f"halocline_{name}", self._bound(labels)), _Histogram())
            times.add(max(0.0, event.at - began))


class MetricsCollector:
    """Counts what is added to the logs of a home from `since` on. Any thread may ask."""

    def __init__(self, tasks: Path, since: float) -> None:
        self._metrics = Metrics()
        self._collecting = threading.Lock()
        self._tasks = tasks
        self._since = since
        self._read: dict[str, int] = {}

    def render(self, tasks: Mapping[str, int]) -> str:
        """Take in what was written since the last time, and return all figures. It reads files: run it in a thread."""
        with self._collecting:
            self._collect()
            return self._metrics.render(tasks)

    def _collect(self) -> None:
        for entry in os.scandir(self._tasks) if self._tasks.exists() else ():
            path = Path(entry.path) / codec.LOG_NAME
            try:
                found = path.stat()
                if found.st_mtime >= self._since and found.st_size > self._read.get(entry.name, 0):
                    self._add_log(path, entry.name)
            except OSError:  # it was deleted meanwhile
                continue

    def _add_log(self, path: Path, task: str) -> None:
        with path.open("rb") as file:
            file.seek(self._read.get(task, 0))
            for line in file:
                if not line.endswith(b"\n"):  # still being written
                    break
                self._read[task] = self._read.get(task, 0) + len(line)
                try:
                    event = codec.decode(line)
                except msgspec.DecodeError:  # `halo doctor` says so
                    continue
                if event.at >= self._since:
                    self._metrics.add(event)
                else:
                    self._metrics.learn(event)


def _list_buckets(name: str, labels: Labels, times: _Histogram) -> Iterator[str]:
    total = 0
    for bound, count in zip((*(f"{bound:g}" for bound in SECONDS), "+Inf"), times.counts, strict=True):
        total += count
        yield f"{name}_bucket{_format_labels((*labels, ('le', bound)))} {total}"
    yield f"{name}_sum{_format_labels(labels)} {times.total:.15g}"
    yield f"{name}_count{_format_labels(labels)} {total}"


def _format_labels(labels: Labels) -> str:
    inside = ",".join(f'{name}="{_escape(value)}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
