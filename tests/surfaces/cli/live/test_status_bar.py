from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tables import for_each

from halocline.client.git import read_branch
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Usage
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.goal import GoalState
from halocline.protocol.state.permissions import PermissionsState
from halocline.protocol.state.plan import PlanState
from halocline.protocol.state.prompt import ModelState
from halocline.protocol.state.state import State
from halocline.surfaces.terminal.application.status_bar import fit_facts, shorten_folder, status_facts

STATE = State(
    workspace="/work/project",
    model=ModelState("anthropic/claude", window=200_000),
    plan=PlanState(mode=Mode.ACT),
    permissions=PermissionsState(approval_mode=ApprovalMode.ASK),
    budget=BudgetState(spent=0.25, last_usage=Usage(input=40_000)),
)


def shown(state: State, width: int = 120, *, branch: str = "", jobs: int = 0) -> str:
    return "".join(text for _, text in fit_facts(status_facts(state, branch=branch, jobs=jobs), width))


def test_it_says_all_that_a_prompt_depends_on() -> None:
    line = "  anthropic/claude · act · ask · /work/project (main) · 80% context left · $0.25 · 2 jobs"
    assert shown(STATE, branch="main", jobs=2) == line


def test_it_names_a_goal_until_that_is_met() -> None:
    state = replace(STATE, goal=GoalState(command="make test"))
    assert "goal: `make test`" in shown(state)
    assert "goal" not in shown(replace(state, goal=replace(state.goal, is_met=True)))


def test_a_price_that_is_unknown_is_left_out_and_of_an_unknown_window_the_tokens_in_it_are_shown() -> None:
    unknown = replace(STATE, model=ModelState("m"), budget=BudgetState(unpriced=1, last_usage=Usage(input=40_000)))
    assert shown(unknown) == "  m · act · ask · /work/project · 40.0k context"


def test_a_cost_that_is_known_in_part_is_the_least_that_it_is() -> None:
    partly = replace(STATE, budget=BudgetState(spent=0.25, unpriced=1))
    assert shown(partly) == "  anthropic/claude · act · ask · /work/project · at least $0.25"


def test_yolo_and_plan_mode_are_loud_and_stay_in_narrow_windows() -> None:
    loud = replace(STATE, plan=PlanState(mode=Mode.PLAN), permissions=PermissionsState(approval_mode=ApprovalMode.YOLO))
    assert shown(loud, 36) == "  plan mode ·  YOLO: nothing asks "
    assert ("class:loud", " YOLO: nothing asks ") in fit_facts(status_facts(loud), 36)


@for_each(
    "width, line",
    [
        (80, "  anthropic/claude · ask · project (main) · 80% context left · $0.25 · 3 jobs"),
        (68, "  anthropic/claude · ask · main · 80% context left · $0.25 · 3 jobs"),
        (50, "  claude · ask · 80% context left · $0.25 · 3 jobs"),
        (30, "  ask · 80% left · $0.25"),
    ],
)
def test_a_line_that_is_too_long_says_less_and_keeps_context_and_cost(width: int, line: str) -> None:
    assert shown(STATE, width, branch="main", jobs=3) == line


@for_each("width", range(1, 90))
def test_the_line_never_wraps(width: int) -> None:
    assert len(shown(STATE, width, branch="main", jobs=3)) <= width


def test_a_long_folder_loses_its_beginning_and_home_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert shorten_folder("/home/me/code") == "~/code"
    assert shorten_folder("/home/melissa") == "/home/melissa"
    assert shorten_folder("/home/me/" + "long/" * 20 + "end", 12) == "…ng/long/end"
    assert shorten_folder("/tmp/a\nb") == "/tmp/a␊b"


def test_the_branch_is_read_from_files(tmp_path: Path) -> None:
    assert read_branch(str(tmp_path)) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    (tmp_path / "sub").mkdir()
    assert read_branch(str(tmp_path / "sub")) == "feature/x"
    (tmp_path / ".git" / "HEAD").write_text("0123456789" * 4 + "\n")
    assert read_branch(str(tmp_path)) == "01234567"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../.git\n")
    assert read_branch(str(tmp_path / "tree")) == "01234567"
