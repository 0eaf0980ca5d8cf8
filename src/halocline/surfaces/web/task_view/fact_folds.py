"""Folds events into facts. Pure, but for what `FactFold` keeps."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from halocline.client.history import name_checkpoint
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.kinds import CallStatus, Todo
from halocline.protocol.messages import Text, Usage, UserPart
from halocline.protocol.state.message_queue import QueuedMessage, QueueState, follow_queue
from halocline.protocol.state.todo_markdown import at_work
from halocline.protocol.values import Value
from halocline.surfaces.web.page_words import tell_page
from halocline.surfaces.web.task_view.facts import (
    CheckpointFact,
    DecisionFact,
    EndFact,
    Failure,
    JobFact,
    PromptFact,
    QueuedFact,
    Retry,
    RewindFact,
    RunningTool,
    TaskFacts,
    TurnFact,
    Waiting,
)

LONGEST_TITLE, LONGEST_PROMPT = 120, 4_000
Fold = Callable[[TaskFacts, Any], TaskFacts]


class _Past(Value, frozen=True):
    """State from event `seq` on that a rewind brings back."""

    seq: int
    todos: tuple[Todo, ...] = ()
    step: str = ""
    context: int = 0
    last: EndFact | None = None


class FactFold:
    """The facts after the events so far."""

    def __init__(self) -> None:
        self.facts = TaskFacts()
        self._asked: set[str] = set()
        self._written: set[str] = set()
        self._past = [_Past(0)]
        self._queue = QueueState()

    def take(self, event: ev.Event) -> None:
        """Fold an event."""
        facts = self.facts
        if isinstance(event, ev.Durable) and event.seq:
            facts = replace(facts, seq=event.seq)
        match event:
            case ev.ApprovalRequested():
                self._asked.add(event.call)
            case ev.TurnStarted():
                self._written.clear()
            case ev.ToolCallStarted() if event.call not in self._asked:
                facts = replace(facts, unasked=facts.unasked | {event.kind: facts.unasked.get(event.kind, 0) + 1})
            case ev.FileChanged():
                facts = self._note_file(facts, event.path)
        fold = _FOLDS.get(type(event))
        facts = fold(facts, event) if fold else facts
        if (queue := follow_queue(self._queue, event)) is not self._queue:
            self._queue = queue
            facts = replace(facts, queue=tuple(map(_make_queued, queue.messages)))
        if isinstance(event, ev.ConversationRestored):
            facts = self._go_back(facts, event.to)
        self._remember(facts)
        self.facts = facts

    def _go_back(self, facts: TaskFacts, to: int) -> TaskFacts:
        """Restore the to-do list, the size of the context and the end of the newest turn as of event `to`."""
        then = next(past for past in reversed(self._past) if past.seq <= to)
        return replace(facts, todos=then.todos, step=then.step, context=then.context, last=then.last)

    def _remember(self, facts: TaskFacts) -> None:
        now = _Past(facts.seq, facts.todos, facts.step, facts.context, facts.last)
        if replace(now, seq=self._past[-1].seq) != self._past[-1]:
            self._past.append(now)

    def set_left_rows(self, ranges: tuple[tuple[int, int], ...]) -> None:
        """Note the rows that rewinds left behind."""
        self.facts = replace(self.facts, left=ranges)

    def _note_file(self, facts: TaskFacts, path: str) -> TaskFacts:
        if path not in facts.changed:
            facts = replace(facts, changed=(*facts.changed, path))
        self._written.add(path)
        return _change_turn(facts, files=len(self._written))


def _change_turn(f: TaskFacts, **fields: Any) -> TaskFacts:
    return replace(f, turns=(*f.turns[:-1], replace(f.turns[-1], **fields))) if f.turns else f


def _spend(f: TaskFacts, usage: Usage, cost: float | None) -> TaskFacts:
    return replace(f, usage=f.usage + usage, cost=_add_costs(f.cost, cost), spent=f.spent + (cost or 0.0))


def _add_costs(known: float | None, more: float | None) -> float | None:
    return None if known is None or more is None else known + more


def _join_text(content: tuple[UserPart, ...]) -> str:
    return "".join(part.text for part in content if isinstance(part, Text)).strip()


def _shorten_title(text: str) -> str:
    return text.split("\n", 1)[0][:LONGEST_TITLE]


def _task_started(f: TaskFacts, e: ev.TaskStarted) -> TaskFacts:
    f = replace(f, workspace=e.workspace, model=e.model, mode=e.mode, approvals=e.approval_mode, roots=e.roots)
    if e.subtask:
        f = replace(f, parent=e.subtask.parent, title=e.subtask.name)
    return replace(f, window=e.window or f.window)


def _make_queued(message: QueuedMessage) -> QueuedFact:
    attached = len(message.attachments)
    return QueuedFact(message.id, message.text, attached, message.steers, message.is_held, message.reason)


def _turn_started(f: TaskFacts, e: ev.TurnStarted) -> TaskFacts:
    text = _join_text(e.content)
    return replace(
        f,
        title=_shorten_title(text) if not f.title or f.title.startswith("!") else f.title,
        prompts=(*f.prompts, _make_prompt(e)),
        turns=(*f.turns, TurnFact(e.seq)),
        running=True,
        begun=e.seq,
        since=e.at,
        activity="model",
        error=None,
    )


def _steering_received(f: TaskFacts, e: ev.SteeringReceived) -> TaskFacts:
    return replace(f, prompts=(*f.prompts, _make_prompt(e, steering=True)))


def _make_prompt(e: ev.TurnStarted | ev.SteeringReceived, *, steering: bool = False) -> PromptFact:
    text = _join_text(e.content)
    return PromptFact(e.seq, e.at, text[:LONGEST_PROMPT], steering, is_cut=len(text) > LONGEST_PROMPT)


def _turn_ended(f: TaskFacts, e: ev.TurnEnded) -> TaskFacts:
    end = EndFact(e.seq, e.reason, e.text, e.failed)
    return replace(_change_turn(f, end=e.seq), running=False, activity="", last=end, waiting=())


def _on_usage(f: TaskFacts, e: ev.UsageReported) -> TaskFacts:
    if f.turns:
        f = _change_turn(f, cost=_add_costs(f.turns[-1].cost, e.cost))
    return replace(_spend(f, e.usage, e.cost), context=e.usage.total, window=e.window or f.window)


def _on_spending(f: TaskFacts, e: ev.McpSampled | ev.SideQuestionAnswered | SubagentEnded) -> TaskFacts:
    return _spend(f, e.usage, e.cost)


def _start_call(f: TaskFacts, e: ev.ToolCallStarted) -> TaskFacts:
    return replace(f, activity="tool", tool=RunningTool(e.name, _shorten_title(e.title), e.kind), activity_since=e.at)


def _end_call(f: TaskFacts, e: ev.ToolCallEnded) -> TaskFacts:
    if e.name == "attempt_completion" and e.status is CallStatus.COMPLETED:
        f = _change_turn(f, finished=True)
    return replace(f, activity="model")


def _ask_approval(f: TaskFacts, e: ev.ApprovalRequested) -> TaskFacts:
    asked = Waiting("approval", e.request, e.call, e.title, e.kind, e.reason, e.rule, e.grant, e.wider)
    return replace(f, waiting=(*f.waiting, asked))


def _resolve_approval(f: TaskFacts, e: ev.ApprovalResolved) -> TaskFacts:
    decision = DecisionFact(e.seq, e.request, e.by, e.client, e.decision, e.at)
    return replace(_settle(f, e.request), decided=(*f.decided, decision))


def _ask_question(f: TaskFacts, e: ev.QuestionAsked) -> TaskFacts:
    asked = Waiting("question", e.request, e.call, question=e.question, options=e.options)
    return replace(f, waiting=(*f.waiting, asked))


def _settle(f: TaskFacts, request: str) -> TaskFacts:
    return replace(f, waiting=tuple(one for one in f.waiting if one.request != request))


def _take_checkpoint(f: TaskFacts, e: ev.CheckpointTaken) -> TaskFacts:
    if e.root:
        return f
    return replace(f, checkpoints=(*f.checkpoints, CheckpointFact(e.seq, e.at, e.checkpoint, name_checkpoint(e.label))))


def _add_rewind(f: TaskFacts, rewind: RewindFact) -> TaskFacts:
    return replace(f, rewinds=(*f.rewinds, rewind))


def _add_job(f: TaskFacts, job: str, command: str, call: str) -> TaskFacts:
    return replace(_drop_job(f, job), jobs=(*_drop_job(f, job).jobs, JobFact(job, command, call))) if job else f


def _drop_job(f: TaskFacts, job: str) -> TaskFacts:
    return replace(f, jobs=tuple(one for one in f.jobs if one.job != job))


def _label(f: TaskFacts, e: ev.TaskLabelled) -> TaskFacts:
    name = f.name if e.name is None else e.name
    return replace(f, name=name, favourite=f.favourite if e.favourite is None else e.favourite)


def _todos_changed(f: TaskFacts, e: ev.TodosChanged) -> TaskFacts:
    step = at_work(e.todos)
    return replace(f, todos=e.todos, step=step.text if step else "")


def _retry(f: TaskFacts, e: ev.StepRetried) -> TaskFacts:
    return replace(f, activity="retry", retry=Retry(e.cause, e.wait, e.attempt))


_FOLDS: dict[type, Fold] = {
    ev.TaskStarted: _task_started,
    ev.TaskAdopted: lambda f, e: replace(f, model=e.model, mode=e.mode, approvals=e.approval_mode),
    ev.Imported: lambda f, e: replace(f, model=""),
    ev.WorkspaceMoved: lambda f, e: replace(f, workspace=e.workspace),
    ev.RootsChanged: lambda f, e: replace(f, roots=e.roots),
    ev.TaskLabelled: _label,
    ev.TurnStarted: _turn_started,
    ev.TurnResumed: lambda f, e: replace(f, running=True, begun=e.seq, waiting=()),  # asked again
    ev.TurnEnded: _turn_ended,
    ev.SteeringReceived: _steering_received,
    ev.StepStarted: lambda f, e: replace(f, activity="model", activity_since=e.at),
    ev.StepRetried: _retry,
    ev.TextDelta: lambda f, e: f if f.activity == "writing" else replace(f, activity="writing"),
    ev.ThinkingDelta: lambda f, e: f if f.activity == "thinking" else replace(f, activity="thinking"),
    ev.ToolCallStarted: _start_call,
    ev.ToolCallEnded: _end_call,
    ev.UsageReported: _on_usage,
    ev.McpSampled: _on_spending,
    ev.SideQuestionAnswered: _on_spending,
    SubagentEnded: _on_spending,
    ev.ApprovalRequested: _ask_approval,
    ev.ApprovalResolved: _resolve_approval,
    ev.QuestionAsked: _ask_question,
    ev.QuestionAnswered: lambda f, e: _settle(f, e.request),
    ev.TodosChanged: _todos_changed,
    ev.ModeChanged: lambda f, e: replace(f, mode=e.mode),
    ev.ModelChanged: lambda f, e: replace(f, model=e.model, window=e.window or f.window),
    ev.EffortChanged: lambda f, e: replace(f, effort=e.effort, budget=e.budget),
    ev.PolicyChanged: lambda f, e: replace(f, approvals=e.approval_mode),
    ev.ApprovalSwitched: lambda f, e: replace(f, permissions_at=e.seq, switches={**f.switches, e.switch: e.on}),
    ev.GrantTakenBack: lambda f, e: replace(f, permissions_at=e.seq),
    ev.CheckpointTaken: _take_checkpoint,
    ev.CheckpointRestored: lambda f, e: _add_rewind(
        f, RewindFact(e.seq, "files", e.undo, len(e.changed), len(e.left_out))
    ),
    ev.ConversationRestored: lambda f, e: _add_rewind(f, RewindFact(e.seq, "chat")),
    ev.Compacted: lambda f, e: replace(f, compactions=f.compactions + 1, context=e.after),
    ev.JobStarted: lambda f, e: _add_job(f, e.job, e.command, e.call),
    ev.JobEnded: lambda f, e: _drop_job(f, e.job),
    ev.OwnCommandStarted: lambda f, e: replace(f, title=f.title or _shorten_title(f"!{e.command}")),
    ev.OwnCommandEnded: lambda f, e: _add_job(f, e.job, e.command, e.run),
    ev.ErrorRaised: lambda f, e: replace(f, error=Failure(e.seq, e.code, tell_page(e.text), tell_page(e.hint))),
}
