import os
from pathlib import Path

import msgspec
import pytest

from halocline.protocol.errors import SettingsError
from halocline.protocol.kinds import ApprovalMode
from halocline.runtime.rules.project_settings import find_layer
from halocline.services.settings import SettingsService
from halocline.store.paths import Home
from halocline.store.settings.load import ProjectLayer, check_settings, read_own
from halocline.store.settings.project import (
    ORDERS,
    RIGHTS,
    ProjectRight,
    apply_project,
    overlay,
    read_project,
)
from halocline.store.settings.settings import Settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    file = tmp_path / "work/.halocline/settings.toml"
    file.parent.mkdir(parents=True)
    return file


def load(project: Path, text: str, own: str = "", *, trusted: bool = False, env: dict[str, str] | None = None):
    """What is in force if the person's file has `own` and the folder's has `text`."""
    mine = project.parents[2] / "settings.toml"
    mine.write_text(own)
    project.write_text(text)
    return apply_project(read_own(mine, env or {}), (ProjectLayer(project, trusted),), env or {})


def test_every_setting_says_what_a_folder_may_do_with_it(tmp_path: Path) -> None:
    assert set(RIGHTS) == {row.name for row in SettingsService(Home(tmp_path), {}).listed()}


def test_every_setting_with_an_order_of_strictness_has_it() -> None:
    assert set(ORDERS) == {name for name, right in RIGHTS.items() if right is ProjectRight.STRICTER}
    for name, order in ORDERS.items():
        for value in order:
            table, _, key = name.rpartition(".")
            check_settings({table: {key: value}} if table else {name: value}, "")


TIGHTER = {
    ProjectRight.LOWER: ("1", []),
    ProjectRight.OFF: ("false", ["true"]),
    ProjectRight.ON: ("true", ["false"]),
    ProjectRight.FEWER: ("[]", ['["a", "b"]', '["c"]']),
}
LOOSE = {ProjectRight.LOWER: "2", ProjectRight.OFF: "true", ProjectRight.ON: "false", ProjectRight.FEWER: '["a"]'}
LARGE = "900"
ODD_VALUES = (
    *("7", "true", "false", '"x"', '["x"]', '["yolo"]', '{ x = "y" }', '"plain"', '"brave"', '"bell"', '"vi"'),
    *('"127.0.0.1:1"', '"json"', '{ x = { base_url = "http://x" } }'),
    *("{ x = { input = 1, output = 1 } }", "{ x = { connect = 1 } }", "{ x = 1 }"),
)
"""One of these is a valid value of each setting, other than its default."""


@pytest.mark.parametrize("name", [name for name, right in RIGHTS.items() if right in TIGHTER])
def test_a_folder_only_tightens(project: Path, name: str) -> None:
    right = RIGHTS[name]
    tight, wider = TIGHTER[right]
    loaded = load(project, f"{name} = {tight}", f"{name} = {LOOSE[right]}")
    assert (loaded.taken, loaded.refused) == ({name}, ())
    for value in wider or [LARGE]:
        own = tight if right is not ProjectRight.FEWER else LOOSE[right]
        loaded = load(project, f"{name} = {value}", f"{name} = {own}")
        assert (len(loaded.taken), len(loaded.refused)) == (0, 1), value


@pytest.mark.parametrize("name", ORDERS)
def test_a_folder_moves_a_choice_only_to_a_stricter_value(project: Path, name: str) -> None:
    order = ORDERS[name]
    for own in order:
        for wanted in order:
            loaded = load(project, f'{name} = "{wanted}"', f'{name} = "{own}"')
            assert (name in loaded.taken) is (order.index(wanted) > order.index(own)), (own, wanted)


@pytest.mark.parametrize("name", [name for name, right in RIGHTS.items() if right is ProjectRight.NEVER])
def test_what_is_the_persons_alone_stays_so_even_in_a_trusted_folder(project: Path, name: str) -> None:
    refused = [load(project, f"{name} = {text}", trusted=True) for text in ODD_VALUES]
    assert not any(loaded.taken for loaded in refused)
    assert any("only your own settings may set it" in text for loaded in refused for text in loaded.refused)


