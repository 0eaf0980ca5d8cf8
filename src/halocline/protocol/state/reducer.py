"""Applies events to the state of a task.

`reduce_event` is pure. Folding the durable events of a log gives exactly the state of the live task; transient events
only change `draft`, which every durable end of a reply clears.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.hooks import BEFORE_THE_MODEL, HookDecision
from halocline.protocol.events.instructions import in_force
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.kinds import CallStatus, Choice, Mode, Scope
from halocline.protocol.messages import (
    Text,
    Usage,
    UserMessage,
    UserPart,
)
from halocline.protocol.state import file_knowledge
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.state.rewind import add_restore_note, remember_point, restore_state
from halocline.protocol.state.state import OpenCall, State, TurnState, call_signature


def reduce_event(state: State, event: ev.Durable | ev.Transient) -> State:
    """Return the state after `event`. Unknown durable events only change the position."""
    step = _STEPS.get(type(event))
    if isinstance(event, ev.Transient):
        return step(state, event) if step else state
    now = replace(state, seq=event.seq, last_at=event.at)
    return remember_point(state, step(now, event)) if step else now


def fold_events(events: Iterable[ev.Durable]) -> State:
    """Return the state after all events of a log."""
    state = State()
    for event in events:
        state = reduce_event(state, event)
    return state


def _task_started(state: State, e: ev.TaskStarted) -> State:
    return replace(
        state,
        task=e.task,
        started_at=e.at,
        workspace=e.workspace,
        roots=e.roots,
        version=e.version,
        limits=e.limits,
        model=e.model,
        mode=e.mode,
        approval_mode=e.approval_mode,
        system_prompt=e.system_prompt,
        compact=e.compact,
        window=e.window,
        has_planned=e.mode is Mode.PLAN,
        subtask=e.subtask,
        grants=frozenset(e.subtask.grants) if e.subtask else frozenset(),
        refusals=frozenset(e.subtask.refusals) if e.subtask else frozenset(),
        switches=e.subtask.switches if e.subtask else {},
    )


def _task_adopted(state: State, e: ev.TaskAdopted) -> State:
    return replace(
        state,
        version=e.version,
        model=e.model,
        mode=e.mode,
        approval_mode=e.approval_mode,
        system_prompt=e.system_prompt,
        compact=e.compact,
        window=e.window,
        has_planned=state.has_planned or e.mode is Mode.PLAN,
    )


def _turn_started(state: State, e: ev.TurnStarted) -> State:
    return replace(
        state,
        turn=TurnState(started_at=e.at, first_message=len(state.messages)),
        messages=grow_series(state.messages, UserMessage(e.content)),
        output_schema=e.output_schema,
        answer=None,
        answers_refused=(),
        failures_in_row=0,
        same_call_in_row=0,
        last_outcome=("", ""),
        nobody_answered=False,
        forgiven_steps=state.steps,
        unheard=(*state.unheard, *_prompt_words(e.content)),
    )


def _prompt_words(content: Iterable[UserPart]) -> Iterator[str]:
    return (part.text for part in content if isinstance(part, Text))


def _on_steering(state: State, e: ev.SteeringReceived) -> State:
    """Add a message; while calls are open, hold it back, since nothing may come between a call and its result."""
    turn = replace(state.turn, is_over=False) if state.turn else None
    heard = replace(state, turn=turn, unheard=(*state.unheard, *_prompt_words(e.content)))
    if not state.open_calls:
        return _add_notes(heard, e.content)
    declined = state.declined or bool(state.approvals or state.questions)
    return replace(heard, interjected=(*state.interjected, *e.content), declined=declined)


def _answer_refused(state: State, e: ev.AnswerRefused) -> State:
    turn = replace(state.turn, is_over=False) if state.turn else None
    messages = grow_series(state.messages, UserMessage(e.content))
    return replace(state, turn=turn, messages=messages, answers_refused=(*state.answers_refused, e))


def _turn_ended(state: State, e: ev.TurnEnded) -> State:
    return replace(state, turn=None, draft=None, last_end=e)


def _turn_resumed(state: State, e: ev.TurnResumed) -> State:
    """Return to the state before the question, and restart the time limit; a call that asked will run again."""
    asking = {asked.call for asked in state.questions}
    opened = tuple(replace(one, started=one.started and one.call.id not in asking) for one in state.open_calls)
    turn = replace(state.turn, started_at=e.at) if state.turn else None
    resumed = replace(state, turn=turn, draft=None, approvals=(), questions=(), open_calls=opened, gap=e.content)
    return resumed if opened else _release_held(resumed)


def _release_held(state: State) -> State:
    """Add the messages that were held back until the last call ended."""
    return replace(_add_notes(_add_notes(state, state.gap), state.interjected), gap=(), interjected=())


def _step_started(state: State, e: ev.StepStarted) -> State:
    turn = replace(state.turn, steps=state.turn.steps + 1) if state.turn else None
    return replace(
        state, turn=turn, steps=state.steps + 1, draft=None, unheard=(), todo_age=state.todo_age.after_request()
    )


def _on_retry(state: State, e: ev.StepRetried) -> State:
    return replace(state, draft=None)


def _on_delta(state: State, e: ev.TextDelta | ev.ThinkingDelta) -> State:
    return replace(state, draft=(state.draft, e))


def _on_usage(state: State, e: ev.UsageReported) -> State:
    cost = None if e.cost is None or state.cost is None else state.cost + e.cost
    window = e.window or state.window
    return replace(state, usage=state.usage + e.usage, last_usage=e.usage, cost=cost, window=window)


def _on_sampling(state: State, e: ev.McpSampled) -> State:
    """Add the cost to the task, but keep `last_usage`: the request says nothing about the conversation's size."""
    cost = None if e.cost is None or state.cost is None else state.cost + e.cost
    return replace(state, usage=state.usage + e.usage, cost=cost, sampled=state.sampled.after(e))


