"""The state of a task: derived from its events (`reducer`), and from nothing else.

`loose_ends` lists the events that close all open calls, approvals and questions, at the end of a turn or when a log
is opened after a crash.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev, messages as msg
from halocline.protocol.events.labels import Labels
from halocline.protocol.events.mcp import McpSampled, McpServer, McpToolRefused, Sampled
from halocline.protocol.kinds import CallStatus, Choice
from halocline.protocol.permission_rules import OtherRoot
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.draft import interrupted_message, list_deltas
from halocline.protocol.state.evidence.facts import EvidenceState
from halocline.protocol.state.files import FilesState
from halocline.protocol.state.goal import GoalState
from halocline.protocol.state.host import HostState, JobsState, UserCommandsState
from halocline.protocol.state.message_queue import QueueState
from halocline.protocol.state.pending import OpenCall, PendingState
from halocline.protocol.state.permissions import PermissionsState
from halocline.protocol.state.plan import PlanState
from halocline.protocol.state.points import HistoryState
from halocline.protocol.state.prompt import ModelState, PromptState
from halocline.protocol.state.subagents import SubagentsState
from halocline.protocol.state.turn import AnswerState, TurnState
from halocline.protocol.values import Value


class McpState(Value, frozen=True):
    """Servers, as last offered, their requests to the model, and names of tools that the server of a model refused."""

    servers: tuple[McpServer, ...] = ()
    sampled: Sampled = Sampled()
    refused: Mapping[str, frozenset[str]] = {}

    def with_server(self, server: McpServer) -> "McpState":
        """Return the state with a server's offer; a tool that was refused may be offered again if it changed."""
        kept = tuple(known for known in self.servers if known.name != server.name)
        before = {tool.name: tool for known in self.servers if known not in kept for tool in known.tools}
        changed = {tool.name for tool in server.tools if not tool.is_offered_as(before.get(tool.name, tool))}
        refused = {model: names - changed for model, names in self.refused.items()}
        return replace(self, servers=(*kept, server), refused=refused)

    def without_tool(self, event: McpToolRefused) -> "McpState":
        """Return the state with a tool left out for a model."""
        return replace(self, refused={**self.refused, event.model: self.refused_by(event.model) | {event.tool}})

    def refused_by(self, model: str) -> frozenset[str]:
        """Return the names of the tools that the server of a model refused."""
        return self.refused.get("", frozenset()) | self.refused.get(model, frozenset())

    def after_sampling(self, event: McpSampled) -> "McpState":
        return replace(self, sampled=self.sampled.after(event))


UNKNOWN_OUTCOME = (
    "Interrupted before this call ended. Its outcome is unknown: it may or may not have taken effect. "
    "Check before relying on it or repeating it."
)
NOT_RUN = "Interrupted before this call was run. Nothing happened."
PROCESS_ENDED = "The process ended."
"""Text of a turn's end that was written after a crash, by the process that reopened the task."""
CARRY_ON = "Continue where you left off."
"""The prompt that is offered in a task whose last turn was cut short."""
COMPACTION_CUT = "compaction_cut"
"""Code of the error that ends an interrupted compaction."""
TIME_IS_UP = "The time limit is reached."
"""Text of a turn's end when the time limit interrupted something."""


