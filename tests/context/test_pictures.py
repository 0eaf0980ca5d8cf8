from io import BytesIO

import pytest
from hypothesis import given, strategies as st
from PIL import Image

from halocline.context.images import PictureFacts, picture_facts


@pytest.mark.parametrize(
    ("form", "options", "media_type"),
    [
        ("PNG", {}, "image/png"),
        ("GIF", {}, "image/gif"),
        ("JPEG", {}, "image/jpeg"),
        ("JPEG", {"progressive": True}, "image/jpeg"),
        ("WEBP", {}, "image/webp"),
        ("WEBP", {"lossless": True}, "image/webp"),
    ],
)
def test_a_picture_says_its_kind_and_size(form, options, media_type):
    out = BytesIO()
    Image.new("RGB", (321, 45), "red").save(out, form, **options)
    assert picture_facts(out.getvalue()) == PictureFacts(media_type, 321, 45)


def test_a_picture_with_transparency_says_its_size_in_the_long_form():
    out = BytesIO()
    Image.new("RGBA", (300, 7), (1, 2, 3, 4)).save(out, "WEBP", exif=b"Exif\0\0")
    assert picture_facts(out.getvalue()) == PictureFacts("image/webp", 300, 7)


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF0000WEBP"]), st.binary(max_size=60))
def test_a_broken_picture_is_never_an_error(magic, rest):
    assert picture_facts(magic + rest) is not None


def test_what_is_no_picture_has_no_facts():
    assert picture_facts(b"\0\1\2") is None
