from itertools import pairwise

import pytest
from msgspec.structs import replace

from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.state.permissions import PermissionsState
from halocline.protocol.state.plan import PlanState
from halocline.protocol.state.state import State
from halocline.surfaces.cli.live.mode_cycle import PLANNING, STEPS, find_next_step


def find_step_after(mode: Mode, approvals: ApprovalMode) -> str:
    state = State(plan=PlanState(mode=mode), permissions=PermissionsState(approval_mode=approvals))
    return find_next_step(state).name


@pytest.mark.parametrize("approvals", [*ApprovalMode])
@pytest.mark.parametrize("mode", [*Mode])
def test_every_mode_has_a_next_one_and_from_ask_and_yolo_nothing_is_loosened(
    mode: Mode, approvals: ApprovalMode
) -> None:
    expected = {"ask": PLANNING, "accept-edits": "auto", "auto": "ask", "yolo": "ask"}[approvals]
    assert find_step_after(mode, approvals) == ("accept-edits" if mode is Mode.PLAN else expected)


def test_the_steps_lead_from_one_to_the_next_and_say_what_they_allow() -> None:
    for step, following in pairwise([*STEPS, STEPS[0]]):
        assert find_step_after(step.mode, step.approvals) == following.name
    assert all(step.meaning for step in STEPS)


def test_modes_that_are_off_are_left_out() -> None:
    off = (ApprovalMode.ACCEPT_EDITS, ApprovalMode.YOLO)
    rules = RuleBook(modes_off=off)
    planning = State(plan=PlanState(mode=Mode.PLAN))
    assert find_next_step(planning, off=off).name == "auto"
    assert find_next_step(replace(planning, permissions=PermissionsState(rules=rules))).name == "auto"
    assert find_next_step(planning, off=(*off, ApprovalMode.AUTO)).name == "ask"
