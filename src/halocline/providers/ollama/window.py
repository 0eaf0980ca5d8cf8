"""The context size to ask of an Ollama server: without one, it gives many machines 4,096 tokens.

What must stay true: a model file's own size is left alone, and a model that is loaded with more stays loaded.
"""

import asyncio
from typing import Any

import msgspec

from halocline.net.http import fetch_json
from halocline.protocol.errors import ModelError
from halocline.providers.endpoint import Endpoint
from halocline.providers.http import bearer_headers
from halocline.providers.server_probe import LOCAL_SECONDS, read_ollama_loaded, read_ollama_show

USUAL = 32_768
"""Tokens to ask for if the person set none: enough for an agent, and what most machines can hold."""


async def choose_window(at: Endpoint, root: str) -> int | None:
    """Return the context size for a model of the server at `root`; None leaves it to the server."""
    if at.info.window:
        return at.info.window
    name = msgspec.json.encode({"model": at.model})
    running, described = await asyncio.gather(_ask(at, f"{root}/api/ps"), _ask(at, f"{root}/api/show", name))
    shown = read_ollama_show(described)
    if shown and (shown.own_window or shown.remote_host):
        return None
    wanted = max(read_ollama_loaded(running, at.model) or 0, USUAL)
    return min(wanted, shown.trained_window) if shown and shown.trained_window else wanted


async def _ask(at: Endpoint, url: str, body: bytes = b"") -> Any:
    try:
        return await fetch_json(url, LOCAL_SECONDS, at.network, await bearer_headers(at), body)
    except ModelError:
        return None