class State(Value, frozen=True):
    """Everything known about a task, in groups: `state.GROUP` is in `protocol/state/`, where its events are applied.

    `seq` and `last_at` change with every event, `messages` and `draft` with most: in a group, they would cost more.
    """

    task: str = ""
    seq: int = 0
    started_at: float = 0.0
    last_at: float = 0.0
    workspace: str = ""
    trace: str = ""
    roots: tuple[str, ...] = ()
    labels: Labels = Labels()
    messages: Sequence[msg.Message] = ()
    draft: Any = None
    turn: TurnState | None = None
    last_end: ev.TurnEnded | None = None
    answer: AnswerState = AnswerState()
    model: ModelState = ModelState()
    prompt: PromptState = PromptState()
    plan: PlanState = PlanState()
    budget: BudgetState = BudgetState()
    pending: PendingState = PendingState()
    queue: QueueState = QueueState()
    permissions: PermissionsState = PermissionsState()
    files: FilesState = FilesState()
    compaction: CompactionState = CompactionState()
    history: HistoryState = HistoryState()
    host: HostState = HostState()
    jobs: JobsState = JobsState()
    user_commands: UserCommandsState = UserCommandsState()
    mcp: McpState = McpState()
    subagents: SubagentsState = SubagentsState()
    evidence: EvidenceState = EvidenceState()
    goal: GoalState = GoalState()

    @property
    def is_asking(self) -> bool:
        """True if a turn waits for a person, or did until a message or another process came and nothing ran since."""
        pending = self.pending
        waits = (pending.gap or pending.interjected) and not any(opened.started for opened in pending.calls)
        return self.turn is not None and bool(pending.approvals or pending.questions or waits)

    @property
    def other_roots(self) -> tuple[OtherRoot, ...]:
        """The task's folders beside its workspace, with their ignore lines."""
        lines = {root.path: root.ignored for root in self.permissions.rules.roots}
        return tuple(OtherRoot(path, lines.get(path, ())) for path in self.roots)

    @property
    def turn_is_over(self) -> bool:
        return self.turn is None or self.turn.is_over

    @property
    def last_message(self) -> msg.AssistantMessage:
        """The latest reply. Raises LookupError if there is none."""
        for message in reversed(self.messages):
            if isinstance(message, msg.AssistantMessage):
                return message
        raise LookupError("no reply yet")

    @property
    def owes_reply(self) -> bool:
        """True if a message to the model came after its latest reply and the results of its calls."""
        return bool(self.messages) and isinstance(self.messages[-1], msg.UserMessage)

    @property
    def is_empty(self) -> bool:
        """True if nothing was said or done in the task."""
        return not (self.messages or self.queue.messages or self.user_commands.started) and self.last_end is None

    @property
    def title(self) -> str:
        """The task's name, or the first line of its first prompt or command."""
        if self.labels.name:
            return self.labels.name
        for message in self.messages:
            if isinstance(message, msg.UserMessage):
                words = "".join(part.text for part in message.content if isinstance(part, msg.Text)).strip()
                return words.split("\n", 1)[0][:120]
        if self.queue.messages:
            return self.queue.messages[0].text.strip().split("\n", 1)[0][:120]
        commands: tuple[ev.OwnCommandStarted | ev.OwnCommandEnded, ...]
        commands = (*self.user_commands.running, *self.user_commands.unreported)
        ran = commands[0].command if commands else ""
        return f"!{ran}".split("\n", 1)[0][:120] if ran else ""


def loose_ends(state: State) -> tuple[ev.DurableEvent, ...]:
    """Return the events that end every open approval, question and call, and that keep the draft."""
    ends: list[ev.DurableEvent] = []
    if state.compaction.running:
        ends.append(ev.ErrorRaised(code=COMPACTION_CUT, text="Compaction was interrupted; nothing changed."))
    if message := interrupted_message(list_deltas(state.draft), state.model.name):
        ends.append(ev.AssistantMessageCompleted(message=message))
    for approval in state.pending.approvals:
        ends.append(
            ev.ApprovalResolved(
                request=approval.request,
                call=approval.call,
                decision=Choice.REJECT_ONCE,
                by="interrupt",
                agent=approval.agent,
            )
        )
    ends += [ev.QuestionAnswered(request=asked.request, answer="", by="interrupt") for asked in state.pending.questions]
    ends += [cut_short(open_call) for open_call in state.pending.calls]
    return tuple(ends)


def lost_calls(state: State) -> tuple[ev.ToolCallEnded, ...]:
    """Return the ends of calls that ran when their process died, except those that only waited for an answer."""
    asking = {asked.call for asked in state.pending.questions}
    return tuple(cut_short(one) for one in state.pending.calls if one.started and one.call.id not in asking)


def cut_short(open_call: OpenCall) -> ev.ToolCallEnded:
    """Return the end of a call that was interrupted."""
    call = open_call.call
    text = UNKNOWN_OUTCOME if open_call.started else NOT_RUN
    result = msg.ToolResult(call=call.id, content=(msg.Text(text),), is_error=True)
    return ev.ToolCallEnded(call=call.id, name=call.name, status=CallStatus.CANCELLED, result=result)
