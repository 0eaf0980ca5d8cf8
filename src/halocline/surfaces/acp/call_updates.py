"""Events of tool calls as ACP session updates. Pure.

What clients differ in: some keep a call's first title, so a call is not shown before it has one that a person
understands; some show only `rawInput` and `rawOutput`, or take nothing but objects there.
"""

import os
from collections.abc import Iterator
from itertools import takewhile

from acp import schema

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import CallStatus, Diff, Location, ToolKind
from halocline.protocol.messages import ToolCall, ToolResult
from halocline.protocol.permission_rules import Grade
from halocline.surfaces.acp.content import ReadImage, ToolContent, list_result_content, make_content, make_text
from halocline.surfaces.acp.diffs import split_hunks
from halocline.surfaces.acp.permissions import explain_always
from halocline.surfaces.figures import name_grade
from halocline.surfaces.rows.words import UNSTARTED, describe_unstarted, name_unstarted
from halocline.surfaces.sanitize import reveal

CallUpdate = schema.ToolCallStart | schema.ToolCallProgress
MOST_OUTPUT = 16_000
"""Characters of a running command's output that an update repeats: its end."""
_STATUS: dict[CallStatus, schema.ToolCallStatus] = {CallStatus.COMPLETED: "completed"}
_NOT_RUN = (CallStatus.REJECTED, CallStatus.SKIPPED)


