"""From models.dev's api.json to our file: what we use, of the models that write text.

The same facts give the same bytes. What is not in the expected form is left out, model by model; a document in which
nothing is, is refused.
"""

import zlib
from typing import Any

import msgspec

from halocline.protocol import json_input
from halocline.protocol.values import Value
from halocline.providers.catalog.file import GZIP, Contents, Entry
from halocline.providers.catalog.models import ModelInfo, Prices, Tier

LEAVING = "deprecated"


class Context(Value, frozen=True):
    """From how many input tokens on other prices hold."""

    size: int = 0


class Tiered(Prices, frozen=True):
    """Prices of longer requests."""

    tier: Context = Context(200_000)


class Cost(Prices, frozen=True):
    """Before there were `tiers`, one name stood for the only one."""

    tiers: tuple[Tiered, ...] = ()
    context_over_200k: Tiered | None = None


class Limit(Value, frozen=True):
    """Tokens; 0 is unknown."""

    context: float = 0
    output: float = 0


class Modalities(Value, frozen=True):
    """What goes in and what comes out."""

    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ("text",)


class Listed(Value, frozen=True):
    """A model in models.dev's words."""

    name: str = ""
    status: str | None = None
    tool_call: bool = False
    reasoning: bool = False
    interleaved: bool | dict[str, str] | None = None
    modalities: Modalities = Modalities()
    limit: Limit = Limit()
    cost: Cost | None = None


class Source(Value, frozen=True):
    """A provider in models.dev's words."""

    name: str = ""
    env: tuple[str, ...] = ()
    api: str | None = None
    npm: str | None = None
    models: dict[str, msgspec.Raw] = {}


def pack_catalogue(document: bytes, made: str, sources: tuple[str, ...], url: str = "", etag: str = "") -> bytes:
    """The file for an api.json. `made` is the date of its facts, `sources` say where they are from.

    Raises:
        msgspec.ValidationError: it holds no models; DecodeError when it is no JSON.
    """
    members, entries, count = bytearray(), {}, 0
    for name, provider in sorted(json_input.decode(document, type=dict[str, Source]).items()):
        models = {model: info for model, raw in sorted(provider.models.items()) if (info := _read_info(model, raw))}
        member = _zip_json(models)
        entries[name] = Entry(
            provider.name, provider.env, (provider.api or "").rstrip("/"), provider.npm or "", len(members), len(member)
        )
        members += member
        count += len(models)
    if not count:
        raise msgspec.ValidationError("it lists no models")
    return _zip_json(Contents(made, sources, "MIT", entries, url, etag)) + bytes(members)


def _read_info(name: str, raw: msgspec.Raw) -> ModelInfo | None:
    """None for what an agent cannot talk to."""
    try:
        model = json_input.decode(raw, type=Listed)
    except msgspec.MsgspecError:
        return None
    talks = "text" in model.modalities.output and (model.tool_call or model.limit.context > 0)
    if not talks:
        return None
    field = model.interleaved.get("field", "") if isinstance(model.interleaved, dict) else ""
    return ModelInfo(
        title="" if model.name == name else model.name,
        window=int(model.limit.context) or None,
        max_output=int(model.limit.output) or None,
        prices=model.cost.times(1) if model.cost else None,
        tiers=_read_tiers(model.cost) if model.cost else (),
        tools=model.tool_call,
        images="image" in model.modalities.input,
        thinking=model.reasoning,
        reasoning_field=field if field == "reasoning_content" else "",
        leaving=model.status == LEAVING,
    )


def _read_tiers(cost: Cost) -> tuple[Tier, ...]:
    tiers = cost.tiers or ((cost.context_over_200k,) if cost.context_over_200k else ())
    return tuple(Tier(each.tier.size, each.times(1)) for each in sorted(tiers, key=lambda each: each.tier.size))


def _zip_json(value: Any) -> bytes:
    # With this window size zlib writes gzip's frame, and states no time in it.
    packer = zlib.compressobj(9, wbits=GZIP)
    return packer.compress(msgspec.json.encode(value) + b"\n") + packer.flush()
