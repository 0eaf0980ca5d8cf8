"""Tries the way to a model, and says how far it goes: server, key, model. A query: nothing is kept of it."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import cast

from msgspec.structs import replace

from halocline.ports.blobs import Blobs
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.protocol.messages import Text, UserMessage
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.model_list import ModelDirectory, gives_no_list
from halocline.providers.endpoint import Endpoint
from halocline.runtime.assembly.network import with_short_timeouts
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.resolve import build_client, choose_model, resolve_endpoint
from halocline.store.settings.settings import Settings

_SHORT_REPLY = 16
"""Tokens; OpenAI's Responses API allows no less."""
_NOT_REACHED = frozenset(
    {
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.NETWORK,
        ModelErrorKind.STALLED,
        ModelErrorKind.TLS,
        ModelErrorKind.PROXY,
    }
)


class Connection(Value, frozen=True, omit_defaults=False):
    """How far the way to a model went; `failure`, `hint` and `code` are empty when it went to the end.

    `accepted` is None where no key was sent, or where it is not known that the server looks at keys. `known` says
    whether the server has the model; None: it could not be asked, or about none.
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
) -> Connection:
    """Try the way to the model that was named, or would be taken. Raises UsageError and SecretsError."""
    vendor, model = await choose_model(named, settings, keys, catalogue)
    if vendor.family == "scripted":
        raise UsageError("A scripted model has no server.", "Name a model that has one with -m.")
    at = with_short_timeouts(await resolve_endpoint(vendor, model, settings, env, keys))
    return await try_connection(at, build_client(at, blobs))


async def try_connection(at: Endpoint, speaker: Model) -> Connection:
    """Ask for the list of models; where there is none, ask `speaker`, which leads to the same place, for a word.

    Raises:
        UsageError: the base URL is none.
    """
    began = time.monotonic()
    directory = ModelDirectory(at)
    tried = Connection(at.name, directory.host, at.key_source)
    try:
        tried = await _ask_model(tried, directory, at, speaker)
    except ModelError as error:
        tried = _failed_connection(tried, error)
    finally:
        await directory.close()
        await speaker.close()
    return replace(tried, seconds=round(time.monotonic() - began, 3))


async def _ask_model(tried: Connection, directory: ModelDirectory, at: Endpoint, speaker: Model) -> Connection:
    """Raises ModelError."""
    accepted = (await directory.knows_key()) or bool(at.key and at.at_home) or None
    try:
        names = await directory.names()
    except ModelError as error:
        if not (at.model and gives_no_list(error)):
            raise
        await _hear_a_word(speaker)
        return replace(tried, accepted=accepted, known=True)
    if not at.model:
        return replace(tried, accepted=accepted)
    if at.model in names or await directory.has(at.model):
        return replace(tried, accepted=accepted, known=True)
    text = f"{at.vendor.title} does not know the model {at.model}."
    return replace(
        tried, accepted=accepted, known=False, failure=text, hint=_nearest_model(at, names), code="model_not_found"
    )


async def _hear_a_word(speaker: Model) -> None:
    """Have the model begin a reply. One without words will do. Raises ModelError."""
    asked = UserMessage(content=(Text("Say: ok"),))
    request = Request(model="", system="", messages=(asked,), max_tokens=_SHORT_REPLY)
    # Models are async generators: only those promise to close what is left early.
    events = cast(AsyncGenerator[ModelEvent, None], speaker.stream(request))
    try:
        async with aclosing(events):
            await anext(events, None)
    except ModelError as error:
        if error.kind is not ModelErrorKind.EMPTY:
            raise


def _failed_connection(tried: Connection, error: ModelError) -> Connection:
    reached = error.kind not in _NOT_REACHED
    accepted = False if error.kind is ModelErrorKind.AUTH else None
    return replace(tried, reached=reached, accepted=accepted, failure=error.text, hint=error.hint, code=error.code)


def _nearest_model(at: Endpoint, names: Sequence[str]) -> str:
    """What the model's name may have been meant for."""
    from difflib import get_close_matches

    near = get_close_matches(at.model, names, n=3, cutoff=0.5) or names[:3]
    return f"It has, among others: {', '.join(near)}." if near else "Check the model's name given with -m."
