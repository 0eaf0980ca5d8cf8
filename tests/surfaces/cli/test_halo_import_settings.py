import pytest
from tests.surfaces.cli.halo_process import Halo

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def codex(halo: Halo) -> None:
    file = halo.root / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text('model = "gpt-5.6"\napproval_policy = "never"\n"\\u001b[31mred" = 1\n')


async def test_without_a_person_settings_of_others_are_only_shown(halo: Halo, codex: None) -> None:
    shown = await halo.run("import", "settings")
    assert 'model: model = "openai/gpt-5.6"' in shown.out
    assert "approval_policy: permissions are yours to give again" in shown.out
    assert "\x1b" not in shown.out
    assert "Nothing was set." in shown.out
    assert not (halo.home / "settings.toml").exists()


async def test_with_yes_they_are_set_once(halo: Halo, codex: None) -> None:
    assert (await halo.run("import", "settings", "--yes")).code == 0
    assert (await halo.run("config", "get", "model")).out == "openai/gpt-5.6\n"
    again = await halo.run("import", "settings", "--json")
    assert [line["key"] for line in again.lines if line.get("name")] == []
