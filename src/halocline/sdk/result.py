"""The result of a run, and the typed value in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from halocline.client import history
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import CallStatus, Diff
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.sdk.values import build_schema, convert_value, describe_type
from halocline.surfaces.restore_plan import STAYS

T = TypeVar("T")
NO_TOKENS = Usage()
WRAPPED = "value"
"""The key of a value that is no object itself: an answer is always an object."""


class TaskFailed(HaloclineError):
    """A run ended with an error, or without the value that was asked for. `result` is what there is of it."""

    code = "task_failed"

    def __init__(self, text: str, hint: str = "", result: "Result[Any] | None" = None) -> None:
        super().__init__(text, hint)
        self.result = result


class Refused(Value, frozen=True):
    """A call that was not allowed: the tool, its arguments, and what the model was told."""

    tool: str
    arguments: JsonObject
    text: str


class Restored(Value, frozen=True):
    """The outcome of a restore: the files that `changed`, and those that stay although they differ, each with why."""

    changed: tuple[str, ...] = ()
    kept: Mapping[str, str] = {}


class Turns:
    """The turns of one run, as their events come: the state `before` and `after` them."""

    def __init__(self, state: State) -> None:
        self.before = self.after = state
        self.events: list[ev.DurableEvent] = []
        self._name = ""

    def add(self, event: ev.Event, turn: str) -> bool:
        """Take an event. False if it is of no turn of the run: others may come first, and between two."""
        if isinstance(event, ev.TurnStarted):
            self._name = event.name
        is_ours = self._name == turn
        if isinstance(event, ev.Transient):
            return is_ours
        self.after = reduce_event(self.after, event)
        if is_ours:
            self.events.append(event)
        elif not self.events:
            self.before = self.after
        return is_ours


class Result(Generic[T]):
    """The outcome of a run.

    Attributes:
        text: the final answer.
        ended: why it ended: `end_turn`, or a limit, a refusal, an interrupt, an error.
        limit: the limit that ended it, if one did: `steps`, `cost`, `time` and so on.
        reason: the same in a sentence, if a limit or an error ended it.
        cost: US dollars of this run; None if a price is unknown.
        tokens: the tokens of this run.
        steps: the model's requests in this run.
        changes: the files that changed, each as a unified diff.
        events: all events of this run that the log keeps.
        tool_errors: what functions of tools raised, with their tracebacks; the model read each as a failure.
        task: the id of the task, by which it can be resumed.
        error: what went wrong; None if nothing did.
    """

    def __init__(
        self,
        *,
        task: str,
        text: str = "",
        ended: StopReason = StopReason.ERROR,
        limit: str = "",
        reason: str = "",
        cost: float | None = 0.0,
        tokens: Usage = NO_TOKENS,
        steps: int = 0,
        changes: Sequence[Diff] = (),
        events: Sequence[ev.DurableEvent] = (),
        tool_errors: Sequence[BaseException] = (),
        error: TaskFailed | None = None,
        value: Any = None,
    ) -> None:
        self.task = task
        self.text = text
        self.ended = ended
        self.limit = limit
        self.reason = reason
        self.cost = cost
        self.tokens = tokens
        self.steps = steps
        self.changes = tuple(changes)
        self.events = tuple(events)
        self.error = error
        self.tool_errors = tuple(tool_errors)
        self._refusal = ""
        """Why the type refuses the answer, although that fits its schema; empty if it does not."""
        self._value = value

    def __repr__(self) -> str:
        return f"<Result of {self.task}: {self.ended.value}, {self.text[:60]!r}>"

    @property
    def value(self) -> T:
        """The answer in the type that was asked for; None if none was. Raises TaskFailed if there is no such answer."""
        if self.error:
            raise self.error
        value: T = self._value
        return value

    @property
    def refused(self) -> tuple[Refused, ...]:
        """The calls that were not allowed."""
        replies = (event.message for event in self.events if isinstance(event, ev.AssistantMessageCompleted))
        given = {call.id: call.arguments for reply in replies for call in reply.tool_calls}
        ends = (event for event in self.events if isinstance(event, ev.ToolCallEnded))
        refused = (end for end in ends if end.status is CallStatus.REJECTED)
        return tuple(Refused(end.name, given.get(end.call, {}), end.result.text) for end in refused)


def wanted_schema(kind: Any) -> JsonObject:
    """Return the schema of the answer for a type. Raises UsageError."""
    schema = build_schema(kind)
    if schema.get("type") == "object":
        return schema
    definitions = schema.pop("$defs", None)
    whole: JsonObject = {"type": "object", "properties": {WRAPPED: schema}, "required": [WRAPPED]}
    return whole | ({"$defs": definitions} if definitions else {})


def read_restored(restored: history.Restored) -> Restored:
    """Return what the program reads of a restore."""
    stay = {path: why for field, why in STAYS.items() for path in getattr(restored, field)}
    return Restored(restored.changed, stay | {one.path: one.why for one in restored.left_out})


def read_result(turns: Turns, kind: Any, changes: Sequence[Diff], folder: Path) -> Result[Any]:
    """Build the result of the turns of a run."""
    before, after, events = turns.before, turns.after, turns.events
    end = after.last_end
    spent, was = after.budget, before.budget
    result: Result[Any] = Result(
        task=after.task,
        text=final_text(after),
        ended=end.reason if end else StopReason.ERROR,
        limit=end.limit if end else "",
        reason=end.text if end else "",
        cost=None if spent.cost is None or was.cost is None else round(spent.cost - was.cost, 6),
        tokens=_subtract(spent.usage, was.usage),
        steps=spent.steps - was.steps,
        changes=changes,
        events=events,
    )
    result.error = _find_error(result, events)
    if kind is not None and result.error is None:
        _read_value(result, after, kind, folder)
    return result


def _find_error(result: Result[Any], events: Sequence[ev.DurableEvent]) -> TaskFailed | None:
    if result.ended is not StopReason.ERROR:
        return None
    raised = next((event for event in reversed(events) if isinstance(event, ev.ErrorRaised)), None)
    text, hint = (raised.text, raised.hint) if raised else (result.reason or "The run failed.", "")
    return TaskFailed(text, hint, result)


def _read_value(result: Result[Any], state: State, kind: Any, folder: Path) -> None:
    accepted = state.answer.accepted
    if accepted is None:
        why = f" {result.reason}" if result.limit else ""
        hint = "See result.text for what the model said, and result.events for the problems."
        result.error = TaskFailed(f"The model gave no {describe_type(kind)}.{why}", hint, result)
        return
    try:
        is_wrapped = build_schema(kind).get("type") != "object"
        result._value = convert_value(accepted[WRAPPED] if is_wrapped else accepted, kind, folder)
    except (ValueError, TypeError) as error:
        result._refusal = str(error)
        text = f"The answer fits the schema of {describe_type(kind)}, but is none: {error}"
        result.error = TaskFailed(text, "Say in the type, or in the prompt, what is allowed.", result)


def _subtract(now: Usage, before: Usage) -> Usage:
    return replace(
        now,
        input=now.input - before.input,
        output=now.output - before.output,
        cache_read=now.cache_read - before.cache_read,
        cache_write=now.cache_write - before.cache_write,
        reasoning=now.reasoning - before.reasoning,
    )