class CallUpdates:
    """The updates of the calls of one session. `workspace` makes paths absolute."""

    def __init__(self, workspace: str, read_image: ReadImage) -> None:
        self._workspace = workspace
        self._read_image = read_image
        self._outputs: dict[str, str] = {}
        self._lanes: dict[str, dict[str, str]] = {}
        self._known: set[str] = set()
        self._titles: dict[str, str] = {}
        """Titles of calls that were not shown yet, for those that never start."""
        self._written: list[str] = []
        """Calls that the model has begun to write in its message, in their order."""

    def begin_message(self) -> None:
        """Forget what was written: the model writes its message, or writes it again."""
        self._written.clear()

    def of_message(self, event: ev.AssistantMessageCompleted) -> Iterator[CallUpdate]:
        """Yield the calls of a complete message in their order, up to one whose title only its start tells."""
        calls = [part for part in event.message.content if isinstance(part, ToolCall) and part.id not in self._known]
        self._titles.update({call.id: describe_unstarted(call) for call in calls})
        for call in takewhile(lambda call: call.name in UNSTARTED, calls):
            yield self._show(call.id)

    def of(self, event: ev.Event) -> Iterator[CallUpdate]:
        """Yield the updates for one event."""
        match event:
            case ev.ToolCallDelta(call=call) if call not in self._written:
                self._written.append(call)
            case ev.EditPreviewed(call=call, path=path, lines=lines) if path and self._is_next(call):
                content: list[ToolContent] | None = [make_content("\n".join(lines), "diff")] if lines else None
                at = [self._make_location(Location(path, event.line))]
                yield self._show(call, name_unstarted(event.name, path), "edit", locations=at, content=content)
            case ev.ApprovalRequested(call=call, title=title, kind=kind):
                yield self._show(call, title, to_kind(kind), content=self._list_request_content(event))
            case ev.ApprovalResolved(call=call, decision=decision, agent=agent) if agent:
                yield self._show(call, status="failed" if decision.refuses else "completed")
            case ev.ToolCallStarted(call=call, title=title, kind=kind):
                locations = [self._make_location(one) for one in event.locations] or None
                yield self._show(call, title, to_kind(kind), status="in_progress", locations=locations)
            case ev.ToolCallProgressed(call=call, text=text):
                self._outputs[call] = (self._outputs.get(call, "") + text)[-MOST_OUTPUT:]
                yield self._show(call, content=[make_content(self._outputs[call], "console")])
            case ev.ToolCallEnded():
                yield self._end(event)
            case SubagentStarted() | SubagentProgressed() | SubagentEnded():
                yield self._of_subagent(event)

    def describe_request(self, event: ev.ApprovalRequested) -> schema.ToolCallUpdate:
        """Return the call that a person decides on, with all that they need: some clients show only this."""
        locations = [schema.ToolCallLocation(path=self._make_path(diff.path)) for diff in event.diffs]
        return schema.ToolCallUpdate(
            tool_call_id=event.call,
            title=reveal(name_grade(event.grade if event.grade.is_grave else Grade.ORDINARY, event.title, event.agent)),
            kind=to_kind(event.kind),
            status="pending",
            locations=locations or None,
            content=self._list_request_content(event),
            raw_input=_make_raw_input(event),
        )

    def _is_next(self, call: str) -> bool:
        """Return whether all calls before this one are shown: a client shows them as they come."""
        before = takewhile(lambda other: other != call, self._written)
        return all(other in self._known for other in before)

    def _end(self, event: ev.ToolCallEnded) -> CallUpdate:
        self._outputs.pop(event.call, None)
        has_diffs = bool(event.diffs) and not event.result.is_error
        return self._show(
            event.call,
            self._titles.pop(event.call, None),
            status=_STATUS.get(event.status, "failed"),
            content=self._make_diffs(event.diffs) if has_diffs else self._list_result(event),
            raw_output=None if has_diffs else _make_raw_output(event.result),
        )

    def _of_subagent(self, event: SubagentStarted | SubagentProgressed | SubagentEnded) -> CallUpdate:
        """Return the call of a sub-agent with a line for each sub-agent that it started."""
        lanes = self._lanes.setdefault(event.call, {})
        match event:
            case SubagentStarted(name=name):
                lanes[event.child] = f"{name}: started"
            case SubagentProgressed(doing=doing):
                name = lanes.get(event.child, event.child).partition(":")[0]
                lanes[event.child] = f"{name}: {doing}"
            case SubagentEnded(name=name):
                lanes[event.child] = f"{name}: {event.end} {event.problem}".rstrip()
        return self._show(event.call, content=[make_content("\n".join(lanes.values()), "text")])

    def _show(
        self,
        call: str,
        title: str | None = None,
        kind: schema.ToolKind | None = None,
        *,
        status: schema.ToolCallStatus | None = None,
        locations: list[schema.ToolCallLocation] | None = None,
        content: list[ToolContent] | None = None,
        raw_output: dict[str, list[str]] | None = None,
    ) -> CallUpdate:
        """Return the first update of a call, or a later one, which has only what changed."""
        if call in self._known:
            return schema.ToolCallProgress(
                tool_call_id=call,
                title=reveal(title) if title else None,
                kind=kind,
                status=status,
                locations=locations,
                content=content,
                raw_output=raw_output,
                session_update="tool_call_update",
            )
        self._known.add(call)
        noted = self._titles.pop(call, None)
        return schema.ToolCallStart(
            tool_call_id=call,
            title=reveal(title or noted or "A tool call"),
            kind=kind,
            status=status or "pending",
            locations=locations,
            content=content,
            raw_output=raw_output,
            session_update="tool_call",
        )

    def _list_request_content(self, event: ev.ApprovalRequested) -> list[ToolContent]:
        """Return what a person has to see to decide on a call: all of it, and the reason why it is asked.

        Characters that a reader would not see are spelled out. A reason that is not an ordinary one comes first.
        """
        sandbox = f" {event.sandbox}" if event.sandbox else ""
        reason = _make_prose(reveal(f"{name_grade(event.grade, event.reason, event.agent)}{sandbox}"))
        is_ordinary = event.grade is Grade.ORDINARY
        found: list[ToolContent] = [] if is_ordinary else [reason]
        if event.kind is ToolKind.EXECUTE:
            place = f"\n(in {event.place})" if event.place else ""
            found.append(make_content(reveal(event.title + place), "console"))
        elif event.detail:
            found.append(make_content(reveal(event.detail), "text"))
        found += self._make_diffs(event.diffs)
        found += [reason] if is_ordinary else []
        if rule := explain_always(event):
            found.append(_make_prose(rule))
        return found

    def _list_result(self, event: ev.ToolCallEnded) -> list[ToolContent]:
        """Return a result; one of a call that did not run is a sentence for the person."""
        if event.status in _NOT_RUN:
            return [_make_prose(reveal(event.for_person or event.result.text))]
        return list_result_content(event.result.text, event.result.content, self._read_image)

    def _make_diffs(self, diffs: tuple[Diff, ...]) -> list[ToolContent]:
        return [
            schema.FileEditToolCallContent(path=self._make_path(diff.path), old_text=old, new_text=new, type="diff")
            for diff in diffs
            for old, new in split_hunks(diff.text)
        ]

    def _make_location(self, place: Location) -> schema.ToolCallLocation:
        return schema.ToolCallLocation(path=self._make_path(place.path), line=place.line)

    def _make_path(self, path: str) -> str:
        return os.path.join(self._workspace, path)


def to_kind(kind: ToolKind) -> schema.ToolKind:
    """Return the kind of a tool; ours have the values of ACP."""
    match kind.value:
        case "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" as value:
            return value
    return "other"


def _make_prose(text: str) -> ToolContent:
    return schema.ContentToolCallContent(content=make_text(text), type="content")


def _make_raw_input(event: ev.ApprovalRequested) -> dict[str, str] | None:
    """Return what a call would do. Some clients show this and not the content, and shorten paths in the title."""
    if event.kind is ToolKind.EXECUTE:
        place = {"cwd": reveal(event.place)} if event.place else {}
        return {"command": reveal(event.title), **place}
    return {"input": reveal(event.detail)} if event.detail else None


def _make_raw_output(result: ToolResult) -> dict[str, list[str]]:
    """Return the text of a result in lines, because clients print it as JSON."""
    return {"output": result.text.splitlines()}
