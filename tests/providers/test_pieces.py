"""Pieces of a reply that come together are one event: a server that is faster than the screen costs no more for it."""

import asyncio
from contextlib import suppress

import pytest
from tests.net.raw_server import read_request, serving
from tests.providers.streams import MemoryBlobs
from tests.providers.test_bounded import ASKED, BEGUN, FAMILIES, HEAD, PATIENT, text_of

from halocline.protocol.errors import ModelError
from halocline.protocol.events import TextDelta
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.endpoint import Endpoint
from halocline.runtime.models.resolve import build_client


def saying(*pieces: bytes):
    """Return a server whose reply comes in these pieces, and is cut then."""

    async def handle(reader, writer) -> None:
        await read_request(reader)
        writer.write(HEAD)
        for piece in pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.close()

    return handle


async def read_texts(family: str, *pieces: bytes) -> list[str]:
    """Return the texts of a reply, each of one event."""
    texts = list[str]()
    async with serving(saying(*pieces)) as url:
        model = build_client(
            Endpoint(Vendor("near", "Near", family, base_url=url), "m", key="k", network=PATIENT), MemoryBlobs()
        )
        with suppress(ModelError):  # the server leaves in the middle
            async for event in model.stream(ASKED):
                texts += [event.text] if isinstance(event, TextDelta) else []
        await model.close()
    return texts


@pytest.mark.parametrize("family", FAMILIES)
async def test_texts_that_come_together_are_one_and_later_ones_another(family: str) -> None:
    first = BEGUN.get(family, b"") + text_of(family, "Let ") + text_of(family, "me ")
    assert await read_texts(family, first, text_of(family, "see")) == ["Let me ", "see"]


@pytest.mark.parametrize("family", FAMILIES)
async def test_texts_before_a_broken_payload_are_kept(family: str) -> None:
    first = BEGUN.get(family, b"") + text_of(family, "Let ") + text_of(family, "me ")
    assert await read_texts(family, first + b"data: {broken\n\n") == ["Let me "]
