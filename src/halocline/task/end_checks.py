"""Checks what a model gives as the end of a turn: its work, and its answer. Pure.

A report that the task is done is checked against what happened: if the newest edit or command of the turn failed, the
model is told once. A second report ends the turn, whose end says what failed.
"""

from halocline import task
from halocline.context import notes
from halocline.ports.tool import Toolset
from halocline.protocol.command_ends import command_failure
from halocline.protocol.events import AnswerAccepted, AnswerRefused, CompletionQuestioned, CompletionRequired, TurnEnded
from halocline.protocol.kinds import COMMAND_TOOL, FINISHES, CallStatus, Mode, ToolKind
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State

EndCheck = CompletionRequired | CompletionQuestioned | AnswerAccepted | AnswerRefused


def check_end(state: State, toolset: Toolset) -> tuple[EndCheck, ...]:
    """Return the events before the turn can end. If they give the model something to read, it continues."""
    if _lacks_completion(state):
        return (CompletionRequired(content=(notes.completion.ask_for_completion(),)),)
    failed = find_failures(state, toolset) if _is_reported_done(state) else ()
    doubts = [notes.double_check.ask_to_mend(failed)] if failed else []
    doubts += [notes.double_check.ask_for_check()] if _is_to_be_checked(state) else []
    if doubts:
        return (CompletionQuestioned(content=(*doubts,)),)
    if state.answer.schema is None:  # then it need not be loaded
        return ()
    return task.structured_answer.judge_answer(state)


def is_goal_due(state: State) -> bool:
    """True if the turn would end well although its goal is not met. In plan mode, the goal waits."""
    is_end = state.last_message.stop_reason is StopReason.END_TURN
    return is_end and state.goal.is_open and state.plan.mode is Mode.ACT


def end_by_model(state: State, toolset: Toolset) -> TurnEnded:
    """Return the end of a turn that the model ended, with what failed last."""
    reply = state.last_message
    failed = find_failures(state, toolset) if reply.stop_reason is StopReason.END_TURN else ()
    return TurnEnded(reason=reply.stop_reason, text=reply.refusal, failed=failed)


def find_failures(state: State, toolset: Toolset) -> tuple[str, ...]:
    """Return what failed last in the turn: its newest edit, its newest command. What was not allowed did not fail.

    The newest command may be that of a goal, whose check speaks for itself.
    """
    checked_at = state.goal.last.seq if state.goal.last else 0
    limits = state.budget.limits
    ends = state.turn.ended if state.turn and limits and limits.checks_failures else {}
    tools = {name: tool for name in ends if (tool := toolset.find(name, state))}
    edits = [end for name, end in ends.items() if name in tools and tools[name].kind is ToolKind.EDIT]
    newest = max(edits, key=lambda end: end.seq, default=None)
    what = "the last edit (its file was changed meanwhile)" if newest and newest.outside else "the last edit"
    failed = [what] if newest and newest.status is CallStatus.FAILED else []
    if (command := ends.get(COMMAND_TOOL)) and command.seq > checked_at:
        how = "not run" if command.status is CallStatus.FAILED else command_failure(command.result.text)
        failed += [f"the last command ({how})"] if how else []
    return tuple(failed)


def _is_reported_done(state: State) -> bool:
    """True for the first report of the turn that the task is done."""
    turn = state.turn
    return turn is not None and turn.is_over and not turn.questioned and FINISHES in turn.ended


def _lacks_completion(state: State) -> bool:
    """True if the turn ends by a reply without a call although the settings want a call. A schema has its own check."""
    limits = state.budget.limits
    if limits is None or not limits.require_completion or state.subagents.subtask or state.answer.schema is not None:
        return False
    reply = state.last_message
    return not (reply.tool_calls or state.turn_is_over) and reply.stop_reason is StopReason.END_TURN


def _is_to_be_checked(state: State) -> bool:
    """True once in a turn that changed something. Sub-agents only read, and their task checks what they report."""
    limits, turn = state.budget.limits, state.turn
    if limits is None or turn is None or not limits.double_check or state.subagents.subtask:
        return False
    return turn.acted and not turn.questioned and state.last_message.stop_reason is StopReason.END_TURN