def _subagent_ended(state: State, e: SubagentEnded) -> State:
    cost = None if e.cost is None or state.cost is None else state.cost + e.cost
    lanes = tuple(lane for lane in state.lanes if lane.child != e.child)
    return replace(state, usage=state.usage + e.usage, cost=cost, lanes=lanes)


def _on_compaction(state: State, e: ev.Compacted) -> State:
    """Reset `last_usage`: the size of the last request no longer predicts that of the next."""
    limit = e.limit or state.limit
    return replace(state, compactions=(*state.compactions, e), last_usage=Usage(), limit=limit, compacting=None)


def _on_completed(state: State, e: ev.AssistantMessageCompleted) -> State:
    opened = tuple(OpenCall(call) for call in e.message.tool_calls)
    return replace(
        state,
        draft=None,
        declined=False,
        messages=grow_series(state.messages, e.message),
        open_calls=state.open_calls + opened,
    )


def _call_started(state: State, e: ev.ToolCallStarted) -> State:
    marked = tuple(replace(o, started=True) if o.call.id == e.call else o for o in state.open_calls)
    return replace(state, open_calls=marked)


def _call_ended(state: State, e: ev.ToolCallEnded) -> State:
    ended = next((o.call for o in state.open_calls if o.call.id == e.call), None)
    first = next((part.text for part in e.result.content if isinstance(part, Text)), "")
    outcome = (call_signature(ended) if ended else "", first)
    turn = state.turn
    if turn is not None and e.ends_turn:
        turn = replace(turn, is_over=True)
    left = tuple(o for o in state.open_calls if o.call.id != e.call)
    after = replace(
        state,
        turn=turn,
        open_calls=left,
        messages=grow_series(state.messages, e.result),
        failures_in_row=_count_failures(state, e.status),
        same_call_in_row=state.same_call_in_row + 1 if outcome == state.last_outcome else 1,
        last_outcome=outcome,
        known=file_knowledge.note_read(state.known, e.seen) if e.seen else state.known,
    )
    return after if left else _release_held(after)


def _count_failures(state: State, status: CallStatus) -> int:
    """Count consecutive failures, and refusals by the policy or a hook; not a person's refusals and skipped calls."""
    match status:
        case CallStatus.COMPLETED:
            return 0
        case CallStatus.FAILED:
            return state.failures_in_row + 1
        case CallStatus.REJECTED if not state.declined:
            return state.failures_in_row + 1
    return state.failures_in_row


def _approval_requested(state: State, e: ev.ApprovalRequested) -> State:
    return replace(state, approvals=(*state.approvals, e))


def _approval_resolved(state: State, e: ev.ApprovalResolved) -> State:
    grants, refusals, kept = state.grants, state.refusals, state.kept_grants
    if e.grant is not None and e.decision is Choice.ALLOW_ALWAYS:
        grants |= {e.grant}
        kept |= {(e.grant, e.scope)} if e.scope is not Scope.TASK else frozenset()
    if e.grant is not None and e.decision is Choice.REJECT_ALWAYS:
        refusals |= {e.grant}
    return replace(
        state,
        approvals=tuple(a for a in state.approvals if a.request != e.request),
        grants=grants,
        kept_grants=kept,
        refusals=refusals,
        declined=state.declined or (e.by in ("user", "message") and e.decision.refuses),
        nobody_answered=state.nobody_answered or e.by == "nobody",
        unheard=(*state.unheard, e.note) if e.note and e.by == "user" else state.unheard,
    )


