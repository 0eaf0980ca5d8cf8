import pytest
from tests.providers.streams import collected
from tests.servers.model_server import ModelServer, Turn
from tests.servers.proxy_server import ProxyServer

from halocline.protocol.secrets.secret import Secret
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.gemini.request import Gemini
from halocline.providers.ollama.request import Ollama
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.sdk.model import Library
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.on_refusal import TextToolsOnRefusal
from halocline.providers.wrappers.bounded import Bounded
from halocline.providers.wrappers.model_info_probe import Informed
from halocline.runtime.models.keys import FoundKey, Keys
from halocline.runtime.models.resolve import open_model
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings


def given(tmp_path):
    """A key as a flag gives it."""
    return Keys(Home(tmp_path), {}, FoundKey(Secret("sk-1"), "--api-key"))


SERVER = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("named", "base_url", "kind"),
    [
        ("anthropic/m", "", Anthropic),
        ("openai/m", "", OpenAIResponses),
        ("openai/m", SERVER, OpenAIChat),
        ("openai-responses/m", SERVER, OpenAIResponses),
        ("deepseek/m", "", OpenAIChat),
        ("ollama/m", "", Ollama),
        ("gemini/m", "", Gemini),
        ("bedrock/m", "", Library),
        ("azure-chat/m", SERVER, Library),
    ],
)
async def test_a_model_speaks_what_its_vendor_speaks_at_that_address(tmp_path, named, base_url, kind):
    model = await open_model(
        named, Settings(base_url=base_url), {}, given(tmp_path), DiskBlobs(tmp_path), Catalogue(BUNDLED)
    )
    spoken = model
    while isinstance(spoken, Bounded | Correcting | Informed | TextToolsOnRefusal):
        spoken = spoken.model
    assert type(spoken) is kind
    assert model.name == named
    await model.close()


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses", "gemini"])
async def test_every_family_goes_the_way_that_the_settings_name(tmp_path, provider):
    async with ModelServer([Turn(text="Hello.")]) as server, ProxyServer() as proxy:
        settings = Settings(base_url=server.url(provider), proxy=proxy.url)
        model = await open_model(
            f"{provider}/m", settings, {}, given(tmp_path), DiskBlobs(tmp_path), Catalogue(BUNDLED)
        )
        await collected(model)
        await model.close()
    assert (len(server.requests), len([sent for sent in proxy.requests if sent.method == "POST"])) == (1, 1)
