"""Convert bytes to text and back without loss: encoding, byte order mark and line endings survive edits.

`decode_text` followed by `encode_text` returns the same bytes for every accepted input. `text` keeps the file's line
endings; `view` is the same text with LF only, as models read and write it, and `Offsets` maps back.
"""

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.files.encodings import WIDE, decode_exactly, find_codec, find_own_declaration, guess_encoding
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.ports.host import Files

_SHIFT = b"\x1b$"
"""The beginning of Japanese in ISO-2022-JP, where all bytes are ASCII."""
CRLF, LF = "\r\n", "\n"
_WORD = compile_later("[A-Za-z\x80-\U0010ffff]+")
_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings whose name promises a mark."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, longer ones before those that they begin with."""


class EditError(ToolFailure):
    """An edit that cannot be made; nothing was changed. `text` says why, `hint` says what to do instead."""

    code = "edit_failed"


class BinaryContent(EditError):
    """The bytes are not text."""

    code = "binary_content"


class NotEncodable(EditError):
    """The text has a character that the file's encoding lacks."""

    code = "not_encodable"


class TextFile(Value, frozen=True, dict=True):
    """A file's content: `text` without its byte order mark (`bom`), in `encoding`, with its own line endings.

    `known` has the words beyond ASCII that it may hold, if its encoding is uncertain: those that it has.
    Another version of the file is a `replace` of this value, so that nothing of it is lost on the way.
    """

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    known: frozenset[str] | None = None

    @property
    def is_certain(self) -> bool:
        """True if the encoding is known, so that any of its characters may be added."""
        return self.known is None

    @cached_property
    def eol(self) -> str:
        """The most common line ending; LF if there is none or a tie."""
        crlf = self.text.count(CRLF)
        return CRLF if crlf > self.text.count(LF) - crlf else LF

    @cached_property
    def view(self) -> str:
        """The text with LF line endings."""
        return self.text.replace(CRLF, LF)

    def with_view(self, view: str) -> "TextFile":
        """Return the same kind of file with other content, whose lines get the most common ending."""
        text = to_lf(view).removeprefix("\ufeff")
        return replace(self, text=text.replace(LF, self.eol))


class Offsets:
    """Maps positions in a view to positions in the original text."""

    def __init__(self, text: str) -> None:
        self._shrunk = [found.start() - i for i, found in enumerate(re.finditer(CRLF, text))]

    def original(self, position: int) -> int:
        """Return the position in the text for one in the view; at a line's end, before the whole ending."""
        return position + bisect_left(self._shrunk, position)


def to_lf(text: str) -> str:
    """Replace CRLF with LF."""
    return text.replace(CRLF, LF)


def count_lines(lines: int) -> str:
    """Format a count as `1 line` or `2 lines`."""
    return f"{lines} line{'' if lines == 1 else 's'}"


def lines_of(view: str) -> list[str]:
    """Return the lines without their endings; a final newline adds no line."""
    lines = view.split(LF)
    return lines[:-1] if lines[-1] == "" else lines


