"""Export a task as a trajectory in ATIF 1.8, Harbor's format for what agents did: for evaluation and training.

A trajectory is the conversation that stands: what a person took back by a rewind is left out of the steps and counted
in the totals. Sub-agents are trajectories inside that of their parent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from halocline.protocol import events as ev
from halocline.protocol.errors import TaskNotFound
from halocline.protocol.events.subagents import SubagentStarted
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    UserPart,
)
from halocline.protocol.state.throughput import tokens_per_second
from halocline.protocol.values import JsonObject
from halocline.surfaces.export.conversation import Conversation, Entry, Reply, read_conversation

VERSION = "ATIF-v1.8"
PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Media types that the format takes."""
Past = Callable[[str], Iterable[ev.DurableEvent]]
KeepImage = Callable[[Image], str]


def to_trajectory(events: Iterable[ev.DurableEvent], past: Past, keep_image: KeepImage | None = None) -> JsonObject:
    """Return a task as a trajectory. `past` returns the events of a sub-agent, and raises TaskNotFound.

    `keep_image` stores an image and returns its path or address. Without it, and if it returns nothing, an image is
    named in words.
    """
    return _Trajectory(read_conversation(events), past, keep_image).to_wire()


class _Trajectory:
    def __init__(self, found: Conversation, past: Past, keep_image: KeepImage | None) -> None:
        self._found = found
        self._past = past
        self._keep_image = keep_image
        self._steps: list[JsonObject] = []
        self._children: dict[str, JsonObject] = {}

    def to_wire(self) -> JsonObject:
        found, started = self._found, self._found.started
        system = found.state.prompt.system
        if system and started:
            self._add(started, {"source": "system", "message": system})
        for entry in found.entries:
            self._add_entry(entry)
        if not self._steps:  # the format wants one
            self._steps.append({"source": "system", "message": ""})
        numbered = [{"step_id": number, **step} for number, step in enumerate(self._steps, 1)]
        return _without_none(
            {
                "schema_version": VERSION,
                "session_id": found.state.task,
                "trajectory_id": found.state.task,
                "agent": _describe_agent(found),
                "steps": numbered,
                "notes": _describe_left_out(found.taken_back),
                "final_metrics": _sum_up(found, len(numbered)),
                "subagent_trajectories": [*self._children.values()] or None,
            }
        )

    def _add(self, event: ev.DurableEvent, step: JsonObject) -> None:
        copied = self._found.started is not None and 0 < event.seq <= self._found.started.forked_at
        self._steps.append(
            _without_none({"timestamp": _format_time(event.at), **step, "is_copied_context": copied or None})
        )

    def _add_entry(self, entry: Entry) -> None:
        match entry.message:
            case UserMessage(content=content):
                self._add_user_message(entry.event, content)
            case AssistantMessage():
                self._add(entry.event, self._describe_reply(entry.message, entry.event, entry.reply))
            case ToolResult():
                self._add_result(entry.event, entry.message)
            case None:
                self._add(entry.event, _describe_between(entry.event))

    def _add_user_message(self, event: ev.DurableEvent, content: Sequence[UserPart]) -> None:
        """Add what a person sent, and what Halocline told the model beside it, as two steps."""
        person = [part for part in content if not isinstance(part, Note)]
        notes = [part for part in content if isinstance(part, Note)]
        if person:
            self._add(event, {"source": "user", "message": self._content(person)})
        if notes:
            extra = {"sources": [note.source for note in notes]}
            self._add(event, {"source": "system", "message": self._content(notes), "extra": extra})

    def _describe_reply(self, message: AssistantMessage, event: ev.DurableEvent, reply: Reply | None) -> JsonObject:
        thinking = "\n\n".join(part.text for part in message.content if isinstance(part, Thinking) and part.text)
        extra = {
            "stop_reason": message.stop_reason.value,
            "interrupted": message.interrupted or None,
            "refusal": message.refusal or None,
        }
        return {
            "source": "agent",
            "model_name": message.model or (reply.step.model if reply else None),
            "message": message.text,
            "reasoning_content": thinking or None,
            "tool_calls": [self._describe_call(call) for call in message.tool_calls] or None,
            "metrics": _describe_metrics(reply) if reply and reply.reports else None,
            "llm_call_count": max(1, len(reply.reports)) if reply else None,
            "extra": _without_none(extra),
        }

    def _describe_call(self, call: ToolCall) -> JsonObject:
        extra = {"malformed": call.malformed} if call.malformed else None
        described = {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments, "extra": extra}
        return _without_none(described)

    def _add_result(self, event: ev.DurableEvent, result: ToolResult) -> None:
        """Add a result to the step that asked for it; to one of its own if that step is gone."""
        described: JsonObject = {"source_call_id": result.call, "content": self._content(result.content)}
        described["subagent_trajectory_ref"] = self._refer_to_children(result.call) or None
        described["extra"] = _describe_end(self._found.calls.get(result.call, ()), result)
        for step in reversed(self._steps):
            if any(call["tool_call_id"] == result.call for call in step.get("tool_calls", ())):
                step.setdefault("observation", {"results": []})["results"].append(_without_none(described))
                return
        described["source_call_id"] = None
        observed = {"results": [_without_none(described)]}
        self._add(event, {"source": "system", "message": "", "observation": observed})

    def _refer_to_children(self, call: str) -> list[JsonObject]:
        started = [e for e in self._found.children.get(call, ()) if isinstance(e, SubagentStarted)]
        return [{"trajectory_id": e.child, "session_id": e.child} for e in started if self._embed(e.child)]

    def _embed(self, child: str) -> bool:
        """Embed the trajectory of a sub-agent, once. Return False if its log is gone."""
        if child not in self._children:
            try:
                past = [*self._past(child)]
            except TaskNotFound:
                return False
            self._children[child] = to_trajectory(past, self._past, self._keep_image)
        return True

    def _content(self, parts: Sequence[UserPart]) -> str | list[JsonObject]:
        """Return text as one string; with images, the parts in order."""
        if not any(isinstance(part, Image) for part in parts):
            return "\n".join(part.words for part in parts if not isinstance(part, Image))
        return [self._describe_part(part) for part in parts]

    def _describe_part(self, part: UserPart) -> JsonObject:
        match part:
            case Text() | Note():
                return {"type": "text", "text": part.words}
            case Image() if part.media_type in PICTURES and self._keep_image and (path := self._keep_image(part)):
                return {"type": "image", "source": {"media_type": part.media_type, "path": path}}
            case Image():
                return {"type": "text", "text": f"[an image, {part.media_type}, {part.blob}]"}


