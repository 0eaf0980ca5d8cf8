"""Which system prompt a task gets: by its models' windows, and by what the person set."""

import asyncio

import pytest
from tests.providers.documents import documents
from tests.tables import for_each

from halocline.context.system_prompt.model_families import size_of
from halocline.protocol.errors import SettingsError
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.catalog.models import ModelInfo
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.resolve import open_model
from halocline.runtime.models.vendors import find_model_facts
from halocline.runtime.prompts.system_prompt import is_compact, read_prompt_options
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings.provider_settings import Price
from halocline.store.settings.settings import Settings

CATALOGUE = Catalogue(BUNDLED, BUNDLED)
SMALL = {"openai/small": Price(window=32_768), "openai/large": Price(window=32_769)}


@for_each(
    "models, settings, compact",
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
        (["llamacpp/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"], {}, True),
        (["ollama/qwen3:4b"], {}, True),
        (["ollama/qwen3:8b"], {}, False),
        (["groq/llama-3.3-70b-versatile"], {}, False),
        (["ollama/qwen3:4b"], {"prompt": "full"}, False),
    ],
)
def test_the_prompt_is_compact_for_a_small_window_or_when_it_is_wanted(models, settings, compact):
    assert is_compact(models, Settings(prices=SMALL, **settings), CATALOGUE) is compact


@pytest.mark.parametrize(
    ("told", "compact"),
    [
        (ModelInfo(size=1.5), True),
        (ModelInfo(size=32.0), False),
        (ModelInfo(window=16_384), True),
        (ModelInfo(window=131_072, size=1.5), True),
        (ModelInfo(window=131_072), False),
        (ModelInfo(), False),
    ],
)
def test_what_its_server_told_of_a_local_model_counts(told, compact):
    catalogue = Catalogue()
    catalogue.told["llamacpp/mine"] = told
    assert is_compact(["llamacpp/mine"], Settings(), catalogue) is compact


async def test_a_local_server_is_asked_before_a_task_with_its_model_begins(tmp_path):
    home, catalogue = Home(tmp_path), Catalogue()
    rows = {"data": [{"id": "mine", "meta": {"n_params": 1_543_714_304}}]}
    async with documents({"/v1/models": rows}) as server:
        settings = Settings(base_url=f"{server.url}/v1")
        keys = Keys(home, {}, base_url=settings.base_url)
        async with asyncio.timeout(20):
            while not is_compact(["llamacpp/mine"], settings, catalogue):  # on a busy machine it may answer too late
                await (await open_model("llamacpp/mine", settings, {}, keys, DiskBlobs(home.blobs), catalogue)).close()


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ollama/qwen2.5-coder:1.5b", 1.5),
        ("lmstudio/google/gemma-3-4b-it", 4),
        ("ollama/gemma3:270m", 0.27),
        ("ollama/gemma3n:e4b", 4),
        ("vllm/Qwen/Qwen3-30B-A3B-Instruct", 30),
        ("mistral/open-mixtral-8x7b", 56),
        ("llamacpp/llama-3.2-3b-4bit", 3),
        ("openai/gpt-5.1", None),
        ("anthropic/claude-sonnet-4-5", None),
        ("ollama/phi4-mini", None),
    ],
)
def test_a_models_name_says_how_large_it_is(name, size):
    assert size_of(name) == size


def test_the_catalogue_knows_the_window():
    assert find_model_facts("openai/gpt-4", Settings(), CATALOGUE).window == 8_192


def test_what_a_person_wants_comes_from_settings_and_files(tmp_path):
    settings, home = Settings(append_system_prompt="Loud.", language="Welsh"), Home(tmp_path)
    assert (read_prompt_options(settings, home).added, read_prompt_options(settings, home).language) == (
        "Loud.",
        "Welsh",
    )
    home.prompts.mkdir()
    (home.prompts / "role.md").write_text("A pirate.")
    assert read_prompt_options(settings, home).sections == {"role": "A pirate."}
    (home.prompts / "mood.md").write_text("Grim.")
    with pytest.raises(SettingsError, match="no section 'mood'"):
        read_prompt_options(settings, home)
