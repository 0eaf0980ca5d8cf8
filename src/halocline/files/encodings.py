"""Tell the encoding of bytes that are not UTF-8: what is declared, what fits strictly, what the text looks like.

An encoding counts only if its text encodes to the same bytes again, so that an edit changes no other byte.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from msgspec.structs import replace

from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
WESTERN = ("cp1252", "latin-1")
_SAMPLE, _SHORT_SAMPLE = 1 << 13, 1 << 12
"""Bytes of lines beyond ASCII that are looked at to tell an encoding; all bytes must fit it."""
_DECLARES = compile_later(
    rb"\A\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)|\A@charset \"([\w.:-]+)\""
    rb"|\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([\w.-]+)|<meta\s[^>]*?charset\s*=\s*[\"']?([\w.:-]+)",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1 << 10
_NO_TEXT = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7"})
"""Codecs whose bytes are not what people call text."""
_WORD = compile_later(rb"[A-Za-z\x80-\xff]+")
_UTF_8 = compile_later(rb"[\xc3-\xf4][\x80-\xbf]")
_SIGNS = bytes([*range(0x80, 0xC0), 0xD7, 0xF7])
_IN_WESTERN = compile_later(
    rb"[A-Za-z\x85\x8c\x91\x92\x96\x97\x9c\xab\xad\xb4\xb7\xbb\xc0-\xcf\xd1-\xd6\xd8-\xdc\xdf-\xef\xf1-\xf6\xf8-\xfc\xff]+"
)
_FOREIGN = compile_later(rb"\xa4|[a-z]\x8c")
"""In a file of another encoding the sign for any currency is a euro, and a capital stands within a word."""
_FEWEST_WORDS = 3
_CENTRAL = compile_later(rb"[\xa3\xa6\xa9\xae\xb1\xb3\xb6\xb9\xbc\xbe](?=[a-z])|[a-z\xc0-\xff]\xbb(?=[a-z])")
"""What letters of Czech, Polish and their neighbors look like in cp1252: signs in front of small letters."""
_OFTEN_CENTRAL = 20
_QUOTES = compile_later(rb"[\x85\x91-\x97\xa0\xa1\xab\xbb\xbf]*")
_BEYOND = compile_later(rb"[\x80-\xff]")
_ASCII = compile_later(rb"[A-Za-z]")
_TYPED = frozenset("\t\n\r\f")
_OFTEN, _RARELY = (
    frozenset("\u043e\u0435\u0430\u0438\u043d\u0442\u0441\u0440\u0432\u043b\u0456"),
    frozenset("\u0444\u0445\u0446\u0449\u044a\u044d"),
)
"""Letters of Russian and Ukrainian."""


class _Script(Value, frozen=True):
    """The looks of text in some encodings: `part` is a character beyond ASCII, `usual` one of those that most are.

    At least `fewest` must be `typical`, which is rare in what another encoding makes of its own characters.
    """

    encodings: str
    part: bytes
    usual: bytes
    typical: bytes
    fewest: int


_PAIR = rb"[\x81-\xfe][\x40-\xfe]"
_SCRIPTS = (
    _Script(
        "cp932 shift_jis shift_jis_2004",
        rb"[\x81-\x9f\xe0-\xfc][\x40-\xfc]|[\x80-\xff]",
        rb"(?s)\x81.|\x82[\x4f-\xf1]|\x83[\x40-\x96]|[\x88-\x97].",
        rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]",
        2,
    ),
    _Script("euc_jp euc_jis_2004", _PAIR, rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]", rb"[\xa4\xa5][\xa1-\xf6]", 2),
    _Script("euc_kr cp949", _PAIR, rb"[\xa1\xa3\xb0-\xc8][\xa1-\xfe]", rb"[\xb0-\xc8][\xa1-\xfe]", 10),
    _Script("gbk gb18030", _PAIR, rb"[\xa1\xa3\xb0-\xd7][\xa1-\xfe]", rb"[\xd0-\xd7][\xa1-\xfe]", 2),
    _Script("big5 cp950 big5hkscs", _PAIR, rb"[\xa1-\xc6][\x40-\x7e\xa1-\xfe]", rb"[\xa4-\xc6][\x40-\x7e]", 2),
)
_LEAST_USUAL = 0.95
_LETTERS, _ASCII_LETTER = compile_later(r"[^\W\d_]+"), compile_later("[A-Za-z]")
_CYRILLIC = ("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5")
_FEWEST_LETTERS, _LEAST_CYRILLIC, _FEWEST_ASKED = 12, 0.45, 40


class Guess(Value, frozen=True):
    """An encoding and the text it makes. It is `sure` if characters that the file lacks may be added in it."""

    encoding: str
    text: str
    sure: bool = True


def find_codec(name: str) -> str:
    """Return the name that Python has for an encoding of text; empty if it has none."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)
    except (LookupError, ValueError):
        return ""
    return "" if found in _NO_TEXT else found


