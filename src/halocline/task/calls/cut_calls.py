"""The answer to a call that was not received whole. The more replies in a row were cut off, the more precise it is."""

from halocline.protocol.messages import AssistantMessage, StopReason
from halocline.protocol.state.state import State
from halocline.task.calls.arguments import explain_malformed

_NOT_RUN = "Nothing was run: the arguments of this call are incomplete or malformed{why}. {where}{advice}"
_RECEIVED = " Received: {received}"
_SHOWN = 200
_WHOLE = "Send the whole call again."
_FIRST = "Send the whole call again in smaller pieces: several short edits instead of one long one."
_SECOND = (
    "It is the second reply in a row that was cut off, so the same content would be cut off again. "
    "Write only its first part now, at most 100 lines, and add the rest with one edit per reply."
)
_LATER = (
    "It is reply {count} in a row that was cut off. "
    "Send nothing but one call with at most 30 lines, and continue from there in the next replies."
)


def answer_cut_call(malformed: str, state: State) -> str:
    """Return the result of a call whose arguments, `malformed`, are no JSON object. It is part of the last message."""
    count = _count_cut_replies(state)
    tokens = state.budget.last_usage.output
    after = f" after {tokens:,} tokens" if tokens else ""
    text = _NOT_RUN.format(
        where=explain_malformed(malformed),
        why=f" (the reply was cut off by the output limit{after})" if count else "",
        advice=(_WHOLE, _FIRST, _SECOND)[count] if count <= 2 else _LATER.format(count=count),
    )
    return text + _RECEIVED.format(received=malformed[:_SHOWN] + ("…" if len(malformed) > _SHOWN else ""))


def _count_cut_replies(state: State) -> int:
    """Count the replies at the end of the conversation that the output limit cut off."""
    replies = [message for message in state.messages if isinstance(message, AssistantMessage)]
    whole = (at for at, reply in enumerate(reversed(replies)) if reply.stop_reason is not StopReason.MAX_TOKENS)
    return next(whole, len(replies))
