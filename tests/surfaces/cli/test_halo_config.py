import json

import pytest
from tests.surfaces.cli.halo_process import Halo

pytestmark = [pytest.mark.process, pytest.mark.slow]
FILE = '# mine\nmodel = "openai/x"  # why\n\n[mcp]\n# more\nenabled = true\n'


@pytest.fixture
def file(halo: Halo):
    halo.home.mkdir()
    path = halo.home / "settings.toml"
    path.write_text(FILE)
    return path


async def test_a_value_is_printed_with_its_source_if_wanted(halo: Halo, file) -> None:
    assert (await halo.run("config", "get", "model")).out == "openai/x\n"
    assert (await halo.run("config", "get", "model", "--explain")).out == "openai/x  (settings.toml)\n"
    by_variable = await halo.run("config", "get", "model", "--explain", env=halo.env | {"HALOCLINE_MODEL": "a/b"})
    assert by_variable.out == "a/b  (HALOCLINE_MODEL)\n"
    table = (await halo.run("config", "get", "mcp", "--explain")).out.splitlines()
    assert table[0] == "mcp.enabled = true  (settings.toml)"
    assert all(line.endswith("(default)") for line in table[1:])


async def test_all_are_listed_alone_too(halo: Halo, file) -> None:
    alone, listed = await halo.run("config"), await halo.run("config", "list")
    assert alone.out == listed.out
    assert "model = openai/x\n" in alone.out
    some = await halo.run("config", "list", "sandbox", "--json")
    assert all("sandbox" in json.dumps(line) for line in some.lines)
    assert some.lines[0]["source"] == ""


async def test_a_change_keeps_the_comments(halo: Halo, file) -> None:
    for words in (("model", "openai/y"), ("max_steps", "5"), ("extra_tools", "new_rule,report_bug")):
        assert (await halo.run("config", "set", *words)).code == 0
    assert (await halo.run("config", "set", "providers.work.base_url", "http://x/v1")).code == 0
    assert (await halo.run("config", "unset", "mcp.enabled")).out.startswith("mcp.enabled is now its default")
    written = file.read_text()
    for line in ("# mine", 'model = "openai/y"  # why', "# more", "max_steps = 5", 'base_url = "http://x/v1"'):
        assert line in written
    assert "enabled" not in written
    assert (await halo.run("config", "get", "extra_tools")).out == '["new_rule", "report_bug"]\n'


async def test_what_overrides_a_change_is_named(halo: Halo, file) -> None:
    done = await halo.run("config", "set", "model", "a/c", env=halo.env | {"HALOCLINE_MODEL": "a/b"})
    assert "but HALOCLINE_MODEL is set and overrides it" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get", "modle"), "Did you mean model?"),
        (("set", "modle", "x"), "Did you mean model?"),
        (("set", "approval_mode", "sure"), "Choose one of: ask, accept-edits, auto, yolo."),
        (("set", "checkpoints", "no"), "It takes true or false."),
        (("set", "max_steps", "0"), "Nothing was changed."),
        (("set", "mcp", "x"), "There is no setting 'mcp'"),
        (("unset", "mcp.x"), "There is no setting 'mcp.x'"),
        (("set", "extra_tools", "a"), "Nothing was changed."),
    ],
)
async def test_a_wrong_change_leaves_the_file(halo: Halo, file, words: tuple[str, ...], said: str) -> None:
    done = await halo.run("config", *words)
    assert (done.code, said in done.err, file.read_text()) == (2, True, FILE), done.err


async def test_a_setting_with_a_wrong_value_is_set_and_reset(halo: Halo, file) -> None:
    file.write_text("[terminal]\ntheme = 7\n")
    refused = await halo.run("config", "get", "terminal.theme")
    assert (refused.code, "terminal.theme" in refused.err, "cannot be 7" in refused.err) == (2, True, True)
    assert (await halo.run("config", "set", "terminal.theme", "plain")).out.startswith("terminal.theme is now plain")
    file.write_text("terminal = 7\n")
    assert (await halo.run("config", "unset", "terminal.theme")).out.startswith("terminal.theme is now its default")
    assert file.read_text() == ""


async def test_no_key_is_shown(halo: Halo, file) -> None:
    file.write_text('[providers.work]\nbase_url = "http://x"\nheaders = { x-key = "hunter2hunter2" }\n')
    listed = await halo.run("config", "list", "--json")
    assert "hunter2" not in listed.out


async def test_settings_of_the_folder_say_where_they_are_from_and_which_are_not_in_force(halo: Halo, file) -> None:
    own = halo.folder / ".halocline/settings.toml"
    own.parent.mkdir()
    own.write_text('max_steps = 7\napproval_mode = "yolo"\nmodel = "openai/z"\n')
    steps = await halo.run("config", "get", "max_steps", "--explain")
    assert (steps.out, steps.err) == ("7  (.halocline/settings.toml)\n", "")
    listed = await halo.run("config", "--explain")
    assert "model = openai/x  (settings.toml)\n" in listed.out
    assert [line.split(" ")[1] for line in listed.err.splitlines()] == ["approval_mode", "model"]
    trusted = await halo.run("trust", "add")
    assert '  setting           model = "openai/z"\n' in trusted.out
    assert (await halo.run("config", "get", "model", "--explain")).out == "openai/z  (.halocline/settings.toml)\n"
    changed = await halo.run("config", "set", "max_steps", "9")
    assert ".halocline/settings.toml is set and overrides it" in changed.out
