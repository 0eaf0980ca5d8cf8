"""Decisions of a program: its callback answers approvals and questions, by words or values.

What must stay true: an answer that is none is refused with a sentence and never allows anything.
"""

from collections.abc import Awaitable, Callable

from halocline.protocol.commands import ResolveApproval
from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Choice, Scope
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.parts.hook_functions import settle

WORDS = {
    **{choice.value: choice for choice in Choice},
    "allow": Choice.ALLOW_ONCE,
    "always": Choice.ALLOW_ALWAYS,
    "deny": Choice.REJECT_ONCE,
    "never": Choice.REJECT_ALWAYS,
}


class Decision(Value, frozen=True):
    """A decision with more than a word. `note` is for the model, `arguments` replace those of the call.

    With `allow_always`, `scope` is how far that reaches.
    """

    choice: Choice
    note: str = ""
    arguments: JsonObject | None = None
    scope: Scope = Scope.TASK


Answer = Decision | Choice | str | bool
OnApproval = Callable[[ApprovalRequested], Answer | Awaitable[Answer]]
"""Decides about a call that needs approval."""
OnQuestion = Callable[[QuestionAsked], Awaitable[str | None] | str | None]
"""Answers a question of the model, or of a limit; None leaves it unanswered."""


def read_decision(answer: object) -> Decision:
    """Return the decision that a callback gave. Raises UsageError for anything else."""
    match answer:
        case Decision():
            return answer
        case bool():
            return Decision(Choice.ALLOW_ONCE if answer else Choice.REJECT_ONCE)
        case str() if answer in WORDS:
            return Decision(WORDS[answer])
    known = ", ".join(WORDS)
    raise UsageError(f"{answer!r} is no decision about an approval.", f"Return one of: {known}; or a Decision.")


async def decide(callback: OnApproval, asked: ApprovalRequested) -> ResolveApproval:
    """Ask the callback. Raises what it raises, and UsageError."""
    decision = read_decision(await settle(callback, asked))
    return ResolveApproval(
        task=asked.task,
        request=asked.request,
        decision=decision.choice,
        note=decision.note,
        arguments=decision.arguments,
        scope=decision.scope,
    )
