"""Prompts as clients really send them: what they embed, and what their text says of it."""

import base64
from pathlib import Path

import pytest
from acp import RequestError, schema

from halocline.client.mentions import find_mentions
from halocline.protocol.messages import PASTED, Note, Text, UserPart
from halocline.surfaces.acp.prompts import Block, read_prompt

WORKSPACE = Path("/work space")
PDF = "%PDF-1.4\n1 0 obj"
BYTES = "\N{REPLACEMENT CHARACTER}PNG\r\n\x1a\n\0\0"


async def read(*blocks: Block) -> tuple[UserPart, ...]:
    async def attach(name: str, data: bytes) -> tuple[UserPart, ...]:
        return (Note(f"{name}: {data.decode()}", "picture"),)

    return await read_prompt(blocks, WORKSPACE, attach)


def said(text: str) -> Block:
    return schema.TextContentBlock(text=text, type="text")


def embedded(name: str, text: str, kind: str | None = None) -> Block:
    resource = schema.TextResourceContents(uri=(WORKSPACE / name).as_uri(), text=text, mime_type=kind)
    return schema.EmbeddedResourceContentBlock(resource=resource, type="resource")


def embedded_bytes(uri: str, kind: str | None = None, data: bytes = b"data") -> Block:
    resource = schema.BlobResourceContents(uri=uri, blob=base64.b64encode(data).decode(), mime_type=kind)
    return schema.EmbeddedResourceContentBlock(resource=resource, type="resource")


@pytest.mark.parametrize("mention", ["@a.py", '@"a.py"', "@/work\\ space/a.py", '@"/work space/a.py"'])
async def test_a_file_that_the_text_mentions_comes_once_with_its_mention(mention: str) -> None:
    link = schema.ResourceContentBlock(uri=(WORKSPACE / "a.py").as_uri(), name="a.py", type="resource_link")
    for block in (embedded("a.py", "x = 1\n"), link, embedded("a.py", BYTES, "image/png")):
        assert await read(said(f"look at {mention} now"), block) == (Text(f"look at {mention} now"),)


@pytest.mark.parametrize("text", ["look at a.py", "look at @b.py", "look at `@a.py`", "look at @a.py:1-2"])
async def test_a_file_that_the_text_does_not_mention_whole_comes_with_its_name(text: str) -> None:
    note = Note("file:///work%20space/a.py\nx = 1\n", PASTED)
    assert await read(said(text), embedded("a.py", "x = 1\n")) == (Text(f"{text} `a.py`"), note)


@pytest.mark.parametrize(
    ("text", "kind"),
    [(PDF, "application/pdf"), (BYTES, "image/png"), (BYTES, None), ("PK\x03\x04\0", "application/octet-stream")],
)
async def test_the_bytes_of_a_file_that_are_sent_as_text_become_a_mention(text: str, kind: str | None) -> None:
    assert await read(said("see"), embedded("some file", text, kind)) == (Text('see @"some file"'),)


@pytest.mark.parametrize("kind", ["image/svg+xml", "application/vnd.api+json", "text/x-python", None])
async def test_a_text_is_a_text_whatever_a_client_calls_it(kind: str | None) -> None:
    _, note = await read(said("see"), embedded("a", "<svg/>", kind))
    assert note == Note("file:///work%20space/a\n<svg/>", PASTED)


