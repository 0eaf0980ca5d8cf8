"""What `extra_body` adds to requests, on the wire to a server of each family."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.servers.model_server import ModelServer, Turn

from halocline.ports.model import Request
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.secrets.secret import Secret
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.runtime.models.keys import FoundKey, Keys
from halocline.runtime.models.resolve import open_model
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

FAMILIES = {"anthropic/m": "anthropic", "gemini/m": "gemini", "openai-responses/m": "openai", "openrouter/m": "openai"}


async def send(folder: Path, model: str, extra_body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of one request."""
    home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
    keys = Keys(home, {}, FoundKey(Secret("k"), "--api-key"), "")
    async with ModelServer([Turn(text="done")]) as server:
        settings = Settings(base_url=server.url(FAMILIES[model]), extra_body=extra_body)
        opened = await open_model(model, settings, {}, keys, DiskBlobs(folder / "blobs"), Catalogue(BUNDLED))
        asked = Request(model=model, system="", messages=(UserMessage((Text("hello"),)),), tools=(), max_tokens=99)
        async with aclosing(opened.stream(asked)) as events:
            assert [event async for event in events]
        await opened.close()
        return server.requests[-1].body


@pytest.mark.parametrize("model", FAMILIES)
async def test_fields_are_added_to_the_requests_of_every_family(tmp_path: Path, model: str) -> None:
    body = await send(tmp_path, model, {"*/m": {"temperature": 0.5}, "other/*": {"top_p": 1}})
    assert body.pop("temperature") == 0.5
    assert body == await send(tmp_path, model, {})


async def test_objects_are_merged_and_later_patterns_win(tmp_path: Path) -> None:
    rows = {"gemini/*": {"generationConfig": {"temperature": 1, "topK": 3}}, "*/m": {"generationConfig": {"topK": 4}}}
    body = await send(tmp_path, "gemini/m", rows)
    assert body["generationConfig"] == {"maxOutputTokens": 99, "temperature": 1, "topK": 4}


@pytest.mark.parametrize("name", ["model", "messages", "tools", "stream"])
async def test_the_conversation_and_the_model_cannot_be_replaced(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        await send(tmp_path, "openrouter/m", {"*": {name: []}})