def _describe_agent(found: Conversation) -> JsonObject:
    started, state = found.started, found.state
    extra = {
        "mode": started.mode.value if started else None,
        "approval_mode": started.approval_mode.value if started else None,
        "imported_from": started.origin.tool if started and started.origin else None,
        "agent": state.subagents.subtask.name if state.subagents.subtask else None,
    }
    return _without_none(
        {
            "name": "halocline",
            "version": started.version if started else "unknown",
            "model_name": (started.model if started else "") or None,
            "extra": _without_none(extra) or None,
        }
    )


def _describe_between(event: ev.DurableEvent) -> JsonObject:
    match event:
        case ev.Compacted():
            text = "\n".join(part.words for part in event.content if not isinstance(part, Image))
            context = {"type": "compaction", "boundary": "replace", "tokens_before": event.before}
            context |= {"tokens_after": event.after, "cause": event.cause.value}
            return {"source": "system", "message": text, "extra": {"context_management": context}}
        case ev.ErrorRaised():
            return {"source": "system", "message": event.text, "extra": {"error": event.code}}
    raise TypeError(f"nothing says how {event} is exported")


def _describe_metrics(reply: Reply) -> JsonObject:
    usage = sum((event.usage for event in reply.reports), Usage())
    costs = [event.cost for event in reply.reports]
    last = reply.reports[-1]
    extra = {
        "cache_write_tokens": usage.cache_write or None,
        "reasoning_tokens": usage.reasoning or None,
        "seconds": round(last.at - reply.step.at, 3) if last.at else None,
        "first_token_seconds": last.first_token,
        "output_tokens_per_second": tokens_per_second(reply.step, last),
    }
    counted = _count_tokens(usage)
    cost = None if None in costs else sum(filter(None, costs))
    return _without_none({**counted, "cost_usd": cost, "extra": _without_none(extra) or None})


def _count_tokens(usage: Usage, name: str = "{}") -> JsonObject:
    counted = {"prompt_tokens": usage.input + usage.cache_read + usage.cache_write}
    counted |= {"completion_tokens": usage.output, "cached_tokens": usage.cache_read}
    return {name.format(key): value for key, value in counted.items()}


def _sum_up(found: Conversation, steps: int) -> JsonObject:
    cost = found.state.budget.known_cost
    totals = {**_count_tokens(found.usage, "total_{}"), "total_cost_usd": cost, "total_steps": steps}
    extra = {"known_cost_usd": found.state.budget.spent} if cost is None and found.state.budget.spent else None
    return _without_none({**totals, "extra": extra})


def _describe_end(events: Sequence[ev.DurableEvent], result: ToolResult) -> JsonObject:
    """Describe how a call ended: its status, its time, and who allowed it."""
    found: JsonObject = {"is_error": result.is_error or None}
    began: float | None = None
    for event in events:
        match event:
            case ev.ToolCallStarted():
                began = event.at
                found["allowed_by"] = event.rule or None
            case ev.ApprovalResolved():
                found["decision"], found["decided_by"] = event.decision.value, event.by
            case ev.ToolCallEnded():
                found["status"] = event.status.value
                found["seconds"] = round(event.at - began, 3) if began is not None else None
            case _:
                pass
    return _without_none(found)


def _describe_left_out(taken_back: int) -> str | None:
    if not taken_back:
        return None
    return f"Replies that a rewind took back are left out of the steps ({taken_back}); final_metrics counts them."


def _format_time(at: float) -> str | None:
    return datetime.fromtimestamp(at, UTC).isoformat() if at else None


def _without_none(fields: JsonObject) -> JsonObject:
    return dict(_list_set(fields))


def _list_set(fields: JsonObject) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in fields.items() if value is not None)
