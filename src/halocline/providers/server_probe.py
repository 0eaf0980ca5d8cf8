"""Ask a server about its models: the real context size, the prices and abilities. What it says where is data.

`server_facts.json` has the questions by `Vendor.sizes` ("openai": any server with OpenAI's model list). Documented by
Ollama (docs/api.md), LM Studio (REST API v1 and v0), llama.cpp (tools/server), vLLM, LiteLLM (proxy) and OpenRouter.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from halocline.context.system_prompt.model_families import size_of
from halocline.net.http import fetch_json
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError
from halocline.protocol.values import Value
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, Prices
from halocline.providers.endpoint import Endpoint
from halocline.providers.reply import read_count

LOCAL_SECONDS = 0.4
"""Seconds to wait for a server on this machine; `REMOTE_SECONDS` for all others."""
REMOTE_SECONDS = 5.0
MILLION, BILLION = 1_000_000, 1_000_000_000


_ALSO_LIST = ("llamacpp", "litellm")
"""Servers that are asked for OpenAI's list, too."""


class Question(Value, frozen=True):
    """One request, below the server's root or its API, and where its answer has which fact.

    `{model}` in the path is the model's name; `by_name` sends that in a body. Of the list at `rows` the row counts that
    has the name at a path of `names`. A path leads through objects (`*end` is any key that ends so) and lists, and ends
    at a value, at a word of a list or at a line `word value` of a text.
    """

    path: str
    below_root: bool = True
    by_name: bool = False
    rows: str = ""
    names: tuple[str, ...] = ()
    facts: dict[str, tuple[str, ...]] = {}
    prices: tuple[str, ...] = ()


@cache
def read_questions() -> dict[str, list[Question]]:
    """Read the file."""
    data = Path(__file__).with_name("server_facts.json").read_bytes()
    questions = json_input.decode(data, type=dict[str, list[Question]])
    return questions | {name: questions[name] + questions["openai"] for name in _ALSO_LIST}


async def ask_server(at: Endpoint) -> ModelInfo:
    """Ask the server about its model; unknown when it does not answer in time. Never raises ModelError."""
    info = UNKNOWN
    for question, answer in await fetch_answers(at):
        info = fill_info(info, read_info(answer, question, at.model))
    return info


def fill_info(info: ModelInfo, other: ModelInfo) -> ModelInfo:
    """Fill unknown fields of `info` from `other`."""
    ours, theirs = msgspec.structs.asdict(info), msgspec.structs.asdict(other)
    return ModelInfo(**{name: theirs[name] if value in (None, "", ()) else value for name, value in ours.items()})


async def fetch_answers(at: Endpoint) -> list[tuple[Question, Any]]:
    """Return the questions with the server's answers; None where there is none."""
    questions = read_questions()[at.vendor.sizes or "openai"]
    return list(zip(questions, await asyncio.gather(*(_fetch_answer(at, one) for one in questions)), strict=True))


async def _fetch_answer(at: Endpoint, question: Question) -> Any:
    base = at.url.removesuffix("/v1") if question.below_root else at.url
    url = base + question.path.format(model=quote(at.model, safe=""))
    body = msgspec.json.encode({"model": at.model}) if question.by_name else None
    seconds = LOCAL_SECONDS if at.vendor.local else REMOTE_SECONDS
    try:
        return await fetch_json(url, seconds, at.network, await at.request_headers(), body)
    except ModelError:
        return None


def find_values(document: Any, path: str, model: str = "") -> Iterator[Any]:
    """Yield what a path leads to; of a list, the row with the model's id first."""
    name, _, rest = path.partition("/")
    found: list[Any] = []
    match document:
        case dict():
            found = [
                value for key, value in document.items() if key == name or (name[:1] == "*" and key.endswith(name[1:]))
            ]
        case list() if all(isinstance(one, str) for one in document):
            found = [name in document]
        case list():
            rows = [row for row in document if isinstance(row, dict)]
            found = [
                value
                for row in sorted(rows, key=lambda row: row.get("id") != model)
                for value in find_values(row, path, model)
            ]
            rest = ""
        case str():
            found = re.findall(rf"^{name}\s+(\S+)", document, re.MULTILINE)
    for value in found:
        yield from find_values(value, rest, model) if rest else (value,)


def read_size(document: Any, path: str) -> int | None:
    """Return the first count that a path leads to."""
    return next((count for value in find_values(document, path) if (count := read_count(value))), None)


def read_info(answer: Any, question: Question, model: str) -> ModelInfo:
    """Read what an answer says of a model."""
    row: Any = answer
    if question.rows:
        rows = answer if isinstance(answer, list) else next(find_values(answer, question.rows), None)
        row = next((one for one in rows if _is_named(one, question, model)), None) if isinstance(rows, list) else None
    facts: dict[str, Any] = {}
    for name, paths in question.facts.items():
        values = (value for path in paths for value in find_values(row, path, model))
        facts[name] = next((fact for value in values if (fact := _READERS[name](value)) is not None), None)
    return ModelInfo(**facts, prices=_read_prices(row, question.prices))


def _is_named(row: Any, question: Question, model: str) -> bool:
    return any(value in (model, f"{model}:latest") for path in question.names for value in find_values(row, path))


def _read_prices(row: Any, paths: tuple[str, ...]) -> Prices | None:
    """Read prices per token; a negative one means that it varies, as for a router."""
    try:
        found = [next(find_values(row, path), None) for path in paths]
        read, written, *caches = (None if sent is None else float(sent) for sent in found)
    except (ValueError, TypeError):
        return None
    if read is None or written is None or read < 0:
        return None
    return Prices(read, written, *caches).times(MILLION)


def _read_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _read_billions(value: Any) -> float | None:
    """Read a number of parameters, or a text that says it as names of models do."""
    if isinstance(value, str):
        return size_of(value)
    return count / BILLION if (count := read_count(value)) else None


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("window", "max_output"), lambda value: read_count(value) or None),
    **dict.fromkeys(("tools", "images", "thinking"), _read_flag),
    "size": _read_billions,
}
