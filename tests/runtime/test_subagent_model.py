import pytest

from halocline.context.user_files.agents import Agent
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.runtime.models.subagent_model import chosen_model, newest_model
from halocline.store.settings.settings import Settings

CATALOGUE = Catalogue(BUNDLED)
NAMES = [
    "claude-haiku-4-5",
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-6",
    "claude-sonnet-5",
    "anthropic/claude-sonnet-5.5",
    "anthropic/claude-sonnet-5.5:batch",
    "claude-sonnet-10",
]


def agent(model: str, *, own: bool = False) -> Agent:
    return Agent("a", "does", "You do.", "/a.md", own=own, model=model)


@pytest.mark.parametrize(
    ("named", "own", "model", "why"),
    [
        ("", False, "openai/gpt-5.6", ""),
        ("openai/gpt-5-mini", False, "openai/gpt-5-mini", ""),
        ("gpt-5-mini", False, "openai/gpt-5-mini", ""),
        ("sonnet", False, "openai/gpt-5.6", "no known model 'sonnet'"),
        ("gpt-nonsense", False, "openai/gpt-5.6", "no known model 'gpt-nonsense'"),
        ("anthropic/claude-sonnet-5", False, "openai/gpt-5.6", "may not switch to anthropic"),
        ("anthropic/claude-sonnet-5", True, "anthropic/claude-sonnet-5", ""),
    ],
)
def test_a_file_chooses_as_far_as_it_may(named, own, model, why):
    got, said = chosen_model(agent(named, own=own), "openai/gpt-5.6", Settings(), CATALOGUE)
    assert got == model
    assert why in said
    assert bool(why) == bool(said)


def test_a_family_means_its_newest_model():
    assert newest_model("sonnet", NAMES) == "claude-sonnet-10"
    assert newest_model("sonnet", NAMES[:-1]) == "anthropic/claude-sonnet-5.5"
    assert newest_model("haiku", NAMES) == "claude-haiku-4-5"
    assert newest_model("opus", NAMES) == ""
    model, _ = chosen_model(agent("haiku"), "anthropic/claude-opus-5", Settings(), CATALOGUE)
    assert model.startswith("anthropic/claude-haiku-")
