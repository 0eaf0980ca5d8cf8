"""Checks what a model gives as the end of a turn: its work, if the settings say so, and its answer. Pure."""

from halocline.context import notes
from halocline.protocol.events import AnswerAccepted, AnswerRefused, CompletionQuestioned, CompletionRequired
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State
from halocline.task.structured_answer import judge_answer

EndCheck = CompletionRequired | CompletionQuestioned | AnswerAccepted | AnswerRefused


def check_end(state: State) -> tuple[EndCheck, ...]:
    """Return the events before the turn can end. If they give the model something to read, it continues."""
    if _lacks_completion(state):
        return (CompletionRequired(content=(notes.completion.ask_for_completion(),)),)
    if _is_to_be_checked(state):
        return (CompletionQuestioned(content=(notes.double_check.ask_for_check(),)),)
    return judge_answer(state)


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
