"""The events of a log as spans, by the conventions of OpenTelemetry for generative AI.

A turn is `invoke_agent`, a request to a model `chat`, a call `execute_tool`; approvals and questions (the wait for a
person), compactions, hooks, checkpoints and commands of the person are spans, too. Each is made once, by the event
that ends it. Without `contents`, no span has words of a person, a model or a tool, and no path.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.traces import contents
from halocline.protocol.traces.attributes import (
    Attributes,
    count_usage,
    describe_request,
    describe_tool,
    name_finish,
)
from halocline.protocol.traces.context import context_of, name_span
from halocline.protocol.traces.tool_names import ToolNames
from halocline.protocol.values import Value

AGENT = "halocline"
SUBAGENT = "subagent"
"""The name of an agent that is described nowhere: the model names it."""
_COMMAND = "command "


class Span(Value, frozen=True):
    """A finished span. Times are Unix seconds; `error` is its class, empty if it ended well. `calls_out`: to a server.

    The `attributes` in `words` hold texts of people, models and tools.
    """

    name: str
    trace: str
    id: str
    start: float
    end: float
    parent: str = ""
    attributes: Attributes = {}
    words: Mapping[str, str] = {}
    error: str = ""
    calls_out: bool = False
    recorded: bool = True


class _Open(msgspec.Struct):
    """A span that has begun."""

    name: str
    id: str
    start: float
    parent: str
    attributes: dict[str, str | int | float | bool | tuple[str, ...]]
    words: dict[str, str]
    calls_out: bool = False


def list_spans(
    events: Iterable[ev.DurableEvent], *, contents: bool = False, tools: Iterable[str] = ()
) -> Iterator[Span]:
    """Yield the spans of a log; those still open end with its last event."""
    projection = SpanProjection(contents=contents, tools=tools)
    for event in events:
        yield from projection.add(event)
    yield from projection.end_all("unfinished")


class SpanProjection:
    """Folds events into spans. Spans that a fork shares with its source are the source's."""

    def __init__(self, *, contents: bool = False, after: int = 0, tools: Iterable[str] = ()) -> None:
        """Yield spans that end after event `after`. `tools` are those that all tasks have."""
        self._tools = ToolNames(tools)
        self._contents = contents
        self._after = after
        self._open: dict[str, _Open] = {}
        self._task, self._given, self._agent, self._version, self._server = "", "", AGENT, "", ""
        self._model = ""
        self._usage: ev.UsageReported | None = None
        self._mcp: dict[str, str] = {}
        self._at = 0.0

    def add(self, event: ev.Event) -> list[Span]:
        """Take in an event, in order; return the spans that it ends."""
        if not isinstance(event, ev.Durable):
            return []
        self._at = event.at or self._at
        self._task = self._task or event.task
        self._tools.learn(event)
        spans = self._fold(event)
        return spans if event.seq > self._after else []

    def end_all(self, error: str) -> list[Span]:
        """End all open spans, the inner ones first."""
        return [span for key in reversed([*self._open]) for span in self._end(key, error=error)]

    def _fold(self, event: ev.DurableEvent) -> list[Span]:
        match event:
            case ev.TaskStarted():
                self._start_task(event)
            case ev.ModelChanged():
                self._model = event.model
            case ev.McpOffered():
                self._mcp |= {tool.name: tool.server for tool in event.server.tools}
            case ev.TurnStarted():
                self._begin_turn(event)
            case ev.TurnEnded():
                return self._end_turn(event)
            case ev.StepStarted():
                return self._begin_request(event)
            case ev.UsageReported():
                self._usage = event
                self._note_usage("request", event.usage, event.cost)
            case ev.AssistantMessageCompleted():
                return self._end_request(event)
            case ev.McpSampled() | ev.SideQuestionAnswered():
                return self._note_request(event)
            case ev.ErrorRaised():
                return self._end("request", error=event.code) + self._end("compaction", error=event.code)
            case _:
                return self._fold_call(event)
        return []

    def _fold_call(self, event: ev.DurableEvent) -> list[Span]:
        match event:
            case ev.ToolCallStarted():
                self._begin_call(event)
            case ev.ToolCallEnded():
                return self._end_call(event)
            case ev.ApprovalRequested():
                noted = {"halocline.rule": event.rule, "halocline.grade": event.grade.value}
                described = {**self._describe_tool(event), **noted}
                self._begin(f"approval {event.request}", f"approval {described['gen_ai.tool.name']}", described)
            case ev.ApprovalResolved():
                noted = {"halocline.decision": event.decision.value, "halocline.decided_by": event.by}
                return self._end(f"approval {event.request}", noted)
            case ev.QuestionAsked():
                self._begin(f"question {event.request}", "question", {})
            case ev.QuestionAnswered():
                return self._end(f"question {event.request}", {"halocline.decided_by": event.by})
            case _:
                return self._fold_other(event)
        return []

    def _fold_other(self, event: ev.DurableEvent) -> list[Span]:
        match event:
            case ev.CompactionStarted():
                noted: Attributes = {"halocline.cause": event.cause.value, "halocline.tokens_before": event.tokens}
                self._begin("compaction", "compaction", noted)
            case ev.Compacted():
                if "compaction" not in self._open:  # one without a summary asks no model
                    self._begin("compaction", "compaction", {"halocline.cause": event.cause.value})
                return self._end("compaction", {"halocline.tokens_after": event.after})
            case ev.CheckpointTaken() | ev.CheckpointRestored():
                name = "checkpoint" if isinstance(event, ev.CheckpointTaken) else "restore"
                return self._note(event, name, {"halocline.checkpoint": event.checkpoint})
            case ev.CheckpointFailed():
                return self._note(event, "checkpoint", error="checkpoint_failed")
            case ev.HookRan():
                noted = {"halocline.hook": event.moment.value, "halocline.status": event.status.value}
                return self._note(event, f"hook {event.moment}", noted, seconds=event.seconds)
            case ev.GoalChecked():
                return self._note(event, "goal", {"halocline.status": event.verdict.value}, seconds=event.seconds)
            case ev.OwnCommandStarted():
                self._begin(f"{_COMMAND}{event.run}", "command", {})
            case ev.OwnCommandEnded():
                return self._end(f"{_COMMAND}{event.run}", {"halocline.exit_code": event.exit_code or 0})
        return []

    def _start_task(self, event: ev.TaskStarted) -> None:
        self._task, self._given, self._version = event.task, event.trace, event.version
        self._model, self._server = event.model, event.server
        self._after = max(self._after, event.forked_at)
        if event.subtask:
            self._agent = event.subtask.agent or SUBAGENT

    def _begin_turn(self, event: ev.TurnStarted) -> None:
        self._model = self._model or ""
        noted: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._agent,
            "gen_ai.agent.version": self._version,
            **describe_request(self._model, ""),
        }
        words = {"gen_ai.input.messages": contents.encode_parts("user", event.content)} if self._contents else {}
        self._open.pop("turn", None)
        self._begin("turn", f"invoke_agent {self._agent}", noted, key=f"turn {event.seq}", words=words)

    def _end_turn(self, event: ev.TurnEnded) -> list[Span]:
        cut = "cancelled" if event.reason is StopReason.CANCELLED else "unfinished"
        of_turn = [key for key in reversed([*self._open]) if key != "turn" and not key.startswith(_COMMAND)]
        inner = [span for key in of_turn for span in self._end(key, error=cut)]
        noted: Attributes = {"halocline.stop_reason": event.reason.value, "halocline.limit": event.limit}
        error = "error" if event.reason is StopReason.ERROR else ""
        return inner + self._end("turn", noted, error=error)

    def _begin_request(self, event: ev.StepStarted) -> list[Span]:
        cut = self._end("request", error="unfinished")
        self._model, self._usage = event.model, None
        noted: Attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.stream": True}
        described = describe_request(event.model, self._server)
        name = f"chat {described.get('gen_ai.request.model', '')}".rstrip()
        self._begin("request", name, {**noted, **described}, key=f"request {event.seq}", calls_out=True)
        return cut

    def _end_request(self, event: ev.AssistantMessageCompleted) -> list[Span]:
        message, noted = event.message, dict[str, str | int | float | bool | tuple[str, ...]]()
        noted["gen_ai.response.finish_reasons"] = (name_finish(message),)
        if message.model:
            noted["gen_ai.response.model"] = message.model
        if self._usage and self._usage.first_token is not None:
            noted["gen_ai.response.time_to_first_chunk"] = self._usage.first_token
        words = {"gen_ai.output.messages": contents.encode_reply(message)} if self._contents else {}
        return self._end("request", noted, words=words, error="cancelled" if message.interrupted else "")

    def _note_request(self, event: ev.McpSampled | ev.SideQuestionAnswered) -> list[Span]:
        """Make a span of a request beside the conversation; the log has its end only."""
        noted = {"gen_ai.operation.name": "chat", **describe_request(event.model, ""), **count_usage(event.usage)}
        if event.cost is not None:
            noted["halocline.cost_usd"] = event.cost
        return self._note(event, f"chat {noted.get('gen_ai.request.model', '')}".rstrip(), noted, calls_out=True)

    def _note_usage(self, key: str, usage: Usage, cost: float | None) -> None:
        if opened := self._open.get(key) or self._open.get("compaction"):
            opened.attributes.update(count_usage(usage))
            if cost is not None:
                opened.attributes["halocline.cost_usd"] = cost

    def _begin_call(self, event: ev.ToolCallStarted) -> None:
        noted = self._describe_tool(event) | {"halocline.rule": event.rule}
        words = {"halocline.title": event.title, "halocline.runs": event.runs} if self._contents else {}
        self._begin(f"call {event.call}", f"execute_tool {noted['gen_ai.tool.name']}", noted, words=words)

    def _end_call(self, event: ev.ToolCallEnded) -> list[Span]:
        key = f"call {event.call}"
        if key not in self._open:  # it never ran
            noted = self._describe_tool(event)
            self._begin(key, f"execute_tool {noted['gen_ai.tool.name']}", noted)
        words = {"gen_ai.tool.call.result": event.result.text} if self._contents else {}
        failed = "tool_error" if event.status is CallStatus.FAILED else event.status.value
        error = "" if event.status is CallStatus.COMPLETED else failed
        return self._end(key, {"halocline.status": event.status.value}, words=words, error=error)

    def _describe_tool(
        self, event: ev.ToolCallStarted | ev.ToolCallEnded | ev.ApprovalRequested
    ) -> dict[str, str | int | float | bool | tuple[str, ...]]:
        name = self._tools.find(event.name)
        return describe_tool(event, name, self._mcp.get(name, ""))

    def _begin(
        self,
        name: str,
        title: str,
        attributes: Attributes,
        *,
        key: str = "",
        words: dict[str, str] | None = None,
        calls_out: bool = False,
    ) -> None:
        """Begin a span. `name` is what ends it, `key` what its id is made of."""
        opened = _Open(title, name_span(self._task, key or name), self._at, self._parent, dict(attributes), words or {})
        opened.calls_out = calls_out
        self._open[name] = opened

    @property
    def _parent(self) -> str:
        turn = self._open.get("turn")
        return turn.id if turn else context_of(self._task, self._given).span

    def _end(
        self, name: str, attributes: Attributes | None = None, *, words: dict[str, str] | None = None, error: str = ""
    ) -> list[Span]:
        """End a span, if it was begun."""
        if (opened := self._open.pop(name, None)) is None:
            return []
        return [
            self._make(opened, {**opened.attributes, **(attributes or {})}, {**opened.words, **(words or {})}, error)
        ]

    def _note(
        self,
        event: ev.DurableEvent,
        name: str,
        attributes: Attributes | None = None,
        *,
        seconds: float = 0.0,
        error: str = "",
        calls_out: bool = False,
    ) -> list[Span]:
        """Make a span of one event, which ended it."""
        span = name_span(self._task, f"event {event.seq}")
        opened = _Open(name, span, self._at - seconds, self._parent, {}, {}, calls_out)
        return [self._make(opened, attributes or {}, {}, error)]

    def _make(self, opened: _Open, attributes: Attributes, words: Mapping[str, str], error: str) -> Span:
        context = context_of(self._task, self._given)
        noted = {"gen_ai.conversation.id": self._task, **attributes}
        return Span(
            opened.name,
            context.trace,
            opened.id,
            opened.start,
            max(self._at, opened.start),
            opened.parent,
            {name: value for name, value in noted.items() if value != ""},
            {name: value for name, value in words.items() if value},
            error,
            opened.calls_out,
            context.recorded,
        )