def decode_exactly(data: bytes, encoding: str) -> str | None:
    """Return the text of bytes that come back from it; None if they are not in this encoding."""
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except UnicodeError:
        return None


def guess_encoding(data: bytes) -> Guess | None:
    """Tell the encoding of bytes that are not UTF-8 and have no mark; None if they are not text."""
    if b"\0" in data:
        return _guess_wide(data)
    plain = _first_that_fits(data, WESTERN) or Guess("latin-1", data.decode("latin-1"))
    sample = _take_lines(data)
    if plain.encoding == "cp1252" and _is_western(sample):
        return plain
    guess = _first_that_fits(data, [*_eastern(sample), *_cyrillic(sample)])
    return guess or replace(_ask_library(data) or plain, sure=False)


def decode_patch(data: bytes) -> str:
    """Decode a patch of several files, each in the encoding that its lines look like. It may have been cut anywhere."""
    if (text := _decode_utf_8(data)) is not None:
        return text
    return "".join(map(_decode_part, re.split(rb"^(?=diff --git )", data, flags=re.MULTILINE)))


def decode_text(data: bytes) -> str:
    """Decode a text in the encoding that it looks like. It may have been cut anywhere."""
    if (text := _decode_utf_8(data)) is not None:
        return text
    guess = guess_encoding(data)
    return guess.text if guess else data.decode(errors="replace")


def _decode_utf_8(data: bytes) -> str | None:
    with suppress(UnicodeDecodeError):
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    return None


def _decode_part(part: bytes) -> str:
    if (text := _decode_utf_8(part)) is not None:
        return text
    head, sign, lines = part.partition(b"\n@@ ")
    guess = guess_encoding(re.sub(rb"^(?:[ +-]|@@.*)", b"", lines, flags=re.MULTILINE))
    shown = lines.decode(guess.encoding if guess else "utf-8", "replace")
    return f"{head.decode(errors='replace')}{sign.decode()}{shown}"


def find_own_declaration(data: bytes) -> str:
    """Return the encoding that a text names in its beginning, as XML, HTML, CSS and source code do; empty if none."""
    found = _DECLARES.search(data[:_DECLARED_WITHIN])
    return next(filter(None, found.groups())).decode() if found else ""


def _take_lines(data: bytes) -> bytes:
    """Return lines with bytes beyond ASCII, from the beginning and from all of a long file."""
    taken: list[bytes] = []
    at, room = 0, _SAMPLE
    while room > 0 and (found := _BEYOND.search(data, at)):
        start = max(at, data.rfind(b"\n", at, found.start()) + 1, found.start() - _SAMPLE)
        end = data.find(b"\n", found.start(), found.start() + room) + 1 or min(len(data), found.start() + room)
        taken.append(data[start:end])
        room -= end - start
        at = end
    return b"".join(taken)


def _first_that_fits(data: bytes, encodings: Iterable[str]) -> Guess | None:
    for encoding in encodings:
        if (text := decode_exactly(data, encoding)) is not None:
            return Guess(encoding, text)
    return None


