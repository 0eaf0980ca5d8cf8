"""What the tests of the text protocol share: the tools, turns that say their calls in words, and a reply read whole."""

from collections.abc import Iterable

from msgspec.structs import replace

from halocline.providers.scripted.script import Call, Turn
from halocline.providers.text_tools.arguments import read_arguments, write_arguments
from halocline.providers.text_tools.reader import Called, Growing, Piece, Reader
from halocline.providers.text_tools.tags import tags_of
from halocline.tools.toolset import every_tool

TOOLS = tuple(tool.spec for tool in every_tool())
TAGS = tags_of(TOOLS)


def markup(tool: str, **arguments: object) -> str:
    return f"<{tool}>{write_arguments(arguments)}</{tool}>"


def spoken(turn: Turn) -> Turn:
    """The turn as a model without tool calls says it."""
    return replace(turn, text="\n\n".join([turn.text, *map(_spoken, turn.calls)]).strip(), calls=())


def _spoken(call: Call) -> str:
    return f"<{call.tool}>{call.raw}</{call.tool}>" if call.raw else markup(call.tool, **call.arguments)


def cut_into(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(chunks: Iterable[str], *, cut: bool = False) -> list[Piece]:
    """The pieces of a reply without previews, neighbours joined."""
    reader = Reader(TOOLS)
    pieces = [piece for chunk in chunks for piece in reader.feed(chunk)]
    joined: list[Piece] = []
    for piece in (*pieces, *reader.finish(cut=cut)):
        if isinstance(piece, Growing):
            continue
        if joined and not isinstance(piece, Called) and type(joined[-1]) is type(piece):
            piece = type(piece)(joined.pop().text + piece.text)
        joined.append(piece)
    return joined


def meant(pieces: Iterable[Piece]) -> list[object]:
    """Words and thoughts as text, calls as name and arguments (None: malformed)."""
    return [_meant(piece) for piece in pieces]


def _meant(piece: Piece) -> object:
    if not isinstance(piece, Called):
        return piece.text
    return piece.tool, read_arguments(piece.body, TAGS[piece.tool]) if piece.whole else None
