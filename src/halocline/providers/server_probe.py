"""Ask a server about its models: the real context size and the prices.

Each kind of server is one row of questions; the first answer that knows a fact counts. Documented by Ollama
(docs/api.md), LM Studio (REST API v1 and v0), llama.cpp (tools/server), vLLM, LiteLLM (proxy) and OpenRouter.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from halocline.context.system_prompt.model_families import size_of
from halocline.net.http import fetch_json
from halocline.protocol.errors import ModelError
from halocline.protocol.values import Value
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, Prices
from halocline.providers.endpoint import Endpoint

LOCAL_SECONDS = 0.4
"""Seconds to wait for a server on this machine; `REMOTE_SECONDS` for all others."""
REMOTE_SECONDS = 5.0
MILLION, BILLION = 1_000_000, 1_000_000_000

T = TypeVar("T")


class Question(Value, frozen=True):
    """One request: its path below the server's root or its API, and how to find a model in the answer.

    `{model}` in the path is the model's name. `by_name` sends the name in a body.
    """

    path: str
    found: Callable[[Any, str], ModelInfo | None]
    below_root: bool = True
    by_name: bool = False


async def ask_server(at: Endpoint) -> ModelInfo:
    """Ask the server about its model; unknown when it does not answer in time. Never raises ModelError."""
    questions = QUESTIONS[at.vendor.sizes]
    answers = await asyncio.gather(*(_ask_server(at, question) for question in questions))
    info = UNKNOWN
    for answer in answers:
        info = fill_info(info, answer or UNKNOWN)
    return info


def fill_info(info: ModelInfo, other: ModelInfo) -> ModelInfo:
    """Fill unknown fields of `info` from `other`."""
    ours, theirs = msgspec.structs.asdict(info), msgspec.structs.asdict(other)
    return ModelInfo(**{name: theirs[name] if value in (None, "", ()) else value for name, value in ours.items()})


async def _ask_server(at: Endpoint, question: Question) -> ModelInfo | None:
    base = at.url.removesuffix("/v1") if question.below_root else at.url
    url = base + question.path.format(model=quote(at.model, safe=""))
    body = msgspec.json.encode({"model": at.model}) if question.by_name else b""
    seconds = LOCAL_SECONDS if at.vendor.local else REMOTE_SECONDS
    try:
        answer = await fetch_json(url, seconds, at.network, await at.request_headers("authorization", "Bearer "), body)
    except ModelError:
        return None
    return question.found(answer, at.model)


def _decode_answer(answer: Any, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(answer, kind, strict=False)
    except msgspec.ValidationError:
        return None


class _Running(Value, frozen=True):
    name: str = ""
    context_length: int | None = None


class _OllamaPs(Value, frozen=True):
    models: tuple[_Running, ...] = ()


def read_ollama_loaded(answer: Any, model: str) -> int | None:
    """Read the context allocated for a loaded model."""
    running = _decode_answer(answer, _OllamaPs) or _OllamaPs()
    sizes = (each.context_length for each in running.models if each.name in (model, f"{model}:latest"))
    return next(sizes, None) or None


def _ollama_loaded(answer: Any, model: str) -> ModelInfo:
    return ModelInfo(window=read_ollama_loaded(answer, model))


class OllamaShow(Value, frozen=True):
    """Ollama's description of a model. With a `remote_host`, the model runs there."""

    parameters: str = ""
    model_info: dict[str, Any] = {}
    capabilities: tuple[str, ...] | None = None
    remote_host: str = ""

    @property
    def own_window(self) -> int | None:
        """The context that its model file sets."""
        found = re.search(r"^num_ctx\s+(\d+)", self.parameters, re.MULTILINE)
        return int(found[1]) if found else None

    @property
    def trained_window(self) -> int | None:
        """The context that it was trained for."""
        sizes = (size for name, size in self.model_info.items() if name.endswith(".context_length"))
        return next((size for size in sizes if isinstance(size, int)), None)


def read_ollama_show(answer: Any) -> OllamaShow | None:
    """Decode the description; None if it is none."""
    return _decode_answer(answer, OllamaShow)


def _ollama_described(answer: Any, model: str) -> ModelInfo | None:
    shown = read_ollama_show(answer)
    if shown is None:
        return None
    able, count = shown.capabilities, shown.model_info.get("general.parameter_count")
    return ModelInfo(
        size=count / BILLION if isinstance(count, int) else None,
        window=shown.own_window or shown.trained_window,
        tools=None if able is None else "tools" in able,
        images=None if able is None else "vision" in able,
        thinking=None if able is None else "thinking" in able,
    )


class _Config(Value, frozen=True):
    context_length: int | None = None


class _Instance(Value, frozen=True):
    id: str = ""
    config: _Config = _Config()


class _Abilities(Value, frozen=True):
    vision: bool | None = None
    trained_for_tool_use: bool | None = None


class _StudioModel(Value, frozen=True):
    key: str = ""
    max_context_length: int | None = None
    params_string: str | None = None
    loaded_instances: tuple[_Instance, ...] = ()
    capabilities: _Abilities = _Abilities()


class _StudioList(Value, frozen=True):
    models: tuple[_StudioModel, ...] = ()


