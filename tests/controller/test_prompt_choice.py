"""Which system prompt a task gets: by its models' windows, and by what the person set."""

from pathlib import Path

import pytest

from halocline.controller.assembly import Assembly
from halocline.protocol.errors import SettingsError
from halocline.store.paths import Home
from halocline.store.settings import Price, Settings


def assembly(tmp_path: Path, **settings: object) -> Assembly:
    return Assembly(Home.of({"HALOCLINE_HOME": str(tmp_path / "home")}), Settings(**settings), {})


SMALL = {"openai/small": Price(window=32_768), "openai/large": Price(window=32_769)}


@pytest.mark.parametrize(
    ("models", "settings", "compact"),
    [
        (["openai/small"], {}, True),
        (["openai/large"], {}, False),
        (["openai/large", "openai/small"], {}, True),
        (["openai/nobody-knows"], {}, False),
        (["openai/nobody-knows"], {"context_window": 8_000}, True),
        (["openai/small"], {"context_window": 200_000}, False),
        (["openai/small"], {"prompt": "full"}, False),
        (["openai/large"], {"prompt": "compact"}, True),
        (["scripted/x.toml"], {}, False),
        (["no-such-provider/x"], {}, False),
    ],
)
def test_the_prompt_is_compact_for_a_small_window_or_when_it_is_wanted(tmp_path, models, settings, compact):
    assert assembly(tmp_path, prices=SMALL, **settings).is_compact(models) is compact


def test_the_catalogue_knows_the_window(tmp_path):
    assert assembly(tmp_path).known("openai/gpt-4").window == 8_192


def test_what_a_person_wants_comes_from_settings_and_files(tmp_path):
    made = assembly(tmp_path, append_system_prompt="Loud.", language="Welsh")
    assert (made.wishes().added, made.wishes().language, made.wishes().sections) == ("Loud.", "Welsh", {})
    made.home.prompts.mkdir()
    (made.home.prompts / "role.md").write_text("A pirate.")
    assert made.wishes().sections == {"role": "A pirate."}
    (made.home.prompts / "mood.md").write_text("Grim.")
    with pytest.raises(SettingsError, match="no section 'mood'"):
        made.wishes()
