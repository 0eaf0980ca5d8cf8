from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer

from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Mode
from halocline.runtime.assembly.assembly import Assembly
from halocline.store.paths import Home
from halocline.store.settings.provider_settings import Provider
from halocline.store.settings.sections import PlanSettings
from halocline.store.settings.settings import Settings

ANTHROPIC, OPENAI = {"ANTHROPIC_API_KEY": "k"}, {"OPENAI_API_KEY": "k"}
OPENROUTER = {"OPENROUTER_API_KEY": "k"}


async def name(tmp_path: Path, named: str, env: dict[str, str], **settings: object) -> str:
    return (await Assembly(Home(tmp_path), Settings(**settings), env).names(named))[Mode.ACT]


@pytest.mark.parametrize(
    ("named", "env", "full"),
    [
        ("gpt-5.1", OPENAI, "openai/gpt-5.1"),
        ("claude-opus-4-5-20251101", ANTHROPIC, "anthropic/claude-opus-4-5-20251101"),
        ("sonnet", ANTHROPIC, "anthropic/claude-sonnet-5-5"),
        ("opus", ANTHROPIC | OPENROUTER, "anthropic/claude-opus-5-5"),
        ("haiku", ANTHROPIC, "anthropic/claude-haiku-5-5"),
        ("gpt", OPENAI, "openai/gpt-5.6"),
        ("anthropic", ANTHROPIC, "anthropic/claude-sonnet-5-5"),
        ("openai/gpt-5.1", ANTHROPIC, "openai/gpt-5.1"),
    ],
)
async def test_a_name_without_a_provider_is_found_among_those_with_a_key(
    tmp_path: Path, named: str, env: dict[str, str], full: str
) -> None:
    assert await name(tmp_path, named, env) == full


async def test_a_word_means_the_model_of_whichever_provider_has_the_key(tmp_path: Path) -> None:
    assert (await name(tmp_path, "sonnet", OPENROUTER)).startswith("openrouter/anthropic/claude-sonnet-")


@pytest.mark.parametrize("to", ["openai/gpt-5.1", "gpt-5.1"])
async def test_aliases_of_ones_own_go_before_all_others(tmp_path: Path, to: str) -> None:
    aliases = {"sonnet": to, "a/b": "openai/gpt-5.2"}
    assert await name(tmp_path, "sonnet", ANTHROPIC | OPENAI, model_aliases=aliases) == "openai/gpt-5.1"
    assert await name(tmp_path, "a/b", OPENAI, model_aliases=aliases) == "openai/gpt-5.2"
    assert await name(tmp_path, "", OPENAI, model_aliases=aliases, model="sonnet") == "openai/gpt-5.1"


async def test_a_model_whose_provider_has_no_key_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        await name(tmp_path, "sonnet", OPENAI)
    assert "'sonnet'" in refused.value.text
    assert "anthropic/claude-sonnet-5-5" in refused.value.hint
    assert "halo login anthropic" in refused.value.hint


async def test_the_model_of_plan_mode_and_fallbacks_may_be_written_so_too(tmp_path: Path) -> None:
    settings = Settings(model="gpt-5.1", plan=PlanSettings(model="gpt-5.2"), fallback_models=("gpt-5",))
    assembly = Assembly(Home(tmp_path), settings, OPENAI)
    model = await assembly.model("")
    assert model.name in ("openai/gpt-5.1", "openai/gpt-5.2")
    assert await assembly.names("") == {Mode.ACT: "openai/gpt-5.1", Mode.PLAN: "openai/gpt-5.2"}
    await model.close()


LISTED = ["qwen3-8b", "qwen/qwen3-30b", "llama3:latest", "gpt-5.1"]


@pytest.mark.parametrize("named", ["qwen3-8b", "qwen/qwen3-30b", "llama3", "gpt-5.1"])
@pytest.mark.parametrize("how", ["base_url", "providers"])
async def test_a_name_is_looked_up_at_the_server_that_was_set_up(tmp_path: Path, named: str, how: str) -> None:
    async with ModelServer(models=LISTED) as server:
        url = server.url("openai")
        given = (
            {"base_url": url}
            if how == "base_url"
            else {"providers": {"mine": Provider(base_url=url, family="openai_chat")}}
        )
        full = await name(tmp_path, named, OPENAI, **given)
    provider = "openai-compatible" if how == "base_url" else "mine"
    assert full in (f"{provider}/{named}", f"{provider}/{named}:latest")


async def test_a_name_that_the_only_server_does_not_list_is_said_to_be_missing_there(tmp_path: Path) -> None:
    async with ModelServer(models=LISTED) as server:
        with pytest.raises(UsageError) as refused:
            await name(tmp_path, "qwen9", {}, base_url=server.url("openai"))
    assert "has no model 'qwen9'" in refused.value.text
    assert "qwen3-8b" in refused.value.hint


async def test_a_server_that_lists_nothing_is_given_the_name(tmp_path: Path) -> None:
    async with ModelServer(models=None) as server:
        full = await name(tmp_path, "qwen9", {}, base_url=server.url("openai"))
    assert full == "openai-compatible/qwen9"