def _read_lm_studio(answer: Any, model: str) -> ModelInfo | None:
    """Read the context it is loaded with, or else its largest."""
    for row in (_decode_answer(answer, _StudioList) or _StudioList()).models:
        loaded = {each.id: each.config.context_length for each in row.loaded_instances}
        if model in (row.key, *loaded):
            window = loaded.get(model) or next(iter(loaded.values()), None) or row.max_context_length
            able = row.capabilities
            size = size_of(row.params_string or "")
            return ModelInfo(window=window, tools=able.trained_for_tool_use, images=able.vision, size=size)
    return None


class _Generation(Value, frozen=True):
    n_ctx: int | None = None


class _Props(Value, frozen=True):
    default_generation_settings: _Generation = _Generation()
    modalities: dict[str, bool] = {}


def _read_llamacpp(answer: Any, model: str) -> ModelInfo | None:
    """Read the context of one slot, which is the limit of one conversation."""
    props = _decode_answer(answer, _Props) or _Props()
    return ModelInfo(window=props.default_generation_settings.n_ctx or None, images=props.modalities.get("vision"))


class _Meta(Value, frozen=True):
    n_ctx: int | None = None
    n_params: int | None = None


class _Top(Value, frozen=True):
    max_completion_tokens: int | None = None


class _Pricing(Value, frozen=True):
    """Dollars per token."""

    prompt: float
    completion: float
    input_cache_read: float | None = None
    input_cache_write: float | None = None


class _Listed(Value, frozen=True):
    """A row of a model list. Servers agree on its form, but not on the name of the context size."""

    id: str = ""
    max_model_len: int | None = None
    context_length: int | None = None
    context_window: int | None = None
    max_context_length: int | None = None
    loaded_context_length: int | None = None
    max_completion_tokens: int | None = None
    meta: _Meta | None = None
    top_provider: _Top | None = None
    pricing: Any = None
    supported_parameters: tuple[str, ...] | None = None


class _List(Value, frozen=True):
    data: tuple[_Listed, ...] = ()


def _read_model_list(answer: Any, model: str) -> ModelInfo | None:
    rows = (_decode_answer({"data": answer} if isinstance(answer, list) else answer, _List) or _List()).data
    row = next((row for row in rows if row.id == model), None)
    if row is None:
        return None
    windows = (row.loaded_context_length, row.max_model_len, row.context_length, row.context_window)
    last = (row.meta.n_ctx if row.meta else None, row.max_context_length)
    able = row.supported_parameters
    return ModelInfo(
        window=next((size for size in (*windows, *last) if size), None),
        max_output=row.max_completion_tokens or (row.top_provider.max_completion_tokens if row.top_provider else None),
        prices=_per_million(_decode_answer(row.pricing, _Pricing)),
        tools=None if able is None else "tools" in able,
        size=row.meta.n_params / BILLION if row.meta and row.meta.n_params else None,
    )


def _per_million(pricing: _Pricing | None) -> Prices | None:
    """Convert prices per token; a negative one means that it varies, as for a router."""
    if pricing is None or pricing.prompt < 0:
        return None
    caches = (pricing.input_cache_read, pricing.input_cache_write)
    return Prices(pricing.prompt, pricing.completion, *caches).times(MILLION)


class _ProxyInfo(Value, frozen=True):
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cache_read_input_token_cost: float | None = None
    cache_creation_input_token_cost: float | None = None
    supports_vision: bool | None = None
    supports_function_calling: bool | None = None
    supports_reasoning: bool | None = None


class _ProxyModel(Value, frozen=True):
    model_name: str = ""
    model_info: _ProxyInfo = _ProxyInfo()


class _ProxyList(Value, frozen=True):
    data: tuple[_ProxyModel, ...] = ()


def _read_litellm(answer: Any, model: str) -> ModelInfo | None:
    rows = (_decode_answer(answer, _ProxyList) or _ProxyList()).data
    info = next((row.model_info for row in rows if row.model_name == model), None)
    if info is None:
        return None
    costs, prices = (info.input_cost_per_token, info.output_cost_per_token), None
    if costs[0] is not None and costs[1] is not None:
        caches = (info.cache_read_input_token_cost, info.cache_creation_input_token_cost)
        prices = Prices(costs[0], costs[1], *caches).times(MILLION)
    return ModelInfo(
        window=info.max_input_tokens,
        max_output=info.max_output_tokens,
        prices=prices,
        tools=info.supports_function_calling,
        images=info.supports_vision,
        thinking=info.supports_reasoning,
    )


_LIST = Question("/models", _read_model_list, below_root=False)

QUESTIONS: dict[str, tuple[Question, ...]] = {
    "": (_LIST,),
    "ollama": (Question("/api/ps", _ollama_loaded), Question("/api/show", _ollama_described, by_name=True)),
    "lmstudio": (Question("/api/v1/models", _read_lm_studio), Question("/api/v0/models", _read_model_list)),
    "llamacpp": (Question("/props?model={model}", _read_llamacpp), _LIST),
    "litellm": (Question("/model/info", _read_litellm), _LIST),
}
"""By `Vendor.sizes`. The empty name is any server with OpenAI's model list: vLLM, SGLang, OpenRouter, …"""
