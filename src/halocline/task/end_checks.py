"""Checks what a model gives as the end of a turn: its work, if the settings say so, and its answer. Pure."""

from halocline.context import notes
from halocline.protocol.events import AnswerAccepted, AnswerRefused, CompletionQuestioned
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State
from halocline.task.structured_answer import judge_answer


def check_end(state: State) -> tuple[CompletionQuestioned | AnswerAccepted | AnswerRefused, ...]:
    """Return the events before the turn can end. If they give the model something to read, it goes on."""
    if _is_to_be_checked(state):
        return (CompletionQuestioned(content=(notes.double_check.ask_for_check(),)),)
    return judge_answer(state)


def _is_to_be_checked(state: State) -> bool:
    """True once in a turn that changed something. Sub-agents only read, and their task checks what they report."""
    limits, turn = state.budget.limits, state.turn
    if limits is None or turn is None or not limits.double_check or state.subagents.subtask:
        return False
    return turn.acted and not turn.questioned and state.last_message.stop_reason is StopReason.END_TURN
