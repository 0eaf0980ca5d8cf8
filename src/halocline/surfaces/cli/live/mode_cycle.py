"""The modes that Shift-Tab goes through: planning is one press from asking, and each step says what it allows."""

from collections.abc import Collection, Sequence

from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

PLANNING = "plan mode"


class ModeStep(Value, frozen=True):
    """One step of the cycle: its name, the modes it sets, and what it allows."""

    name: str
    mode: Mode
    approvals: ApprovalMode
    meaning: str


STEPS: Sequence[ModeStep] = (
    ModeStep("ask", Mode.ACT, ApprovalMode.ASK, "asks before edits and commands"),
    ModeStep(PLANNING, Mode.PLAN, ApprovalMode.ASK, "reads and plans, changes nothing"),
    ModeStep("accept-edits", Mode.ACT, ApprovalMode.ACCEPT_EDITS, "edits files in the folder without asking"),
    ModeStep("auto", Mode.ACT, ApprovalMode.AUTO, "works in the folder without asking"),
)
"""After the last comes the first, as after modes that are not in it."""


def find_next_step(state: State, *, at_card: bool = False, off: Collection[ApprovalMode] = ()) -> ModeStep:
    """Return the step that Shift-Tab goes to next. `at_card`: not to planning, which refuses what waits.

    Modes that are `off`, or off by the task's rules, are left out.

    On the way to another mode that would be a decision; who means it types `/plan`.
    """
    now = PLANNING if state.plan.mode is Mode.PLAN else state.permissions.approval_mode.value
    at = next((at for at, step in enumerate(STEPS) if step.name == now), -1)
    following = (*STEPS[at + 1 :], *STEPS)
    left_out = {*off, *state.permissions.rules.modes_off}
    steps = (step for step in following if step.approvals not in left_out)
    return next((step for step in steps if not (at_card and step.mode is Mode.PLAN)), STEPS[at])
