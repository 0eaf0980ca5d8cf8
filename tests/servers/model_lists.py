"""Model lists and single models, as each vendor sends them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.servers.server_connection import ReceivedRequest

_PATH = re.compile(r"/(v1|v1beta)/models(?:/(.+))?")


def answer_model_list(request: ReceivedRequest, models: Sequence[str]) -> tuple[int, Any] | None:
    """The status and document for a request about models; None for any other request."""
    path = request.path.partition("?")[0]
    if request.method != "GET":
        return None
    if path == "/v1/key":
        return 200, {"data": {"label": "sk-or-v1-…", "usage": 0, "limit": None, "is_free_tier": False}}
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    row, whole = _vendor_rows(found[1], request)
    if found[2] is None:
        return 200, whole([row(model) for model in models])
    if found[2] in models:
        return 200, row(found[2])
    return 404, {"error": {"type": "not_found_error", "message": f"model: {found[2]}"}}


def _vendor_rows(version: str, request: ReceivedRequest) -> tuple[Any, Any]:
    """A vendor's formats of a model and of a list of models."""
    if version == "v1beta":
        return _gemini_model, lambda rows: {"models": rows}
    if "anthropic-version" in request.headers:
        return _anthropic_model, lambda rows: {"data": rows, "has_more": False, "first_id": None, "last_id": None}
    return _openai_model, lambda rows: {"object": "list", "data": rows}


def _openai_model(name: str) -> Mapping[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "script"}


def _anthropic_model(name: str) -> Mapping[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _gemini_model(name: str) -> Mapping[str, Any]:
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ["generateContent"]}