def _guess_wide(data: bytes) -> Guess | None:
    """Tell UTF-16 and UTF-32 without a mark: nothing but printable characters, and lines or mostly ASCII among them."""
    for encoding in WIDE:
        beginning = data[:_SAMPLE].decode(encoding, "ignore") if len(data) % (int(encoding[4:6]) // 8) == 0 else ""
        if len(beginning) > 1 and all(char.isprintable() or char in _TYPED for char in beginning):
            is_ascii = sum(char < "\x80" for char in beginning) > 0.7 * len(beginning)
            if (is_ascii or "\n" in beginning[4:]) and (text := decode_exactly(data, encoding)) is not None:
                return Guess(encoding, text)
    return None


def _is_western(sample: bytes) -> bool:
    """True if the bytes beyond ASCII stand as in several Western European words: among ASCII, no signs between."""
    good = bad = words = 0
    for word in set(_WORD.findall(sample)):
        if not word.isascii():
            core = word.strip(_SIGNS)
            signs = word.replace(core, b"", 1) if core else word
            has_ascii = _ASCII.search(core) is not None
            fits = not core or (_IN_WESTERN.fullmatch(core) and (has_ascii or len(core) == 1))
            if fits and not _UTF_8.search(word) and (len(signs) == (has_ascii or not core) or _QUOTES.fullmatch(signs)):
                good += 1
                words += has_ascii and not core.isascii()
            else:
                bad += 1
    return bad * 3 < good and words >= _FEWEST_WORDS and not (_FOREIGN.search(sample) or _is_central(sample, words))


def _is_central(sample: bytes, words: int) -> bool:
    """True for the letters of Central Europe: among words, signs; and those of Nordic and Romance words together."""
    nordic, romance = sample.count(b"\xf8"), sample.count(b"\xe8") + sample.count(b"\xec")
    return len(_CENTRAL.findall(sample)) * _OFTEN_CENTRAL > words or min(nordic, romance) > 1


def _eastern(sample: bytes) -> list[str]:
    """The encodings of the only script that the bytes look like."""
    found = []
    for script in _SCRIPTS:
        parts = Counter(re.findall(script.part, sample))
        usual = sum(often for part, often in parts.items() if re.fullmatch(script.usual, part))
        typical = sum(often for part, often in parts.items() if re.fullmatch(script.typical, part))
        low = sum(often for part, often in parts.items() if min(part) < 0xC0)  # letters of alphabets come after that
        if typical >= script.fewest and usual >= _LEAST_USUAL * parts.total() <= 5 * low:
            found.append(script.encodings.split())
    return found[0] if len(found) == 1 else []


def _cyrillic(sample: bytes) -> list[str]:
    scores = {encoding: _score_cyrillic(sample.decode(encoding, "replace")) for encoding in _CYRILLIC}
    best = max(scores, key=lambda encoding: scores[encoding])
    return [best] if scores[best] >= _LEAST_CYRILLIC else []


def _score_cyrillic(text: str) -> float:
    """Rate from 0 to 1 if the letters beyond ASCII are those of Russian, in lower case as most text is.

    They make up whole words: one among ASCII letters is a Western one.
    """
    beyond = [word for word in _LETTERS.findall(text) if not word.isascii()]
    if 4 * sum(_ASCII_LETTER.search(word) is not None for word in beyond) > len(beyond):
        return 0.0
    letters = [char for char in text if char > "\x7f"]
    often, rarely = (sum(char in few for char in letters) for few in (_OFTEN, _RARELY))
    return (often - 2 * rarely) / len(letters) if len(letters) >= _FEWEST_LETTERS else 0.0


def _ask_library(data: bytes) -> Guess | None:
    """Ask charset-normalizer, if it is installed, about enough bytes; not about UTF-8 with a few that are broken."""
    sample = data[:_SHORT_SAMPLE]
    beyond = len(sample) - len(_BEYOND.sub(b"", sample))
    if beyond < _FEWEST_ASKED or sample.decode("utf-8", "replace").count("\ufffd") * 4 < beyond:
        return None
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return None
    best = from_bytes(sample).best()
    return _first_that_fits(data, [best.encoding]) if best else None