async def test_a_file_that_is_sent_as_bytes_is_an_image_a_text_or_a_mention() -> None:
    text, image = await read(said("see"), embedded_bytes("file:///work%20space/a.png", "image/png"))
    assert (text, image) == (Text("see"), Note("file:///work%20space/a.png: data", "picture"))
    assert await read(said("see"), embedded_bytes("file:///work%20space/a.txt", "text/plain")) == (
        Text("see `a.txt`"),
        Note("file:///work%20space/a.txt\ndata", PASTED),
    )
    assert await read(said("see"), embedded_bytes("file:///work%20space/a.pdf", "application/pdf")) == (
        Text('see @"a.pdf"'),
    )
    with pytest.raises(RequestError, match="neither text nor an image"):
        await read(said("see"), embedded_bytes("memory://recording", "audio/wav"))


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "image/svg+xml", "application/json", None])
@pytest.mark.parametrize(
    "data",
    ["naïve €".encode(), "naïve €".encode("utf-8-sig"), "naïve €".encode("utf-16"), "naïve €".encode("cp1252")],
)
async def test_bytes_that_are_text_are_read_as_text_in_every_encoding(kind: str | None, data: bytes) -> None:
    for uri, name in (("file:///work%20space/unsaved.txt", "unsaved.txt"), ("memory://1", "memory://1")):
        assert await read(said("see"), embedded_bytes(uri, kind, data)) == (
            Text(f"see `{name}`"),
            Note(f"{uri}\nnaïve €", PASTED),
        )


@pytest.mark.parametrize("data", [b"\0\1\2", b"PK\3\4\0\0"])
async def test_bytes_that_are_no_text_are_named(data: bytes) -> None:
    assert await read(said("see"), embedded_bytes("file:///work%20space/a.bin", None, data)) == (Text('see @"a.bin"'),)
    with pytest.raises(RequestError, match="memory://1 is neither text nor an image"):
        await read(said("see"), embedded_bytes("memory://1", None, data))


async def test_data_that_is_not_base64_is_an_error_that_names_it() -> None:
    resource = schema.BlobResourceContents(uri="file:///a.txt", blob="?", mime_type="text/plain")
    with pytest.raises(RequestError, match=r"The data of file:///a\.txt is not valid base64"):
        await read(schema.EmbeddedResourceContentBlock(resource=resource, type="resource"))


@pytest.mark.parametrize(
    ("fragment", "lines"),
    [("L2", ":2"), ("L2:3", ":2-3"), ("L2-3", ":2-3"), ("L2-L3", ":2-3"), ("L2,1-L3,9", ":2-3"), ("top", ""), ("", "")],
)
async def test_a_fragment_names_lines_of_a_file(tmp_path: Path, fragment: str, lines: str) -> None:
    (tmp_path / "a.py").touch()
    uri = f"{(tmp_path / 'a.py').as_uri()}#{fragment}"
    linked = schema.ResourceContentBlock(uri=uri, name="a.py", type="resource_link")
    text = schema.TextResourceContents(uri=uri, text="x")
    selected = schema.EmbeddedResourceContentBlock(resource=text, type="resource")

    async def attach(name: str, data: bytes) -> tuple[UserPart, ...]:
        return ()

    assert await read_prompt([linked], tmp_path, attach) == (Text(f"@a.py{lines}"),)
    assert await read_prompt([selected], tmp_path, attach) == (Text(f"`a.py{lines}`"), Note(f"{uri}\nx", PASTED))


@pytest.mark.parametrize("name", ["a.dat", "notes", "my file.txt"])
async def test_a_link_to_a_file_that_is_missing_is_meant_as_a_path(name: str) -> None:
    link = schema.ResourceContentBlock(uri=f"{(WORKSPACE / name).as_uri()}#L2", name=name, type="resource_link")
    (text,) = await read(link)
    assert text == Text(f'@"{name}":2')
    assert [(one.target, one.first, one.meant) for one in find_mentions(text.text)] == [(name, 2, True)]


@pytest.mark.parametrize("blocks", [(), (said(""),), (said(" \n"), said("\t"))])
async def test_an_empty_prompt_is_refused(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(RequestError, match="The prompt is empty") as refused:
        await read(*blocks)
    assert refused.value.code == -32602


async def test_an_image_alone_has_no_empty_text_beside_it() -> None:
    assert await read(embedded_bytes("file:///a.png", "image/png")) == (Note("file:///a.png: data", "picture"),)
