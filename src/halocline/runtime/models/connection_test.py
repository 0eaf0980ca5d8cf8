"""Test the connection to a model step by step: server, key, model. A query: nothing is stored."""

import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from halocline.ports.blobs import Blobs
from halocline.ports.model import Model, Request
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.endpoint import Endpoint
from halocline.providers.model_list import ModelDirectory, gives_no_list
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.resolve import build_client, choose_model, resolve_endpoint
from halocline.runtime.network import shorten_timeouts
from halocline.store.settings.settings import Settings

_SHORT_REPLY = 16
"""Tokens; the minimum of OpenAI's Responses API."""
_NOT_REACHED = frozenset(
    {
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.NETWORK,
        ModelErrorKind.STALLED,
        ModelErrorKind.TLS,
        ModelErrorKind.PROXY,
    }
)


class ModelConnection(Value, frozen=True, omit_defaults=False):
    """Result of a connection test; `failure`, `hint` and `code` are empty on success.

    `accepted` is None if no key was sent, or the server may not check keys. `known` is True if the server has the
    model, and None if it could not be asked or no model was named.
    """

    model: str
    server: str
    key_source: str = ""
    reached: bool = True
    accepted: bool | None = None
    known: bool | None = None
    seconds: float = 0.0
    failure: str = ""
    hint: str = ""
    code: str = ""


async def check_connection(
    named: str, settings: Settings, env: Mapping[str, str], keys: Keys, blobs: Blobs, catalogue: Catalogue
) -> ModelConnection:
    """Test the connection to the named model, or to the default one. Raises UsageError and SecretsError."""
    vendor, model = await choose_model(named, settings, keys, catalogue)
    if vendor.family in ("scripted", "vscode", "plugin"):
        raise UsageError(f"{vendor.title} has no server to test.", "Name another model with -m.")
    at = shorten_timeouts(await resolve_endpoint(vendor, model, settings, env, keys))
    return await try_connection(at, build_client(at, blobs))


async def try_connection(at: Endpoint, speaker: Model) -> ModelConnection:
    """Request the list of models; if the server has none, request a short reply from `speaker`, its client.

    Raises:
        UsageError: the base URL is invalid.
    """
    began = time.monotonic()
    directory = ModelDirectory(at)
    tried = ModelConnection(at.name, directory.host, at.key_source)
    try:
        tried = await _ask_model(tried, directory, at, speaker)
    except ModelError as error:
        tried = _failed_connection(tried, error)
    finally:
        await directory.close()
        await speaker.close()
    return replace(tried, seconds=round(time.monotonic() - began, 3))


async def _ask_model(
    tried: ModelConnection, directory: ModelDirectory, at: Endpoint, speaker: Model
) -> ModelConnection:
    """Test server, key and model. Raises ModelError."""
    accepted = (await directory.knows_key()) or bool(at.tokens and at.at_home) or None
    try:
        names = await directory.names()
    except ModelError as error:
        if not (at.model and gives_no_list(error)):
            raise
        await _request_reply(speaker)
        return replace(tried, accepted=accepted or bool(at.key and at.at_home) or None, known=True)
    accepted = accepted or await directory.refuses_others() or None
    if not at.model:
        return replace(tried, accepted=accepted)
    if at.model in names or await directory.has(at.model):
        return replace(tried, accepted=accepted, known=True)
    text = f"{at.vendor.title} has no model {at.model}."
    return replace(
        tried, accepted=accepted, known=False, failure=text, hint=_nearest_model(at, names), code="model_not_found"
    )


async def _request_reply(speaker: Model) -> None:
    """Have the model begin a reply, which may be empty. Raises ModelError."""
    asked = UserMessage(content=(Text("Say: ok"),))
    request = Request(model="", system="", messages=(asked,), max_tokens=_SHORT_REPLY)
    try:
        async with aclosing(speaker.stream(request)) as events:
            await anext(events, None)
    except ModelError as error:
        if error.kind not in (ModelErrorKind.EMPTY, ModelErrorKind.TOO_LONG):
            raise


def _failed_connection(tried: ModelConnection, error: ModelError) -> ModelConnection:
    reached = error.kind not in _NOT_REACHED
    accepted = False if error.kind is ModelErrorKind.AUTH else None
    return replace(tried, reached=reached, accepted=accepted, failure=error.text, hint=error.hint, code=error.code)


def _nearest_model(at: Endpoint, names: Sequence[str]) -> str:
    """Suggest model names that the server has."""
    from difflib import get_close_matches

    near = get_close_matches(at.model, names, n=3, cutoff=0.5) or names[:3]
    return f"It has, among others: {', '.join(near)}." if near else "Check the model name that you gave with -m."
