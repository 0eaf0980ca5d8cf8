"""A row of the transcript as cards of the terminal, shortened or whole, and the text that a search looks at. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.surfaces.cli.output import call_cards, cards
from halocline.surfaces.cli.output.approval_card import approval_card, decision_line
from halocline.surfaces.cli.output.markdown import Prose
from halocline.surfaces.cli.output.markdown_blocks import split_blocks
from halocline.surfaces.cli.output.replies import DRAWN, PLAIN_FROM_HERE, cut_at_line
from halocline.surfaces.cli.output.screen import SAID, TOLD_BY_OTHER_ROWS
from halocline.surfaces.cli.output.theme import Gutter, Wide, line, marked, wrapped
from halocline.surfaces.figures import describe_lane
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.sanitize import clean

LIVE_LINES = 6
"""Most lines of a running command's output, while its row is not expanded."""
_MARGIN = Text("  ", end="")
_NAMES = frozenset({"call", "request", "child", "code"})
"""Fields that hold identifiers, which no person searches."""


def draw_row(row: r.Row, *, is_expanded: bool = False) -> list[RenderableType]:
    """Draw a row; no cards for one that others tell."""
    match row:
        case r.CallRow():
            return _draw_call(row, is_expanded=is_expanded)
        case r.ReplyRow():
            return draw_markdown(row.text)
        case r.ThoughtRow():
            return [cards.thought_card(row, details=is_expanded)]
        case r.QuestionRow():
            return [cards.question_card(row), *([cards.answer_line(row)] if row.by else [])]
        case r.PromptRow() if is_expanded:
            return [marked(wrapped(clean(row.text).strip("\n"), "prompt"), "❯", "accent")]
        case _:
            return [cards.CARDS[type(row)][0](row)]


def is_redundant(row: r.Row) -> bool:
    """True if other rows show all that a row has, so that it has no lines."""
    if not isinstance(row, r.CallRow) or row.status is not CallStatus.COMPLETED:
        return False
    return row.name in TOLD_BY_OTHER_ROWS and not row.lanes and not row.ends_turn


def is_close(row: r.Row, before: r.Row | None) -> bool:
    """True if no blank line separates a row from the one before it."""
    if isinstance(row, r.CallRow) and isinstance(before, r.CallRow):
        return _is_look(row) and _is_look(before)
    group = cards.CARDS.get(type(row), (None, ""))[1]
    return bool(group) and before is not None and cards.CARDS.get(type(before), (None, ""))[1] == group


def draw_markdown(text: str) -> list[RenderableType]:
    """Draw a reply block by block; the rest of a very long one is plain text."""
    drawn, rest = cut_at_line(text, DRAWN)
    body: list[RenderableType] = []
    for block in split_blocks(drawn):
        body += [Text(""), draw_block(block)]
    if rest:
        body += [Text(""), marked(line(PLAIN_FROM_HERE, "quiet")), marked(wrapped(clean(rest)))]
    return body[1:]


def draw_block(block: str) -> RenderableType:
    """Draw one block of Markdown."""
    return Gutter(Prose(block), _MARGIN, _MARGIN)


def _draw_call(row: r.CallRow, *, is_expanded: bool) -> list[RenderableType]:
    if row.approval and row.approval.decision is None and row.status is None:
        return [approval_card(row, whole=is_expanded)]
    decided = [shown] if (shown := decision_line(row)) else []
    if row.status is None:
        return [call_cards.call_head(row), *decided, *_draw_lanes(row, is_expanded), *_draw_output(row, is_expanded)]
    if row.lanes:
        return [call_cards.call_head(row), *decided, *_draw_lanes(row, is_expanded)]
    if row.status is CallStatus.COMPLETED and not is_expanded:
        if row.ends_turn:
            return draw_markdown(row.output)
        if row.name in SAID:
            return draw_markdown(str(row.arguments.get(SAID[row.name], "")))
        if is_redundant(row):
            return []
        if row.foreign:
            return [call_cards.foreign_card(row, headed=True, whole=False, markdown=True)]
    if row.foreign and row.status is CallStatus.COMPLETED:
        return [call_cards.foreign_card(row, headed=True, whole=True, markdown=True)]
    return [call_cards.call_card(row, details=is_expanded), *decided]


def _draw_output(row: r.CallRow, is_expanded: bool) -> list[RenderableType]:
    """The end of what a running command has printed."""
    lines = clean(row.output).rstrip().split("\n") if row.output.strip() else []
    shown = lines if is_expanded else lines[-LIVE_LINES:]
    return [marked(line(text, "quiet"), "│", "quiet") for text in shown]


def _draw_lanes(row: r.CallRow, is_expanded: bool) -> list[RenderableType]:
    return [
        call_cards.lane_card(lane, details=is_expanded)
        if lane.end
        else marked(wrapped(clean(f"{lane.name}: {describe_lane(lane)}"), "quiet"), "·", "accent")
        for lane in row.lanes
    ]


def _is_look(row: r.CallRow) -> bool:
    return row.kind in (ToolKind.READ, ToolKind.SEARCH) and row.status is CallStatus.COMPLETED


def group_cards(bodies: Sequence[RenderableType]) -> RenderableType:
    """Join cards; together they may use all columns if one of them may."""
    if len(bodies) == 1:
        return bodies[0]
    return Wide(Group(*bodies)) if any(isinstance(body, Wide) for body in bodies) else Group(*bodies)


def read_words(row: r.Row) -> str:
    """All text of a row, shown or not, in small letters."""
    return "\n".join(_list_texts(row)).casefold()


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield clean(value)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            if name not in _NAMES:
                yield from _list_texts(getattr(value, name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _list_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_texts(item)