def _grant_revoked(state: State, e: ev.GrantTakenBack) -> State:
    kept = frozenset(one for one in state.kept_grants if one[0] != e.grant)
    return replace(state, grants=state.grants - {e.grant}, kept_grants=kept)


def _question_asked(state: State, e: ev.QuestionAsked) -> State:
    return replace(state, questions=(*state.questions, e))


def _question_answered(state: State, e: ev.QuestionAnswered) -> State:
    left = tuple(asked for asked in state.questions if asked.request != e.request)
    return replace(state, questions=left, unheard=(*state.unheard, e.answer) if e.by == "user" else state.unheard)


def _limit_extended(state: State, e: ev.LimitExtended) -> State:
    return replace(
        state,
        turn=replace(state.turn, started_at=e.at) if state.turn else None,
        answers_refused=(),
        failures_in_row=0,
        same_call_in_row=0,
        forgiven_steps=state.steps,
        forgiven_cost=state.cost or 0.0,
    )


def _job_started(state: State, e: ev.JobStarted) -> State:
    return replace(state, jobs=(*state.jobs, e), jobs_started=state.jobs_started + 1)


def _job_ended(state: State, e: ev.JobEnded) -> State:
    apart = () if state.turn else (e,)  # between turns, it is reported with the next one
    left = tuple(job for job in state.jobs if job.job != e.job)
    return replace(state, jobs=left, jobs_ended_apart=state.jobs_ended_apart + apart)


def _own_started(state: State, e: ev.OwnCommandStarted) -> State:
    return replace(state, own_commands=(*state.own_commands, e), own_started=state.own_started + 1)


def _own_ended(state: State, e: ev.OwnCommandEnded) -> State:
    left = tuple(running for running in state.own_commands if running.run != e.run)
    after = replace(state, own_commands=left, own_untold=(*state.own_untold, e))
    if e.moved:
        after = replace(after, shell=ev.ShellMoved(e.cwd, e.exported, e.path))
    if not e.job:
        return after
    job = ev.JobStarted(e.job, e.command, e.run, "person", seq=e.seq, at=e.at, task=e.task)
    return _job_started(after, job)


def _mcp_offered(state: State, e: ev.McpOffered) -> State:
    kept = tuple(server for server in state.mcp if server.name != e.server.name)
    return replace(state, mcp=(*kept, e.server))


def _jobs_reported(state: State, e: ev.JobsReported) -> State:
    return replace(state, messages=grow_series(state.messages, UserMessage(e.content)), jobs_ended_apart=())


def _on_instructions(state: State, e: ev.InstructionsLoaded) -> State:
    return replace(_add_notes(state, e.content), instructions=in_force(state.instructions, e))


def _add_notes(state: State, content: tuple[UserPart, ...]) -> State:
    """Add content to the conversation that no person typed."""
    return replace(state, messages=grow_series(state.messages, UserMessage(content))) if content else state


def _todos_changed(state: State, e: ev.TodosChanged) -> State:
    return replace(_add_notes(state, e.content), todos=e.todos, todo_age=file_knowledge.TodoAge())


def _todos_reminded(state: State, e: ev.TodosReminded) -> State:
    return replace(_add_notes(state, e.content), todo_age=state.todo_age.after_reminder())


def _mode_changed(state: State, e: ev.ModeChanged) -> State:
    has_planned = state.has_planned or e.mode is Mode.PLAN
    return replace(state, mode=e.mode, has_planned=has_planned, todo_age=state.todo_age.after_switch())


def _file_changed(state: State, e: ev.FileChanged) -> State:
    known = file_knowledge.note_written(state.known, e.path, e.after)
    files = state.files_changed if e.path in state.files_changed else state.files_changed | {e.path}
    return replace(state, files_changed=files, known=known)


def _hook_ran(state: State, e: ev.HookRan) -> State:
    """Add a hook's content to the conversation; remove a prompt that a hook blocked, as if it had not been sent."""
    if e.call or state.turn is None:
        return state
    if e.decision is HookDecision.BLOCK and e.moment in BEFORE_THE_MODEL:
        return replace(state, messages=state.messages[: state.turn.first_message], unheard=())
    if not e.content:
        return state
    turn = replace(state.turn, is_over=False)
    return replace(state, turn=turn, messages=grow_series(state.messages, UserMessage(e.content)))


