"""Ask the model servers of this machine which models they have."""

import asyncio

from halocline.net.http import fetch_json
from halocline.protocol.errors import ModelError
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS

PROBE_SECONDS = 0.4
"""Timeout in seconds for a local server to list its models."""


async def find_local_model() -> str:
    """Return the first model of the first local server that answers; empty if none does."""
    vendors = [vendor for vendor in VENDORS.values() if vendor.local and vendor.base_url]
    found = await asyncio.gather(*(local_models(vendor) for vendor in vendors))
    return next((f"{vendor.name}/{models[0]}" for vendor, models in zip(vendors, found, strict=True) if models), "")


async def local_models(vendor: Vendor) -> list[str]:
    """Return the models of a local server; empty if it does not answer."""
    try:
        answer = await fetch_json(f"{vendor.base_url}/models", timeout=PROBE_SECONDS)
    except ModelError:
        return []
    rows = answer.get("data") if isinstance(answer, dict) else None
    return [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]
