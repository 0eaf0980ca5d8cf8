"""Words of Halocline itself in a log: a replay takes them as recorded, and compares only the facts beside them.

A refusal says in other words today why it refused, and a path in it may be that of another home. Whether a call was
refused, asked about or run, by which rule, and what it did are facts.
"""

from typing import TypeVar

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.permission_rules import CommandPart, Grade
from halocline.protocol.state.state import State

E = TypeVar("E", bound=ev.Event)


def with_recorded_words(event: E, recorded: ev.Event | None, state: State) -> E:
    """Return an event of the loop with the words of the one recorded in its place; its facts stay."""
    match event, recorded:
        case ev.ApprovalRequested(), ev.ApprovalRequested():
            # Logs from before there were grades have the default.
            grade = event.grade if recorded.grade is not Grade.ORDINARY else recorded.grade
            parts = _with_recorded_reasons(event.parts, recorded.parts)
            return replace(event, title=recorded.title, reason=recorded.reason, parts=parts, grade=grade)
        case ev.ToolCallStarted(), ev.ToolCallStarted():
            return replace(event, title=recorded.title)
        case ev.ToolCallEnded(), ev.ToolCallEnded():
            is_ours = _is_answered_by_us(event, recorded, state)
            content = (recorded if is_ours else event).result.content
            return replace(event, for_person=recorded.for_person, result=replace(event.result, content=content))
        case ev.QuestionAsked(call=""), ev.QuestionAsked(call=""):
            return replace(event, question=recorded.question)
        case ev.TurnEnded(), ev.TurnEnded():
            return replace(event, text=recorded.text)
        case ev.McpToolRefused(), ev.McpToolRefused(model=""):
            return replace(event, model="")
        case ev.ErrorRaised(), ev.ErrorRaised():
            return replace(event, text=recorded.text, hint=recorded.hint)
    return event


def _is_answered_by_us(event: ev.ToolCallEnded, recorded: ev.ToolCallEnded, state: State) -> bool:
    """True if no tool answered the call: it never ran, or was cut short."""
    if (event.call, event.status) != (recorded.call, recorded.status) or event.status is CallStatus.COMPLETED:
        return False
    runs = any(opened.started for opened in state.pending.calls if opened.call.id == event.call)
    return not runs or event.status is not CallStatus.FAILED


def _with_recorded_reasons(
    parts: tuple[CommandPart, ...], recorded: tuple[CommandPart, ...]
) -> tuple[CommandPart, ...]:
    if len(parts) != len(recorded):
        return parts
    return tuple(replace(part, reason=then.reason) for part, then in zip(parts, recorded, strict=True))