def common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """Return the number of items (characters, lines) that both start with and, in the rest, end with."""
    first = _common_length(left, right)
    return first, _common_length(left[first:][::-1], right[first:][::-1])


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = zip(left, right, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def decode_text(data: bytes, declared: str = "") -> TextFile:
    """Decode bytes by their mark, in the `declared` encoding, as UTF-8, or in the encoding that they look like.

    Raises:
        BinaryContent: the bytes are not text.
    """
    file = (
        _decode_marked(data)
        or _decode_declared(data, declared)
        or _decode_declared(data, find_own_declaration(data))
        or _decode_unmarked(data)
    )
    if file is None or "\0" in file.text:
        raise BinaryContent(f"This is binary data ({len(data):,} bytes), not text.")
    return file


async def read_text(files: "Files", path: Path, limit: int) -> TextFile:
    """Read a text file of at most `limit` bytes, as all tools and surfaces do. Raises OSError, BinaryContent."""
    return decode_text(await files.read(path, limit), files.declared_encoding(path))


async def read_source(files: "Files", path: Path, limit: int) -> bytes:
    """Read source code as parsers want it: in UTF-8. None of its lines if it is no text. Raises OSError."""
    data = await files.read(path, limit)
    try:
        return data if len(data) >= limit else decode_text(data, files.declared_encoding(path)).text.encode()
    except (BinaryContent, UnicodeEncodeError):
        return b""


def encode_text(file: TextFile) -> bytes:
    """Return the bytes of the file.

    Raises:
        NotEncodable: a character does not exist in the file's encoding, or that is unknown.
    """
    if file.known is not None and (new := _find_words(file.text) - file.known):
        raise NotEncodable(
            f"The file is not UTF-8, and its encoding is uncertain, so {min(new)!r} cannot be added.",
            "Add only ASCII, an escape, or words that the file has; or have its encoding declared: as `charset` in "
            ".editorconfig, as `working-tree-encoding` in .gitattributes, or in the setting `encodings`.",
        )
    try:
        return file.bom + file.text.encode(file.encoding)
    except UnicodeEncodeError as error:
        if "utf" in file.encoding:
            raise NotEncodable("The text has half of a character, a lone surrogate.", "Write the character.") from None
        lacking, name = file.text[error.start], file.encoding.replace("latin-1", "latin1").replace("_", "-")
        raise NotEncodable(
            f"The file is encoded as {file.encoding}, which lacks {lacking!r} (U+{ord(lacking):04X}).",
            "Write it as an escape of the file's language, or convert the whole file to UTF-8 first, for example with "
            f"`iconv -f {name} -t utf-8`, if what reads the file understands that.",
        ) from None


def take_utf8(file: TextFile) -> TextFile:
    """Return a file with new content as UTF-8, if its encoding is uncertain and lacks some of it."""
    is_new = file.known is not None and not _find_words(file.text) <= file.known
    return replace(file, encoding="utf-8", known=None) if is_new else file


def give_mark(file: TextFile, declared: str) -> TextFile:
    """Return a file of wide characters with a byte order mark, if nothing else would tell what it is."""
    mark = next((mark for mark, name in MARKS if name == file.encoding), b"")
    if file.encoding not in WIDE or file.bom:
        return file
    try:
        is_told = decode_text(encode_text(file), declared).text == file.text
    except EditError:
        is_told = False
    return file if is_told else replace(file, bom=mark)


def _decode_marked(data: bytes) -> TextFile | None:
    for bom, encoding in MARKS:
        if data.startswith(bom) and (text := decode_exactly(data[len(bom) :], encoding)) is not None:
            return TextFile(text, encoding, bom)
    return None


def _decode_declared(data: bytes, declared: str) -> TextFile | None:
    """Decode what has no mark. An empty file gets the mark that is declared."""
    if not declared:
        return None
    name, ending, _ = declared.lower().partition("-bom")
    encoding = find_codec(name)
    wants_mark = bool(ending) or encoding in _MARKED
    encoding = _MARKED.get(encoding, encoding)
    text = decode_exactly(data, encoding) if encoding else None
    if text is None or "\0" in text:
        return None
    says_more = encoding not in WIDE if data.isascii() else False
    if data and not says_more and b"\0" not in data and decode_exactly(data, "utf-8") is not None:
        return None  # other bytes fit many encodings, so they say less than that all are UTF-8
    bom = next((mark for mark, name in MARKS if wants_mark and not data and name == encoding), b"")
    return TextFile(text, encoding, bom)


def _decode_unmarked(data: bytes) -> TextFile | None:
    text = decode_exactly(data, "utf-8")
    if text is not None and _SHIFT in data and (shifted := decode_exactly(data, "iso2022_jp")) is not None:
        return TextFile(shifted, "iso2022_jp")
    if text is not None and "\0" not in text:
        return TextFile(text)
    guess = guess_encoding(data)
    if guess is None:
        return None
    return TextFile(guess.text, guess.encoding, known=None if guess.sure else _find_words(guess.text))


def _find_words(text: str) -> frozenset[str]:
    """The words with characters beyond ASCII. A wrong encoding shows others for them, so they can only be copied."""
    return frozenset(word for word in _WORD.findall(text) if not word.isascii())
