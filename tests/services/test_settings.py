from collections import Counter
from pathlib import Path

import pytest

from halocline.protocol.errors import HaloclineError, SettingsError, UsageError
from halocline.protocol.events.plugins import Plugin, PluginPlace
from halocline.services.settings import SECTIONS, SettingsService
from halocline.services.themes import ThemeService
from halocline.store.paths import Home
from halocline.store.settings.load import load_settings
from halocline.store.settings.settings import Settings
from halocline.store.themes import BUILT_IN, TERMINAL


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_every_setting_is_in_one_section() -> None:
    assert Counter(name for names in SECTIONS.values() for name in names) == Counter(Settings.__struct_fields__)


def test_every_setting_is_told_and_may_be_set_to_what_it_is(home: Home) -> None:
    desk = SettingsService(home, {})
    for row in desk.listed():
        assert row.doc, row.name
        if row.default is not None:
            desk.put(row.name, row.default)
    assert load_settings(home.settings, {}) == Settings()


def test_a_value_says_where_it_is_from(home: Home) -> None:
    home.settings.write_text('profile = "fast"\nmax_steps = 5\n[profiles.fast]\nmax_failures = 7\n[mcp]\nwait = 1\n')
    rows = {row.name: row for row in SettingsService(home, {"HALOCLINE_MODEL": "a/b"}).listed()}
    sources = {name: rows[name].source for name in ("model", "max_steps", "max_failures", "mcp.wait", "mcp.share")}
    assert sources == {
        "model": "HALOCLINE_MODEL",
        "max_steps": "settings.toml",
        "max_failures": "profile fast",
        "mcp.wait": "settings.toml",
        "mcp.share": "",
    }


def test_what_looks_like_a_key_is_not_shown_and_never_written_back(home: Home) -> None:
    text = 'proxy = "http://me:secret12@proxy.example"\n[providers.own.headers]\nx-key = "abc"\n'
    home.settings.write_text(text)
    desk = SettingsService(home, {})
    rows = {row.name: row for row in desk.listed()}
    assert "secret12" not in repr(rows)
    assert "abc" not in repr(rows["providers"])
    assert rows["proxy"].hidden
    for name in ("proxy", "providers"):
        with pytest.raises(HaloclineError, match="is hidden"):
            desk.put(name, rows[name].value)
    assert home.settings.read_text() == text


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_steps", 0), ("max_steps", "many"), ("nothing", 1), ("mcp", {"no": 1}), ("mcp.nothing", 1), ("model", 5)],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(home: Home, name: str, value: object) -> None:
    home.settings.write_text("max_steps = 5\n")
    with pytest.raises(HaloclineError):
        SettingsService(home, {}).put(name, value)
    assert home.settings.read_text() == "max_steps = 5\n"


def test_a_file_that_is_wrong_already_is_left_alone(home: Home) -> None:
    home.settings.write_text("max_steps = = 5\n")
    with pytest.raises(HaloclineError):
        SettingsService(home, {}).put("max_steps", 7)
    assert home.settings.read_text() == "max_steps = = 5\n"


def break_setting(file: Path, name: str) -> None:
    """Write a file in which nothing but this setting is invalid."""
    for wrong in ("7", '"§"', "[[1]]"):
        file.write_text(f"# mine\n{name} = {wrong}\n")
        try:
            load_settings(file, {})
        except SettingsError:
            return
    raise AssertionError(f"{name} takes anything")


def test_every_setting_can_be_set_and_reset_whatever_its_value_is_before(home: Home) -> None:
    for row in SettingsService(home, {}).listed():
        values = [None, *([] if row.default is None else [row.default])]
        for place in (row.name, row.name.partition(".")[0]):
            for value in values:
                break_setting(home.settings, place)
                SettingsService(home, {}).put(row.name, value)
                assert load_settings(home.settings, {}) == Settings(), row.name
                assert home.settings.read_text().startswith("# mine\n")


def test_another_invalid_setting_stops_a_change_and_is_named(home: Home) -> None:
    home.settings.write_text("max_steps = 0\n[terminal]\ntheme = 7\n")
    with pytest.raises(SettingsError, match=r"max_steps in .* cannot be 0"):
        SettingsService(home, {}).put("terminal.theme", "plain")
    with pytest.raises(SettingsError, match=r"terminal\.theme in .* cannot be 7"):
        SettingsService(home, {}).put("max_steps", 5)


def test_a_byte_order_mark_is_no_part_of_the_file(home: Home) -> None:
    home.settings.write_bytes(b"\xef\xbb\xbfmax_steps = 5\n")
    assert load_settings(home.settings, {}).max_steps == 5
    SettingsService(home, {}).put("max_steps", 7)
    assert load_settings(home.settings, {}).max_steps == 7


def test_a_link_to_the_file_stays_a_link_and_the_mode_stays(home: Home, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    home.settings.symlink_to(real)
    SettingsService(home, {}).put("max_steps", 7)
    assert home.settings.is_symlink()
    assert real.read_text() == "# mine\nmax_steps = 7\n"
    assert real.stat().st_mode & 0o777 == 0o640


def test_the_theme_is_one_of_those_that_there_are(home):
    styles = "".join(f"{role} = '{style}'\n" for role, style in TERMINAL.styles.items())
    (home.root / "themes").mkdir()
    (home.root / "themes/dusk.toml").write_text(styles)
    notes = Plugin("notes", "1", "", str(home.root), places=(PluginPlace("theme", "themes"),))
    service = SettingsService(home, {}, themes=ThemeService("notes:gone", lambda: [notes]))
    (row,) = service.find("terminal.theme")
    assert (row.kind, row.choices) == ("choice", (*(theme.name for theme in BUILT_IN), "notes:dusk"))
    assert row.doc.startswith("The theme notes:gone cannot be used, so the built-in terminal is shown. ")
    service.put("terminal.theme", "notes:dusk")
    with pytest.raises(UsageError, match="There is no theme 'dusk'") as refused:
        service.put("terminal.theme", "dusk")
    assert refused.value.hint == "Use one of: terminal, color-blind, high-contrast, plain, notes:dusk."
    assert service.find("terminal.theme")[0].value == "notes:dusk"
