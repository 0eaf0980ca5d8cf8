"""Ask a server about its models: the real context size and the prices.

Each kind of server is one row of questions; the first answer that knows a fact counts. Documented by Ollama
(docs/api.md), LM Studio (REST API v1 and v0), llama.cpp (tools/server), vLLM, LiteLLM (proxy) and OpenRouter.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from halocline.context.system_prompt.model_families import size_of
from halocline.net.http import fetch_json
from halocline.protocol.errors import ModelError
from halocline.protocol.values import JsonObject, Value
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, Prices
from halocline.providers.endpoint import Endpoint
from halocline.providers.reply import read_count, read_word

LOCAL_SECONDS = 0.4
"""Seconds to wait for a server on this machine; `REMOTE_SECONDS` for all others."""
REMOTE_SECONDS = 5.0
MILLION, BILLION = 1_000_000, 1_000_000_000


class Question(Value, frozen=True):
    """One request: its path below the server's root or its API, and how to find a model in the answer.

    `{model}` in the path is the model's name. `by_name` sends the name in a body.
    """

    path: str
    found: Callable[[Any, str], ModelInfo]
    below_root: bool = True
    by_name: bool = False


async def ask_server(at: Endpoint) -> ModelInfo:
    """Ask the server about its model; unknown when it does not answer in time. Never raises ModelError."""
    questions = QUESTIONS[at.vendor.sizes]
    answers = await asyncio.gather(*(_ask_server(at, question) for question in questions))
    info = UNKNOWN
    for answer in answers:
        info = fill_info(info, answer)
    return info


def fill_info(info: ModelInfo, other: ModelInfo) -> ModelInfo:
    """Fill unknown fields of `info` from `other`."""
    ours, theirs = msgspec.structs.asdict(info), msgspec.structs.asdict(other)
    return ModelInfo(**{name: theirs[name] if value in (None, "", ()) else value for name, value in ours.items()})


async def _ask_server(at: Endpoint, question: Question) -> ModelInfo:
    answer = await fetch_answer(at, question)
    return UNKNOWN if answer is None else question.found(answer, at.model)


async def fetch_answer(at: Endpoint, question: Question) -> Any:
    """Return the server's answer to a question; None if there is none."""
    base = at.url.removesuffix("/v1") if question.below_root else at.url
    url = base + question.path.format(model=quote(at.model, safe=""))
    body = msgspec.json.encode({"model": at.model}) if question.by_name else None
    seconds = LOCAL_SECONDS if at.vendor.local else REMOTE_SECONDS
    try:
        return await fetch_json(url, seconds, at.network, await at.request_headers(), body)
    except ModelError:
        return None


def find_value(document: Any, path: str) -> Any:
    """Return what stands in a document, where a slash leads into an object; None where there is nothing."""
    for name in path.split("/"):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _read_size(document: Any, *paths: str) -> int | None:
    """Return the first count that stands at any of these paths."""
    return next((count for path in paths if (count := read_count(document, *path.split("/")))), None)


def _read_flag(document: Any, path: str) -> bool | None:
    value = find_value(document, path)
    return value if isinstance(value, bool) else None


def _list_rows(document: Any, field: str) -> list[JsonObject]:
    rows = find_value(document, field)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _find_row(answer: Any, field: str, model: str) -> JsonObject:
    """Return the row of a list of models that has this name in a field; empty if there is none."""
    return next((row for row in _list_rows(answer, "data") if row.get(field) == model), {})


def _read_billions(document: Any, path: str) -> float | None:
    return count / BILLION if (count := _read_size(document, path)) else None


def _read_prices(document: Any, *names: str) -> Prices | None:
    """Read prices per token; a negative one means that it varies, as for a router."""
    try:
        read, written, *caches = (
            None if (sent := find_value(document, name)) is None else float(sent) for name in names
        )
    except (ValueError, TypeError):
        return None
    if read is None or written is None or read < 0:
        return None
    return Prices(read, written, *caches).times(MILLION)


def read_ollama_loaded(answer: Any, model: str) -> int | None:
    """Read the context allocated for a loaded model."""
    rows = (row for row in _list_rows(answer, "models") if row.get("name") in (model, f"{model}:latest"))
    return next((_read_size(row, "context_length") for row in rows), None)


