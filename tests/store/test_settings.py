from pathlib import Path

import pytest

from halocline.protocol.errors import SettingsError
from halocline.protocol.messages import Effort
from halocline.store.settings.load import load_settings, with_overrides
from halocline.store.settings.provider_settings import Timeouts
from halocline.store.settings.settings import Settings


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text)
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml", {}) == Settings()


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'connect_timeout = 3\nproxy = "http://a:1"\nca_file = "x.pem"\n')
    settings = load_settings(path, {"HALOCLINE_CONNECT_TIMEOUT": "4.5", "HALOCLINE_PROXY": "none"})
    assert (settings.connect_timeout, settings.proxy, settings.ca_file) == (4.5, "none", "x.pem")


def test_a_variable_wins_over_the_times_of_a_provider(tmp_path: Path) -> None:
    path = written(tmp_path, "[timeouts.ollama]\nfirst_byte = 7200\nstall = 60\n")
    settings = load_settings(path, {"HALOCLINE_FIRST_BYTE_TIMEOUT": "5"})
    assert settings.first_byte_timeout == 5
    assert settings.timeouts == {"ollama": Timeouts(stall=60)}


def test_nothing_chosen_changes_nothing() -> None:
    settings = Settings(timeouts={"ollama": Timeouts(connect=1)})
    assert with_overrides(settings, {}) == settings


@pytest.mark.parametrize(
    ("text", "env", "named"),
    [
        ("connect_timeout = 0\n", {}, "connect_timeout"),
        ("[timeouts.ollama]\nfirst = 1\n", {}, "first"),
        ("[timeouts.ollama]\nstall = -1\n", {}, "stall"),
        ('[prices."a/b"]\ninput = 1\noutput = inf\n', {}, "output"),
        ("", {"HALOCLINE_STALL_TIMEOUT": "soon"}, "HALOCLINE_STALL_TIMEOUT"),
    ],
)
def test_a_time_that_is_none_is_named(tmp_path: Path, text: str, env: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        load_settings(written(tmp_path, text), env)


def test_an_unknown_profile_lists_those_there_are(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('[profiles.cheap]\nmodel = "openai/b"\n')
    with pytest.raises(SettingsError) as error:
        load_settings(path, {}, profile="dear")
    assert "cheap" in error.value.hint


def test_a_wrong_setting_in_a_profile_names_the_profile(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("[profiles.cheap]\nmax_step = 3\n")
    with pytest.raises(SettingsError, match=r"max_step.* in profile cheap"):
        load_settings(path, {}, profile="cheap")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('approval_mode = "bogus"', "Choose one of: ask, accept-edits, auto, yolo."),
        ("modle = 1", "Did you mean model?"),
        ('max_steps = "foo"', "It takes a whole number."),
        ("max_steps = -1", "Expected `int` >= "),
        ("mcp.enabled = 3", "It takes true or false."),
        ("mcp.enable = true", "Did you mean enabled?"),
        ('extra_tools = ["nope"]', "Choose one of: "),
        ("timeouts.ollama.firstbyte = 1", "Did you mean first_byte?"),
        ("model = 3", "It takes text in quotes."),
    ],
)
def test_a_wrong_value_has_another_hint_than_an_unknown_setting(tmp_path: Path, text: str, hint: str) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(text)
    with pytest.raises(SettingsError) as error:
        load_settings(settings, {})
    assert hint in error.value.hint


def test_the_file_can_name_the_profile_to_use(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('profile = "cheap"\n[profiles.cheap]\nmax_steps = 3\n')
    assert load_settings(path, {}).max_steps == 3


def test_an_effort_that_was_chosen_is_not_overruled_by_the_file_s_budget(tmp_path: Path) -> None:
    path = written(tmp_path, 'effort = "low"\nthinking_budget = 9000\n')
    settings = load_settings(path, {})
    assert (settings.effort, settings.thinking_budget) == (Effort.LOW, 9000)
    chosen = load_settings(path, {"HALOCLINE_EFFORT": "max"})
    assert (chosen.effort, chosen.thinking_budget) == (Effort.MAX, None)
    both = with_overrides(settings, {"effort": Effort.HIGH, "thinking_budget": 1})
    assert (both.effort, both.thinking_budget) == (Effort.HIGH, 1)


@pytest.mark.parametrize("text", ['effort = "hard"\n', "thinking_budget = -1\n"])
def test_a_wish_that_is_none_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=text.split()[0]):
        load_settings(written(tmp_path, text), {})
