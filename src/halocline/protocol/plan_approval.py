"""Approving a plan, and the approval mode to go on in: the same words on every surface.

What must stay true: only a choice of the user ends plan mode, and no choice leads to yolo.
"""

from halocline.protocol.commands import AnyCommand, SetMode, SetPolicy
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State

TOOL = "plan_mode_respond"
QUESTION = "Go on with this plan?"
STAY = "Stay in plan mode"
CHOICES = {
    "Approve the plan, and ask before changes": ApprovalMode.ASK,
    "Approve the plan, and accept edits": ApprovalMode.ACCEPT_EDITS,
    "Approve the plan, in auto mode": ApprovalMode.AUTO,
}
"""The approval modes to go on in, the safest first."""
APPROVED = "The plan is approved. Carry it out."
"""The prompt that follows an approved plan."""


def find_waiting_plan(state: State) -> str:
    """Return the call whose plan ended the latest turn and waits for an approval; empty if there is none."""
    if state.turn is not None or state.plan.mode is not Mode.PLAN or state.owes_reply:
        return ""
    if state.last_end is None or state.last_end.reason is not StopReason.END_TURN:
        return ""
    calls = state.last_message.tool_calls
    return calls[-1].id if calls and calls[-1].name == TOOL else ""


def needs_person(state: State, *, is_open: bool) -> bool:
    """True if a task waits for a person: a call or question does, or a prompt after a task that did not end well.

    While a process has the task open, its plan does, too.
    """
    if state.is_asking or (state.turn is None and state.queue.refused):
        return True
    return is_open and bool(find_waiting_plan(state))


def list_commands(state: State, answer: str, request: str = "") -> tuple[AnyCommand, ...]:
    """Return the commands that an answer means: to a question of a plan that waits, or to a plan without one.

    Empty if the answer approves nothing.
    """
    mode = CHOICES.get(answer)
    if mode is None or (request and not _is_asked_by_plan(state, request)):
        return ()
    act = SetMode(task=state.task, mode=Mode.ACT)
    if mode is state.permissions.approval_mode:
        return (act,)
    return (SetPolicy(task=state.task, approval_mode=mode), act)


def _is_asked_by_plan(state: State, request: str) -> bool:
    call = next((asked.call for asked in state.pending.questions if asked.request == request), "")
    return any(opened.call.id == call and opened.call.name == TOOL for opened in state.pending.calls)
