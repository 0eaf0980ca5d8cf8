"""Convert models.dev's api.json to our file: the facts we use, for models that write text.

The same facts give the same bytes. A model in an unexpected form is left out; a document without any valid model is
rejected.
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
    """The number of input tokens above which other prices apply."""

    size: int = 0


class Tiered(Prices, frozen=True):
    """Prices for longer requests."""

    tier: Context = Context(200_000)


class Cost(Prices, frozen=True):
    """Prices of a model. `context_over_200k` is the only tier in documents older than `tiers`."""

    tiers: tuple[Tiered, ...] = ()
    context_over_200k: Tiered | None = None


class Listed(Value, frozen=True):
    """A model as models.dev describes it. Of the limits in tokens, 0 is unknown."""

    name: str = ""
    status: str | None = None
    tool_call: bool = False
    reasoning: bool = False
    interleaved: bool | dict[str, str] | None = None
    modalities: dict[str, tuple[str, ...]] = {}
    limit: dict[str, float] = {}
    cost: Cost | None = None


class Source(Value, frozen=True):
    """A provider as models.dev describes it."""

    name: str = ""
    env: tuple[str, ...] = ()
    api: str | None = None
    npm: str | None = None
    models: dict[str, msgspec.Raw] = {}


def pack_catalogue(document: bytes, made: str, sources: tuple[str, ...], url: str = "", etag: str = "") -> bytes:
    """Build the file from an api.json. `made` is the date of the facts, `sources` are their origins.

    Raises:
        msgspec.ValidationError: it contains no models; DecodeError when it is not JSON.
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
    """Read a model; None for one that an agent cannot use."""
    model = json_input.decode_or(None, bytes(raw), Listed)
    if model is None or "text" not in model.modalities.get("output", ("text",)):
        return None
    if not (model.tool_call or model.limit.get("context", 0) > 0):
        return None
    field = model.interleaved.get("field", "") if isinstance(model.interleaved, dict) else ""
    return ModelInfo(
        title="" if model.name == name else model.name,
        window=int(model.limit.get("context", 0)) or None,
        max_output=int(model.limit.get("output", 0)) or None,
        prices=model.cost.times(1) if model.cost else None,
        tiers=_read_tiers(model.cost) if model.cost else (),
        tools=model.tool_call,
        images="image" in model.modalities.get("input", ()),
        thinking=model.reasoning,
        reasoning_field=field if field == "reasoning_content" else "",
        leaving=model.status == LEAVING,
    )


def _read_tiers(cost: Cost) -> tuple[Tier, ...]:
    tiers = cost.tiers or ((cost.context_over_200k,) if cost.context_over_200k else ())
    return tuple(Tier(each.tier.size, each.times(1)) for each in sorted(tiers, key=lambda each: each.tier.size))


def _zip_json(value: Any) -> bytes:
    # With this `wbits` zlib writes a gzip header without a timestamp.
    packer = zlib.compressobj(9, wbits=GZIP)
    return packer.compress(msgspec.json.encode(value) + b"\n") + packer.flush()
