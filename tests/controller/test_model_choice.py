import pytest
from tests.providers.streams import MemoryBlobs

from halocline.controller.model_choice import open_model
from halocline.store.settings import Settings


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "anthropic/claude-sonnet-5-5"),
        ({"OPENAI_API_KEY": "k"}, "openai/gpt-5.6"),
        ({"GEMINI_API_KEY": "k"}, "gemini/gemini-3.8-flash"),
        ({"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": " "}, "gemini/gemini-3.8-flash"),
        # Google's other services use this variable, too, so that a key for models alone goes before it.
        ({"GOOGLE_API_KEY": "k", "OPENROUTER_API_KEY": "k"}, "openrouter/openrouter/auto"),
    ],
)
async def test_the_first_vendor_with_a_key_is_taken_when_no_model_is_named(environ: dict[str, str], name: str) -> None:
    model = await open_model("", Settings(), environ, "", MemoryBlobs())
    assert model.name == name
    await model.close()


async def test_a_model_is_opened_in_its_vendor_s_family() -> None:
    for provider, kind in (("anthropic", "Anthropic"), ("mistral", "OpenAIChat"), ("gemini", "Gemini")):
        model = await open_model(f"{provider}/x", Settings(), {}, "key", MemoryBlobs())
        assert type(model).__name__ == kind
        await model.close()