def read_own_window(shown: Any) -> int | None:
    """Read the context that a model file of Ollama sets."""
    found = re.search(r"^num_ctx\s+(\d+)", read_word(find_value(shown, "parameters")), re.MULTILINE)
    return int(found[1]) if found else None


def read_trained_window(shown: Any) -> int | None:
    """Read the context that a model of Ollama was trained for."""
    facts = find_value(shown, "model_info")
    names = (name for name in facts if name.endswith(".context_length")) if isinstance(facts, dict) else ()
    return next((size for name in names if (size := read_count(facts, name))), None)


def _read_ollama_show(shown: Any, model: str) -> ModelInfo:
    able = find_value(shown, "capabilities")
    is_told = isinstance(able, list)
    return ModelInfo(
        size=_read_billions(shown, "model_info/general.parameter_count"),
        window=read_own_window(shown) or read_trained_window(shown),
        tools="tools" in able if is_told else None,
        images="vision" in able if is_told else None,
        thinking="thinking" in able if is_told else None,
    )


def _read_lm_studio(answer: Any, model: str) -> ModelInfo:
    """Read the context it is loaded with, or else its largest."""
    for row in _list_rows(answer, "models"):
        loaded = {
            read_word(each.get("id")): _read_size(each, "config/context_length")
            for each in _list_rows(row, "loaded_instances")
        }
        if model in (row.get("key"), *loaded):
            window = loaded.get(model) or next(iter(loaded.values()), None)
            return ModelInfo(
                window=window or _read_size(row, "max_context_length"),
                tools=_read_flag(row, "capabilities/trained_for_tool_use"),
                images=_read_flag(row, "capabilities/vision"),
                size=size_of(read_word(row.get("params_string"))),
            )
    return UNKNOWN


def _read_llamacpp(answer: Any, model: str) -> ModelInfo:
    """Read the context of one slot, which is the limit of one conversation."""
    window = _read_size(answer, "default_generation_settings/n_ctx")
    return ModelInfo(window=window, images=_read_flag(answer, "modalities/vision"))


_WINDOWS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "meta/n_ctx",
    "max_context_length",
)
"""Where the context size stands in a row of a model list: servers agree on its form, but not on this name."""


def _read_model_list(answer: Any, model: str) -> ModelInfo:
    row = _find_row({"data": answer} if isinstance(answer, list) else answer, "id", model)
    able = row.get("supported_parameters")
    return ModelInfo(
        window=_read_size(row, *_WINDOWS),
        max_output=_read_size(row, "max_completion_tokens", "top_provider/max_completion_tokens"),
        prices=_read_prices(row.get("pricing"), "prompt", "completion", "input_cache_read", "input_cache_write"),
        tools="tools" in able if isinstance(able, list) else None,
        size=_read_billions(row, "meta/n_params"),
    )


def _read_litellm(answer: Any, model: str) -> ModelInfo:
    info = _find_row(answer, "model_name", model).get("model_info")
    costs = ("input_cost_per_token", "output_cost_per_token")
    caches = ("cache_read_input_token_cost", "cache_creation_input_token_cost")
    return ModelInfo(
        window=_read_size(info, "max_input_tokens"),
        max_output=_read_size(info, "max_output_tokens"),
        prices=_read_prices(info, *costs, *caches),
        tools=_read_flag(info, "supports_function_calling"),
        images=_read_flag(info, "supports_vision"),
        thinking=_read_flag(info, "supports_reasoning"),
    )


_LIST = Question("/models", _read_model_list, below_root=False)

QUESTIONS: dict[str, tuple[Question, ...]] = {
    "": (_LIST,),
    "ollama": (
        Question("/api/ps", lambda answer, model: ModelInfo(window=read_ollama_loaded(answer, model))),
        Question("/api/show", _read_ollama_show, by_name=True),
    ),
    "lmstudio": (Question("/api/v1/models", _read_lm_studio), Question("/api/v0/models", _read_model_list)),
    "llamacpp": (Question("/props?model={model}", _read_llamacpp), _LIST),
    "litellm": (Question("/model/info", _read_litellm), _LIST),
}
"""By `Vendor.sizes`. The empty name is any server with OpenAI's model list: vLLM, SGLang, OpenRouter, …"""
