from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given, strategies as st
from PIL import Image

from halocline.context.images import PictureFacts, picture_facts
from halocline.context.pictures import fit_pictures, keep_picture, load_picture
from halocline.hosts.documents.documents import ChildDocuments
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Image as Shown, Text


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


def drawn(form, size=(64, 48), **options):
    out = BytesIO()
    Image.radial_gradient("L").resize(size).convert("RGB").save(out, form, **options)
    return out.getvalue()


WHOLE = {
    "png": drawn("PNG"),
    "jpeg": drawn("JPEG"),
    "progressive jpeg": drawn("JPEG", progressive=True),
    "jpeg with a preview": drawn("JPEG", exif=b"Exif\0\0" + drawn("JPEG", (8, 8))),
    "gif": drawn("GIF"),
    "webp": drawn("WEBP"),
    "lossless webp": drawn("WEBP", lossless=True),
    "bytes behind the end": drawn("PNG") + b"and more",
}


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_a_whole_picture_passes_the_door_as_what_it_is(data):
    kept = []
    assert keep_picture(data, lambda stored: kept.append(stored) or "ref") == Shown(
        picture_facts(data).media_type, "ref"
    )
    assert kept == [data]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_no_beginning_of_a_picture_passes_the_door(form):
    data = drawn(form)
    ends = range(0, len(data) - 2, max(1, len(data) // 97))  # GIF files may go without their last byte
    for end in ends:
        with pytest.raises(ToolFailure):
            keep_picture(data[:end], lambda stored: "ref")


def test_a_png_with_any_byte_of_its_pixels_changed_does_not_pass():
    data = drawn("PNG")
    begin = data.index(b"IDAT") + 4
    for at in range(begin, len(data) - 16, 7):
        with pytest.raises(ToolFailure, match=r"damaged|cut off"):
            keep_picture(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :], lambda stored: "ref")


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"BM" + bytes(60), b"text"])
def test_what_is_no_picture_does_not_pass(data):
    with pytest.raises(ToolFailure):
        keep_picture(data, lambda stored: "ref")


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF0000WEBP"]), st.binary(max_size=99))
def test_noise_is_refused_with_words(magic, rest):
    with suppress(ToolFailure):  # and nothing else
        keep_picture(magic + rest, lambda stored: "ref")


class Blobs(dict):
    def put(self, data):
        self[name := f"b{len(self)}"] = data
        return name

    def get(self, name):
        return self[name]


@pytest.mark.process
async def test_a_large_picture_is_scaled_and_a_small_one_is_left_alone():
    blobs, documents = Blobs(), ChildDocuments()
    wide, small = drawn("PNG", (3_000, 900)), drawn("PNG")
    text, image = await load_picture("wide.png", wide, documents, blobs)
    assert "3000×900" in text
    assert "scaled down to at most 1568 pixels" in text
    facts = picture_facts(blobs[image.blob])
    assert (facts.width, facts.height) == (1568, 470)
    assert blobs[(await load_picture("a.png", small, documents, blobs))[1].blob] == small


class NoLibrary:
    async def smaller(self, data, side, most):
        raise ToolFailure("The Python package PIL is not installed.")


async def test_without_the_library_a_picture_goes_as_it_is_if_vendors_take_it():
    blobs = Blobs()
    wide = drawn("PNG", (3_000, 900))
    assert blobs[(await load_picture("wide.png", wide, NoLibrary(), blobs))[1].blob] == wide
    with pytest.raises(ToolFailure, match="too large to show"):
        await load_picture("widest.png", drawn("PNG", (8_001, 2)), NoLibrary(), blobs)


@pytest.mark.process
async def test_pictures_of_a_result_are_scaled_and_others_become_words():
    blobs = Blobs()
    parts = [
        Text("Look:"),
        Shown("image/png", blobs.put(drawn("PNG", (2_000, 20)))),
        Shown("image/png", blobs.put(b"")),
    ]
    text, scaled, lost = await fit_pictures(parts, ChildDocuments(), blobs)
    assert text == Text("Look:")
    assert picture_facts(blobs[scaled.blob]).width == 1568
    assert lost == Text("[image cannot be shown as a picture: it is empty.]")
