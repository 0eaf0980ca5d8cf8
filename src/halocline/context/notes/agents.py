"""Notes on the agents of a tree: how each ended, what it reported and changed, and its messages."""

from collections.abc import Sequence

from halocline.protocol.events.subagents import AgentMessaged, LaneEnd, SubagentEnded
from halocline.protocol.messages import AssistantMessage, Message, Note, Text, UserMessage

CONVERSATION, SHORT = 60_000, 600
"""Characters of a conversation that an agent knows, and of one call or result in it."""
LONGEST = 40_000
"""Characters of one report; the rest is in the sub-agent's own log."""

_ENDS = {
    LaneEnd.DONE: "",
    LaneEnd.LIMIT: "Reached a limit before it was done",
    LaneEnd.STOPPED: "Stopped before it was done",
    LaneEnd.FAILED: "Failed",
}


def describe_end(ended: SubagentEnded, said: str, remarks: Sequence[str] = ()) -> str:
    """Describe one agent: its name and what it took, how it ended, its report, and its changes for a review."""
    took = f"{ended.steps} step{'s' * (ended.steps != 1)}, {ended.usage.total:,} tokens"
    took += f", ${ended.cost:.4f}" if ended.cost else ""
    if len(said) > LONGEST:
        said = f"{said[:LONGEST]}\n[{len(said) - LONGEST:,} more characters are in task {ended.child}]"
    lines = [f"{ended.name} ({took})", *(f"[{remark}]" for remark in remarks)]
    if how := _ENDS[ended.end]:
        lines.append(f"[{how}{f': {ended.problem}' if ended.problem else '.'}]")
    return "\n".join([*lines, said or "[No report.]", *filter(None, (ended.review,))])


def note_reports(news: Sequence[AgentMessaged | SubagentEnded]) -> Note:
    """Build the note on messages that arrived, and on agents in the background that ended."""
    return Note("\n\n".join(map(_describe_one, news)), source="agents")


def note_conversation(messages: Sequence[Message]) -> Note:
    """Build the note with which an agent knows a conversation: its newest part, with short results of calls."""
    texts: list[str] = []
    left = CONVERSATION
    for message in reversed(messages):
        text = _describe_message(message)
        if (left := left - len(text)) < 0:
            texts.append("[Earlier messages are left out.]")
            break
        texts.append(text)
    told = "\n\n".join(text for text in reversed(texts) if text)
    return Note(f"The conversation of the task that started you, up to now:\n\n{told}", source="agents")


def _describe_message(message: Message) -> str:
    match message:
        case UserMessage(content=content):
            said = "".join(part.text for part in content if isinstance(part, Text))
            return f"User: {said}" if said else ""
        case AssistantMessage():
            calls = [f"[called {call.name} {call.arguments}]"[:SHORT] for call in message.tool_calls]
            return "\n".join(filter(None, (f"Agent: {message.text}" if message.text else "", *calls)))
    return f"Result: {message.text[:SHORT]}"


def _describe_one(one: AgentMessaged | SubagentEnded) -> str:
    if isinstance(one, AgentMessaged):
        return f"Message from the agent {one.sender}:\n{one.text}"
    return f"An agent in the background ended: {describe_end(one, one.report)}"
