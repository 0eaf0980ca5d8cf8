from pathlib import Path

import pytest

from halocline.protocol.errors import SettingsError
from halocline.store.permissions.instruction_switches import RuleSwitches


@pytest.fixture
def switches(tmp_path):
    return RuleSwitches(tmp_path / "rules.json")


def test_without_a_file_everything_is_on(switches):
    assert switches.off(Path("/w")) == frozenset()


def test_a_switch_of_a_workspace_is_for_it_alone_and_one_of_the_person_for_all(switches):
    switches.switch("/w/AGENTS.md", Path("/w"), on=False)
    switches.switch("/home/a.md", None, on=False)
    assert switches.off(Path("/w")) == {"/w/AGENTS.md", "/home/a.md"}
    assert switches.off(Path("/other")) == {"/home/a.md"}


def test_a_switch_says_whether_it_changed_anything(switches):
    changes = [switches.switch("/w/a.md", Path("/w"), on=on) for on in (True, False, False, True, True)]
    assert changes == [False, True, False, True, False]
    assert switches.off(Path("/w")) == frozenset()


def test_only_the_person_can_read_the_file(switches, tmp_path):
    switches.switch("/w/a.md", Path("/w"), on=False)
    assert (tmp_path / "rules.json").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["rules.json"]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"off": {"": "all"}}', b"\xff"])
def test_a_file_that_cannot_be_read_says_so_and_is_not_overwritten(switches, tmp_path, data):
    (tmp_path / "rules.json").write_bytes(data)
    with pytest.raises(SettingsError, match=r"rules\.json"):
        switches.switch("/w/a.md", None, on=False)
    assert (tmp_path / "rules.json").read_bytes() == data