@pytest.mark.parametrize("value", ['"off"', '"auto"', '"require"'])
def test_a_folder_does_not_turn_on_a_sandbox_in_which_auto_asks_less(project: Path, value: str) -> None:
    assert load(project, f"sandbox = {value}", 'sandbox = "off"').taken == frozenset()


def test_preferences_of_a_folder_wait_for_trust(project: Path) -> None:
    text = 'model = "openai/gpt-5.6"\neffort = "low"\n[plan]\nmodel = "openai/o3"\n'
    before, after = load(project, text), load(project, text, trusted=True)
    assert (before.settings, len(before.refused)) == (Settings(), 3)
    assert all("not trusted" in problem for problem in before.refused)
    assert (after.settings.model, after.settings.plan.model, after.refused) == ("openai/gpt-5.6", "openai/o3", ())


def test_an_effort_of_a_folder_replaces_the_persons_budget_for_thinking(project: Path) -> None:
    loaded = load(project, 'effort = "low"', "thinking_budget = 9000", trusted=True)
    assert (loaded.settings.effort, loaded.settings.thinking_budget) == ("low", None)


def test_variables_win_over_a_folder(project: Path) -> None:
    loaded = load(project, "max_steps = 5", env={"HALOCLINE_MAX_STEPS": "50"})
    assert loaded.settings.max_steps == 50


def test_what_a_profile_sets_is_tightened_too(project: Path) -> None:
    own = 'profile = "fast"\n[profiles.fast]\napproval_mode = "yolo"\nmax_steps = 9\n'
    loaded = load(project, 'approval_mode = "ask"\nmax_steps = 10', own)
    assert loaded.settings.approval_mode is ApprovalMode.ASK
    assert loaded.settings.max_steps == 9


def test_one_wrong_row_does_not_take_the_others_out_of_force(project: Path) -> None:
    wrong = 'nonsense = 1\nmax_cost = nan\ntime_limit = "soon"\n'
    loaded = load(project, f"{wrong}max_steps = 3\n[mcp]\nodd = 1\nothers = false")
    assert loaded.taken == {"max_steps", "mcp.others"}
    assert len(loaded.refused) == 4


UNREADABLE = ["max_steps = ", "max_steps = 3\nmax_steps = 4", "a" + ".a" * 5000 + " = 1", "mcp = 3"]


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(project: Path, text: str) -> None:
    loaded = load(project, text)
    assert (loaded.settings, loaded.taken) == (Settings(), frozenset())
    assert len(loaded.refused) == 1


def test_a_pipe_or_a_folder_in_its_place_stops_nothing(project: Path) -> None:
    os.mkfifo(project)
    assert read_project(project).problems
    project.unlink()
    project.mkdir()
    assert read_project(project).problems


def test_reasons_are_few_and_short_whatever_the_file_holds(project: Path) -> None:
    loaded = load(project, "\n".join(f'"{"x" * 9000}{number}" = 1' for number in range(100)))
    assert len(loaded.refused) <= 20
    assert max(map(len, loaded.refused)) <= 400


def test_the_persons_own_file_is_no_folders_file(tmp_path: Path) -> None:
    own = tmp_path / ".halocline/settings.toml"
    own.parent.mkdir()
    own.write_text('approval_mode = "yolo"')
    assert find_layer(tmp_path, own, lambda: True) is None


def test_the_persons_raw_settings_are_left_as_they_were(project: Path) -> None:
    project.write_text("max_steps = 3\n[mcp]\nothers = false")
    raw = {"mcp": {"wait": 1}}
    over = overlay(raw, read_project(project), trusted=False)
    assert (raw, over.raw) == ({"mcp": {"wait": 1}}, {"max_steps": 3, "mcp": {"wait": 1, "others": False}})
    assert msgspec.to_builtins(check_settings(over.raw, ""))["mcp"]["others"] is False
    with pytest.raises(SettingsError):
        check_settings({"nonsense": 1}, "")