_STEPS: dict[type, Callable[[State, Any], State]] = {
    ev.TaskStarted: _task_started,
    ev.TaskAdopted: _task_adopted,
    ev.TurnStarted: _turn_started,
    ev.SteeringReceived: _on_steering,
    ev.TurnEnded: _turn_ended,
    ev.TurnResumed: _turn_resumed,
    ev.StepStarted: _step_started,
    ev.StepRetried: _on_retry,
    ev.ErrorRaised: lambda state, e: replace(state, compacting=None),
    ev.TextDelta: _on_delta,
    ev.ThinkingDelta: _on_delta,
    ev.UsageReported: _on_usage,
    ev.AssistantMessageCompleted: _on_completed,
    ev.ToolCallStarted: _call_started,
    ev.ToolCallEnded: _call_ended,
    ev.ApprovalRequested: _approval_requested,
    ev.ApprovalResolved: _approval_resolved,
    ev.GrantTakenBack: _grant_revoked,
    ev.QuestionAsked: _question_asked,
    ev.QuestionAnswered: _question_answered,
    ev.AnswerAccepted: lambda state, e: replace(state, answer=e.answer),
    ev.AnswerRefused: _answer_refused,
    ev.LimitExtended: _limit_extended,
    ev.RootsChanged: lambda state, e: replace(state, roots=e.roots),
    ev.ModelChanged: lambda state, e: replace(state, model=e.model, window=e.window, limit=None),
    ev.EffortChanged: lambda state, e: replace(state, effort=e.effort, thinking_budget=e.budget),
    ev.LimitsChanged: lambda state, e: replace(state, limits=e.limits),
    ev.CompactionStarted: lambda state, e: replace(state, compacting=e),
    ev.Compacted: _on_compaction,
    ev.CompactionUndone: lambda state, e: replace(state, compactions=state.compactions[:-1], last_usage=Usage()),
    ev.TodosChanged: _todos_changed,
    ev.TodosReminded: _todos_reminded,
    ev.ModeChanged: _mode_changed,
    ev.RulesChanged: lambda state, e: replace(state, rules=e.book),
    ev.ApprovalSwitched: lambda state, e: replace(state, switches={**state.switches, e.switch: e.on}),
    ev.PolicyChanged: lambda state, e: replace(state, approval_mode=e.approval_mode),
    ev.ToolsOffered: lambda state, e: replace(state, offered=frozenset(e.tools), agents=e.agents or state.agents),
    ev.FileChanged: _file_changed,
    ev.FilesChangedOutside: lambda state, e: replace(
        _add_notes(state, e.content), known=file_knowledge.note_reported(state.known, e.files)
    ),
    ev.ShellMoved: lambda state, e: replace(state, shell=e),
    ev.PageShown: lambda state, e: replace(state, page=e.url),
    ev.SandboxChecked: lambda state, e: replace(state, sandbox=replace(e, seq=0, at=0.0, task="")),
    ev.TaskLabelled: lambda state, e: replace(state, labels=state.labels.after(e)),
    ev.JobStarted: _job_started,
    ev.JobEnded: _job_ended,
    ev.JobsReported: _jobs_reported,
    ev.OwnCommandStarted: _own_started,
    ev.OwnCommandEnded: _own_ended,
    ev.OwnCommandsReported: lambda state, e: replace(_add_notes(state, e.content), own_untold=()),
    ev.InstructionsLoaded: _on_instructions,
    ev.DiagnosticsReported: lambda state, e: _add_notes(state, e.content),
    ev.EnvironmentReported: lambda state, e: _add_notes(state, e.content),
    ev.MentionsResolved: lambda state, e: replace(_add_notes(state, e.content), unheard=()),
    ev.McpOffered: _mcp_offered,
    ev.McpSampled: _on_sampling,
    SubagentStarted: lambda state, e: replace(state, lanes=(*state.lanes, e)),
    SubagentEnded: _subagent_ended,
    ev.McpReported: lambda state, e: _add_notes(state, e.content),
    ev.CheckpointRestored: add_restore_note,
    ev.ConversationRestored: restore_state,
    ev.HookRan: _hook_ran,
    ev.Imported: lambda state, e: replace(_add_notes(state, e.content), model="", last_end=None),
    ev.CheckpointTaken: lambda state, e: replace(state, checkpoints=grow_series(state.checkpoints, e)),
}
