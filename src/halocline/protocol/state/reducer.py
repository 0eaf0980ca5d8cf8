"""Applies events to the state of a task.

`reduce_event` is pure. Folding the durable events of a log gives exactly the state of the live task; transient events
only change `draft`, which every durable end of a reply clears. Here is what concerns several parts of the state.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.hooks import BEFORE_THE_MODEL, HookDecision
from halocline.protocol.events.instructions import in_force
from halocline.protocol.events.subagents import AgentMessaged, AgentsReported, SubagentEnded, SubagentStarted
from halocline.protocol.messages import Usage, UserMessage, UserPart
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.conversation import add_message, add_notes, hold_notes, release_held
from halocline.protocol.state.evidence.facts import follow_evidence
from halocline.protocol.state.file_knowledge import note_read, note_reported, note_restored
from halocline.protocol.state.goal import goal_of
from halocline.protocol.state.message_queue import follow_queue
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.state.plan import TodoAge
from halocline.protocol.state.rewind import remember_point, restore_state
from halocline.protocol.state.state import State
from halocline.protocol.state.turn import AnswerState, TurnState, end_call, go_on, note_action

Reducer = Callable[[State, Any], State]


def reduce_event(state: State, event: ev.Durable | ev.Transient) -> State:
    """Return the state after `event`. Unknown durable events only change the position."""
    step = _REDUCERS.get(type(event))
    if isinstance(event, ev.Transient):
        return step(state, event) if step else state
    now = replace(
        state,
        seq=event.seq,
        last_at=event.at,
        queue=follow_queue(state.queue, event),
        evidence=follow_evidence(state.evidence, event),
    )
    return remember_point(state, step(now, event)) if step else now


def fold_events(events: Iterable[ev.Durable]) -> State:
    """Return the state after all events of a log."""
    state = State()
    for event in events:
        state = reduce_event(state, event)
    return state


def _task_started(state: State, e: ev.TaskStarted) -> State:
    state = _start_with(state, e)
    return replace(
        state,
        task=e.task,
        started_at=e.at,
        workspace=e.workspace,
        trace=e.trace,
        roots=e.roots,
        budget=replace(state.budget, limits=e.limits),
        permissions=state.permissions.given_by(e.subtask),
        subagents=replace(state.subagents, subtask=e.subtask),
    )


def _start_with(state: State, e: ev.TaskStarted | ev.TaskAdopted) -> State:
    return replace(
        state,
        model=replace(state.model, name=e.model, window=e.window, server=e.server),
        prompt=replace(state.prompt, system=e.system_prompt, compact=e.compact),
        plan=state.plan.in_mode(e.mode),
        permissions=replace(state.permissions, approval_mode=e.approval_mode),
    )


def _turn_started(state: State, e: ev.TurnStarted) -> State:
    return replace(
        add_message(state, UserMessage(e.content)),
        turn=TurnState(e.at, e.seq, first_message=len(state.messages)),
        answer=AnswerState(e.output_schema),
        budget=state.budget.after_prompt(),
        pending=state.pending.after_prompt(e.content),
        goal=state.goal.forget_failures(),
    )


def _on_steering(state: State, e: ev.SteeringReceived) -> State:
    heard = replace(state, turn=go_on(state.turn), pending=state.pending.after_steering(e.content))
    return heard if state.pending.calls else add_notes(heard, e.content)


def _send_back(state: State, content: tuple[UserPart, ...], *, questioned: bool = False) -> State:
    return replace(add_message(state, UserMessage(content)), turn=go_on(state.turn, questioned=questioned))


def _goal_checked(state: State, e: ev.GoalChecked) -> State:
    after = replace(state, goal=state.goal.after_check(e))
    return _send_back(after, e.content) if e.content else after


def _turn_resumed(state: State, e: ev.TurnResumed) -> State:
    """Return to the state before the question, and restart the time limit."""
    turn = replace(state.turn, started_at=e.at) if state.turn else None
    return release_held(replace(state, turn=turn, draft=None, pending=state.pending.after_resume(e)))


def _step_started(state: State, e: ev.StepStarted) -> State:
    return replace(
        state,
        turn=replace(state.turn, steps=state.turn.steps + 1) if state.turn else None,
        draft=None,
        budget=replace(state.budget, steps=state.budget.steps + 1),
        pending=state.pending.after_request(),
        plan=replace(state.plan, todo_age=state.plan.todo_age.after_request()),
    )


def _on_delta(state: State, e: ev.TextDelta | ev.ThinkingDelta) -> State:
    return replace(state, draft=(state.draft, e))


def _on_usage(state: State, e: ev.UsageReported) -> State:
    model = replace(state.model, window=e.window) if e.window else state.model
    return replace(state, budget=state.budget.after_usage(e), model=model)


def _on_sampling(state: State, e: ev.McpSampled) -> State:
    return replace(state, budget=state.budget.after_usage(e), mcp=state.mcp.after_sampling(e))


def _subagent_ended(state: State, e: SubagentEnded) -> State:
    return replace(state, budget=state.budget.after_subagent(e), subagents=state.subagents.after_end(e))


def _compacted(state: State, e: ev.Compacted) -> State:
    """Reset `last_usage`: the size of the last request no longer predicts that of the next."""
    return replace(
        state,
        compaction=CompactionState((*state.compaction.applied, e)),
        budget=replace(state.budget, last_usage=Usage()),
        model=replace(state.model, limit=e.limit) if e.limit else state.model,
    )


def _compaction_undone(state: State, e: ev.CompactionUndone) -> State:
    compaction = replace(state.compaction, applied=state.compaction.applied[:-1])
    return replace(state, compaction=compaction, budget=replace(state.budget, last_usage=Usage()))


def _on_completed(state: State, e: ev.AssistantMessageCompleted) -> State:
    return replace(
        state,
        draft=None,
        messages=grow_series(state.messages, e.message),
        pending=state.pending.after_reply(e.message),
    )


def _call_ended(state: State, e: ev.ToolCallEnded) -> State:
    pending = state.pending
    after = replace(
        state,
        turn=end_call(state.turn, e),
        messages=grow_series(state.messages, e.result),
        budget=state.budget.after_call(pending.find_call(e.call), e, declined=pending.was_declined(e.call)),
        pending=pending.after_call_end(e.call),
        files=replace(state.files, known=note_read(state.files.known, e.seen)) if e.seen else state.files,
    )
    return release_held(after)


def _approval_resolved(state: State, e: ev.ApprovalResolved) -> State:
    pending = state.pending.after_approval(e)
    if e.agent:  # the decision is the agent's: its own log has it, too
        return replace(state, pending=replace(state.pending, approvals=pending.approvals))
    return replace(state, pending=pending, permissions=state.permissions.after_approval(e))


def _limit_extended(state: State, e: ev.LimitExtended) -> State:
    return replace(
        state,
        turn=replace(state.turn, started_at=e.at) if state.turn else None,
        answer=replace(state.answer, refused=()),
        budget=state.budget.after_extension(e.limit),
        goal=state.goal.forget_failures(),
    )


def _own_command_ended(state: State, e: ev.OwnCommandEnded) -> State:
    after = replace(state, user_commands=state.user_commands.after_end(e))
    if e.moved:
        after = replace(after, host=replace(after.host, shell=ev.ShellMoved(e.cwd, e.exported, e.path)))
    if not e.job:
        return after
    job = ev.JobStarted(e.job, e.command, e.run, "person", seq=e.seq, at=e.at, task=e.task)
    return replace(after, jobs=after.jobs.after_start(job))


def _jobs_reported(state: State, e: ev.JobsReported) -> State:
    return replace(add_message(state, UserMessage(e.content)), jobs=replace(state.jobs, ended_apart=()))


def _agents_reported(state: State, e: AgentsReported) -> State:
    told = add_message(state, UserMessage(e.content))
    return replace(told, turn=go_on(state.turn), subagents=replace(state.subagents, unreported=()))


def _tools_offered(state: State, e: ev.ToolsOffered) -> State:
    return replace(
        state,
        prompt=replace(state.prompt, tools=frozenset(e.tools)),
        subagents=replace(state.subagents, available=e.agents) if e.agents else state.subagents,
    )


def _on_notes(state: State, e: Any) -> State:
    return add_notes(state, e.content)


def _change(group: str, change: Callable[[Any, Any], Any]) -> Reducer:
    """Return the reducer of an event that concerns one group."""
    return lambda state, e: replace(state, **{group: change(getattr(state, group), e)})


def _note(group: str, change: Callable[[Any, Any], Any]) -> Reducer:
    """Return the reducer of an event that concerns one group and adds its content to the conversation."""
    step = _change(group, change)
    return lambda state, e: step(add_notes(state, e.content), e)


def _hook_ran(state: State, e: ev.HookRan) -> State:
    """Add a hook's content to the conversation; remove a prompt that a hook blocked, as if it had not been sent."""
    if e.call or state.turn is None:
        return state
    if e.decision is HookDecision.BLOCK and e.moment in BEFORE_THE_MODEL:
        return replace(
            state, messages=state.messages[: state.turn.first_message], pending=state.pending.after_request()
        )
    if not e.content:
        return state
    return replace(add_message(state, UserMessage(e.content)), turn=replace(state.turn, is_over=False))


