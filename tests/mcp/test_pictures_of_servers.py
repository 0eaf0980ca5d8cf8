"""Pictures in the results of MCP servers: what they are is looked at, whatever the server calls them."""

from base64 import b64encode
from io import BytesIO

import mcp_types as types
import pytest
from PIL import Image as Drawing
from tests.providers.streams import MemoryBlobs

from halocline.mcp.results import result_parts
from halocline.protocol.messages import Image, Text


def drawn(form):
    out = BytesIO()
    Drawing.new("RGB", (30, 20), "red").save(out, form)
    return out.getvalue()


def converted(data, media_type="image/png"):
    encoded = data if isinstance(data, str) else b64encode(data).decode()
    (part,) = result_parts([types.ImageContent(type="image", data=encoded, mime_type=media_type)], None, MemoryBlobs())
    return part


@pytest.mark.parametrize(("form", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
def test_a_picture_has_the_type_that_it_is_and_not_the_one_it_is_given(form, media_type):
    assert converted(drawn(form), "image/png").media_type == media_type
    assert isinstance(converted(drawn(form), "image/gif"), Image)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"<svg/>", "it is no PNG, JPEG, GIF or WebP"),
        (b"%PDF-1.7", "it is no PNG, JPEG, GIF or WebP"),
        (drawn("PNG")[:40], "it is cut off"),
        (drawn("JPEG")[:-2], "it is cut off"),
        ("not base64!", "invalid base64"),
    ],
)
def test_what_is_no_picture_is_a_line_of_text(data, why):
    part = converted(data)
    assert isinstance(part, Text)
    assert why in part.text


def test_what_a_server_does_not_call_a_picture_is_saved_and_named():
    assert "saved as sha256:" in converted(drawn("PNG"), "application/pdf").text
