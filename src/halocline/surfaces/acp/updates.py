"""Events of a task as ACP session updates. Pure.

Text that was streamed is not sent again when its message is complete.
"""

import os
from collections.abc import Awaitable, Callable, Iterator

from acp import schema

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import CallStatus, Diff, Location, ToolKind
from halocline.protocol.messages import Text, Thinking, ToolResult, UserPart
from halocline.surfaces.acp.content import (
    ReadImage,
    ToolContent,
    list_prompt_blocks,
    list_result_content,
    make_compaction,
    make_content,
    make_message,
    make_text,
    make_thought,
)
from halocline.surfaces.acp.diffs import split_hunks
from halocline.surfaces.row_kinds import CompactionRow
from halocline.surfaces.sanitize import reveal

Update = (
    schema.UserMessageChunk
    | schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.UsageUpdate
    | schema.SessionInfoUpdate
    | schema.AvailableCommandsUpdate
    | schema.CurrentModeUpdate
    | schema.ConfigOptionUpdate
)
Send = Callable[[Update], Awaitable[None]]
MOST_OUTPUT = 16_000
"""Characters of a running command's output that an update repeats: its end."""
_STATUS: dict[CallStatus, schema.ToolCallStatus] = {CallStatus.COMPLETED: "completed"}


class Updates:
    """Turns the events of one session, in their order, into updates. `workspace` makes paths absolute.

    `cost` is that of the task so far. While it `replays`, the events are past ones, and are part of that cost.
    """

    def __init__(self, workspace: str, read_image: ReadImage, *, cost: float | None = 0.0) -> None:
        self._workspace = workspace
        self._read_image = read_image
        self.replays = False
        self.own_turns: set[str] = set()
        """Names of the turns whose prompts the client has sent itself."""
        self._streamed = {"text": "", "thinking": ""}
        self._outputs: dict[str, str] = {}
        self._lanes: dict[str, dict[str, str]] = {}
        self._known: set[str] = set()
        self._cost = cost

    def of(self, event: ev.Event) -> Iterator[Update]:
        """Yield the updates for one event."""
        match event:
            case ev.TurnStarted(content=content, name=name) if name not in self.own_turns:
                yield from self._of_prompt(content)
            case ev.SteeringReceived(content=content):
                yield from self._of_prompt(content)
            case ev.TextDelta(text=text):
                self._streamed["text"] += text
                yield make_message(text)
            case ev.ThinkingDelta(text=text):
                self._streamed["thinking"] += text
                yield make_thought(text)
            case ev.StepStarted():
                self._streamed = {"text": "", "thinking": ""}
            case ev.StepRetried(cause=cause):
                self._streamed = {"text": "", "thinking": ""}
                yield make_thought(f"\n\n(The request failed: {cause} Trying again.)\n\n")
            case ev.AssistantMessageCompleted():
                yield from self._of_reply(event)
            case ev.TodosChanged():
                yield make_plan(event)
            case ev.UsageReported() | ev.McpSampled() | ev.SideQuestionAnswered():
                yield from self._of_usage(event)
            case ev.TaskLabelled(name=str(name)) if name:
                yield schema.SessionInfoUpdate(title=name, session_update="session_info_update")
            case ev.ErrorRaised():
                yield make_message(f"\n\n{event.text} {event.hint}".rstrip() + "\n")
            case ev.Compacted(cause=cause, before=before, after=after):
                yield make_compaction(CompactionRow(cause, before, after))
            case ev.CompactionUndone():
                yield make_compaction(CompactionRow())
            case ev.ConversationRestored(to=to):
                yield make_thought(
                    f"The conversation was rewound to event {to}; what came after it no longer counts.\n"
                )
            case ev.Noticed(text=text) | ev.CheckpointFailed(text=text):
                yield make_thought(f"{text}\n")
            case _:
                yield from self._of_call(event)

    def _of_prompt(self, content: tuple[UserPart, ...]) -> Iterator[Update]:
        for block in list_prompt_blocks(content, self._read_image):
            yield schema.UserMessageChunk(content=block, session_update="user_message_chunk")

    def _of_reply(self, event: ev.AssistantMessageCompleted) -> Iterator[Update]:
        """Yield the parts of a reply that were not streamed."""
        for part in event.message.content:
            if isinstance(part, Text) and part.text and not self._streamed["text"]:
                yield make_message(part.text)
            if isinstance(part, Thinking) and part.text and not self._streamed["thinking"]:
                yield make_thought(part.text)
        self._streamed = {"text": "", "thinking": ""}

    def _of_usage(self, event: ev.UsageReported | ev.McpSampled | ev.SideQuestionAnswered) -> Iterator[Update]:
        self._add_cost(event.cost)
        if isinstance(event, ev.UsageReported) and event.window and not self.replays:
            yield make_usage(event.usage.total, event.window, self._cost)

    def _add_cost(self, cost: float | None) -> None:
        if not self.replays:
            self._cost = None if self._cost is None or cost is None else self._cost + cost

    def _of_call(self, event: ev.Event) -> Iterator[Update]:
        match event:
            case ev.ToolCallDelta(call=call, name=name) if name and call not in self._known:
                self._known.add(call)
                yield schema.ToolCallStart(tool_call_id=call, title=name, status="pending", session_update="tool_call")
            case ev.EditPreviewed(call=call, path=path, lines=lines) if path:
                title = f"Edit {path}  +{event.added} −{event.removed}"
                content: list[ToolContent] | None = [make_content("\n".join(lines), "diff")] if lines else None
                at = [self._make_location(Location(path, event.line))]
                yield from self._show_call(call, title, "edit", locations=at, content=content)
            case ev.ApprovalRequested():
                yield from self._show_call(
                    event.call, event.title, to_kind(event.kind), content=self.describe_request(event)
                )
            case ev.ToolCallStarted():
                locations = [self._make_location(one) for one in event.locations] or None
                yield from self._show_call(
                    event.call, event.title, to_kind(event.kind), status="in_progress", locations=locations
                )
            case ev.ToolCallProgressed(call=call, text=text):
                self._outputs[call] = (self._outputs.get(call, "") + text)[-MOST_OUTPUT:]
                yield from self._show_call(call, content=[make_content(self._outputs[call], "console")])
            case ev.ToolCallEnded():
                self._outputs.pop(event.call, None)
                yield from self._show_call(
                    event.call,
                    status=_STATUS.get(event.status, "failed"),
                    content=self._describe_result(event.result, event.diffs),
                )
            case SubagentStarted() | SubagentProgressed() | SubagentEnded():
                yield from self._of_subagent(event)

    def _of_subagent(self, event: SubagentStarted | SubagentProgressed | SubagentEnded) -> Iterator[Update]:
        """Yield the call of a sub-agent with a line for each sub-agent that it started."""
        lanes = self._lanes.setdefault(event.call, {})
        match event:
            case SubagentStarted(name=name):
                lanes[event.child] = f"{name}: started"
            case SubagentProgressed(doing=doing):
                name = lanes.get(event.child, event.child).partition(":")[0]
                lanes[event.child] = f"{name}: {doing}"
            case SubagentEnded(name=name):
                self._add_cost(event.cost)
                lanes[event.child] = f"{name}: {event.end} {event.problem}".rstrip()
        yield from self._show_call(event.call, content=[make_content("\n".join(lanes.values()), "text")])

    def _show_call(
        self,
        call: str,
        title: str | None = None,
        kind: schema.ToolKind | None = None,
        *,
        status: schema.ToolCallStatus | None = None,
        locations: list[schema.ToolCallLocation] | None = None,
        content: list[ToolContent] | None = None,
    ) -> Iterator[Update]:
        """Yield the first update of a call, or a later one, which has only what changed."""
        if call in self._known:
            yield schema.ToolCallProgress(
                tool_call_id=call,
                title=reveal(title) if title else None,
                kind=kind,
                status=status,
                locations=locations,
                content=content,
                session_update="tool_call_update",
            )
            return
        self._known.add(call)
        yield schema.ToolCallStart(
            tool_call_id=call,
            title=reveal(title or "A tool call"),
            kind=kind,
            status=status or "pending",
            locations=locations,
            content=content,
            session_update="tool_call",
        )

    def describe_request(self, event: ev.ApprovalRequested) -> list[ToolContent]:
        """Return what a person has to see to decide on a call: all of it, with the reason why it is asked.

        Characters that a reader would not see are spelled out.
        """
        found: list[ToolContent] = []
        if event.kind is ToolKind.EXECUTE:
            place = f"\n(in {event.place})" if event.place else ""
            found.append(make_content(reveal(event.title + place), "console"))
        elif event.detail:
            found.append(make_content(reveal(event.detail), "text"))
        found += self._make_diffs(event.diffs)
        sandbox = f" {event.sandbox}" if event.sandbox else ""
        return [
            *found,
            schema.ContentToolCallContent(content=make_text(reveal(f"{event.reason}{sandbox}")), type="content"),
        ]

    def _describe_result(self, result: ToolResult, diffs: tuple[Diff, ...]) -> list[ToolContent]:
        if diffs and not result.is_error:
            return self._make_diffs(diffs)
        return list_result_content(result.text, result.content, self._read_image)

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


def make_plan(event: ev.TodosChanged) -> schema.AgentPlanUpdate:
    """Return the to-do list as a plan."""
    entries = [schema.PlanEntry(content=todo.text, priority="medium", status=todo.status.value) for todo in event.todos]
    return schema.AgentPlanUpdate(entries=entries, session_update="plan")


def make_usage(used: int, size: int, cost: float | None) -> schema.UsageUpdate:
    """Return the tokens in the context window, of its size, and the cost so far in US dollars."""
    price = None if cost is None else schema.Cost(amount=round(cost, 6), currency="USD")
    return schema.UsageUpdate(used=used, size=size, cost=price, session_update="usage_update")