_REDUCERS: dict[type, Reducer] = {
    ev.TaskStarted: _task_started,
    ev.TaskAdopted: _start_with,
    ev.TurnStarted: _turn_started,
    ev.SteeringReceived: _on_steering,
    ev.TurnEnded: lambda state, e: replace(state, turn=None, draft=None, last_end=e),
    ev.TurnResumed: _turn_resumed,
    ev.StepStarted: _step_started,
    ev.StepRetried: lambda state, e: replace(state, draft=None),
    ev.ErrorRaised: _change("compaction", lambda compaction, e: replace(compaction, running=None)),
    ev.TextDelta: _on_delta,
    ev.ThinkingDelta: _on_delta,
    ev.UsageReported: _on_usage,
    ev.AssistantMessageCompleted: _on_completed,
    ev.ToolCallStarted: lambda state, e: replace(
        state, turn=note_action(state.turn, e), pending=state.pending.after_call_start(e.call)
    ),
    ev.ToolCallEnded: _call_ended,
    ev.ApprovalRequested: _change("pending", lambda pending, e: replace(pending, approvals=(*pending.approvals, e))),
    ev.ApprovalResolved: _approval_resolved,
    ev.GrantTakenBack: _change("permissions", lambda permissions, e: permissions.without_grant(e.grant)),
    ev.QuestionAsked: _change("pending", lambda pending, e: replace(pending, questions=(*pending.questions, e))),
    ev.QuestionAnswered: _change("pending", lambda pending, e: pending.after_answer(e)),
    ev.AnswerAccepted: _change("answer", lambda answer, e: replace(answer, accepted=e.answer)),
    ev.AnswerRefused: lambda state, e: replace(_send_back(state, e.content), answer=state.answer.after_refusal(e)),
    ev.CompletionQuestioned: lambda state, e: _send_back(state, e.content, questioned=True),
    ev.CompletionRequired: lambda s, e: replace(_send_back(s, e.content), budget=s.budget.after_failure()),
    ev.GoalSet: lambda state, e: replace(state, goal=goal_of(e)),
    ev.GoalChecked: _goal_checked,
    ev.LimitExtended: _limit_extended,
    ev.RequestReserved: _change("budget", lambda budget, e: budget.after_reservation(e)),
    ev.RequestSettled: _change("budget", lambda budget, e: budget.after_settlement(e)),
    ev.WorkspaceMoved: lambda state, e: replace(hold_notes(state, e.content), workspace=e.workspace),
    ev.RootsChanged: lambda state, e: replace(state, roots=e.roots),
    ev.ModelChanged: _change("model", lambda model, e: model.after_change(e)),
    ev.EffortChanged: _change("model", lambda model, e: replace(model, effort=e.effort, thinking_budget=e.budget)),
    ev.LimitsChanged: _change("budget", lambda budget, e: replace(budget, limits=e.limits)),
    ev.CompactionStarted: _change("compaction", lambda compaction, e: replace(compaction, running=e)),
    ev.Compacted: _compacted,
    ev.CompactionUndone: _compaction_undone,
    ev.PicturesLeftOut: _change("model", lambda model, e: model.without_pictures(e)),
    ev.TodosChanged: _note("plan", lambda plan, e: replace(plan, todos=e.todos, todo_age=TodoAge())),
    ev.TodosReminded: _note("plan", lambda plan, e: replace(plan, todo_age=plan.todo_age.after_reminder())),
    ev.ModeChanged: _change("plan", lambda plan, e: plan.after_switch(e.mode)),
    ev.ApprovalJudged: _change("permissions", lambda permissions, e: permissions.after_verdict(e)),
    ev.JudgeSwitched: _change("permissions", lambda permissions, e: replace(permissions, judge_is_off=not e.on)),
    ev.RulesChanged: _change("permissions", lambda permissions, e: replace(permissions, rules=e.book)),
    ev.ApprovalSwitched: _change("permissions", lambda permissions, e: permissions.with_switch(e.switch, e.on)),
    ev.PolicyChanged: _change("permissions", lambda group, e: replace(group, approval_mode=e.approval_mode)),
    ev.ToolsOffered: _tools_offered,
    ev.PluginsLoaded: _change("prompt", lambda prompt, e: replace(prompt, plugins=e.plugins)),
    ev.CustomToolsOffered: _change("prompt", lambda prompt, e: replace(prompt, custom_tools=e.tools)),
    ev.FileChanged: lambda state, e: replace(state, turn=note_action(state.turn, e), files=state.files.after_change(e)),
    ev.FilesChangedOutside: _note("files", lambda files, e: replace(files, known=note_reported(files.known, e.files))),
    ev.ShellMoved: _change("host", lambda host, e: replace(host, shell=e)),
    ev.PageShown: _change("host", lambda host, e: replace(host, page=e.url)),
    ev.SandboxChecked: _change("host", lambda host, e: replace(host, sandbox=replace(e, seq=0, at=0.0, task=""))),
    ev.TaskLabelled: _change("labels", lambda labels, e: labels.after(e)),
    ev.JobStarted: _change("jobs", lambda jobs, e: jobs.after_start(e)),
    ev.JobEnded: lambda state, e: replace(state, jobs=state.jobs.after_end(e, in_turn=state.turn is not None)),
    ev.JobsReported: _jobs_reported,
    ev.OwnCommandStarted: _change("user_commands", lambda user_commands, e: user_commands.after_start(e)),
    ev.OwnCommandEnded: _own_command_ended,
    ev.OwnCommandsReported: _note("user_commands", lambda commands, e: replace(commands, unreported=())),
    ev.InstructionsLoaded: _note(
        "prompt", lambda prompt, e: replace(prompt, instructions=in_force(prompt.instructions, e))
    ),
    ev.DiagnosticsReported: _on_notes,
    ev.EnvironmentReported: _on_notes,
    ev.MentionsResolved: _note("pending", lambda pending, e: pending.after_request()),
    ev.McpOffered: _change("mcp", lambda mcp, e: mcp.with_server(e.server)),
    ev.McpSampled: _on_sampling,
    ev.McpToolRefused: _change("mcp", lambda mcp, e: mcp.without_tool(e)),
    ev.SideQuestionAnswered: _change("budget", lambda budget, e: budget.after_usage(e)),
    SubagentStarted: _change("subagents", lambda subagents, e: subagents.after_start(e)),
    SubagentEnded: _subagent_ended,
    AgentMessaged: _change("subagents", lambda subagents, e: subagents.after_message(e)),
    AgentsReported: _agents_reported,
    ev.McpReported: _on_notes,
    ev.CheckpointRestored: _note("files", lambda files, e: replace(files, known=note_restored(files.known, e.changed))),
    ev.ConversationRestored: restore_state,
    ev.HookRan: _hook_ran,
    ev.Imported: lambda state, e: replace(
        add_notes(state, e.content), model=replace(state.model, name=""), last_end=None
    ),
    ev.CheckpointTaken: _change(
        "files", lambda files, e: replace(files, checkpoints=grow_series(files.checkpoints, e))
    ),
}
