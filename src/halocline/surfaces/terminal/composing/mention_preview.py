"""The line above the composer: what the text mentions, with approximate sizes.

It is looked up when typing pauses; results for an older text are dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from rich.cells import cell_len

from halocline.protocol.events.mentions import Mentioned
from halocline.surfaces.figures import format_count
from halocline.surfaces.sanitize import clean
from halocline.surfaces.wrapping import Fragments, cut_line, wrap_line

REST = 0.2
"""Seconds without a key before mentions are looked up."""
QUIET, PROBLEM = "ansibrightblack", "ansiyellow"


class MentionedLine:
    """Must be used in an event loop. `redraw` is called when the line changes by itself."""

    def __init__(self, ask: Callable[[str], Awaitable[Sequence[Mentioned]]], redraw: Callable[[], None]) -> None:
        self._ask = ask
        self._redraw = redraw
        self._timer: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[None] | None = None
        self._mentions: Sequence[Mentioned] = ()
        self._message = ""

    def typed(self, text: str) -> None:
        """Take in the changed text."""
        self.stop()
        self._message = ""
        self._mentions = [mention for mention in self._mentions if mention.text in text]
        if "@" in text:
            self._timer = asyncio.get_running_loop().call_later(REST, self._look, text)

    def say(self, text: str) -> None:
        """Show a message instead, until the next key."""
        self._message = text
        self._redraw()

    def stop(self) -> None:
        """Cancel lookups."""
        if self._timer:
            self._timer.cancel()
        if self._asking:
            self._asking.cancel()
        self._timer = self._asking = None

    def draw_lines(self, width: int) -> list[Fragments]:
        """The line, cut to the width, or a message wrapped to it; none when there is nothing."""
        if self._message:
            return [[(PROBLEM, line)] for line in wrap_line(clean(self._message), width)]
        return [describe_mentions(self._mentions, width)] if self._mentions else []

    def _look(self, text: str) -> None:
        self._asking = asyncio.get_running_loop().create_task(self._looked_up(text))

    async def _looked_up(self, text: str) -> None:
        self._mentions = await self._ask(text)
        self._redraw()


def describe_mentions(mentions: Sequence[Mentioned], width: int) -> Fragments:
    """List mentions with sizes, after the sum of several; those that do not fit are counted."""
    line: Fragments = []
    sized = [mention.tokens for mention in mentions if mention.tokens is not None]
    if len(sized) > 1:
        line.append((QUIET, f"~{format_count(sum(sized))} tokens"))
    for at, mention in enumerate(mentions):
        left = len(mentions) - at
        text = _describe_mention(mention, unit=len(sized) < 2)
        apart = " · " if line else ""
        room = width - sum(cell_len(part) for _, part in line) - len(apart)
        spare = len(f" · +{left - 1}") if left > 1 else 0
        if cell_len(text) > room - spare and line:
            return [*line, (QUIET, f"{apart}+{left}")]
        line += [(QUIET, apart)] if apart else []
        line.append((PROBLEM if mention.problem else QUIET, cut_line(text, room - spare)))
    return line


def _describe_mention(mention: Mentioned, *, unit: bool) -> str:
    name = clean(mention.text)
    if mention.tokens is None:
        return f"{name}: {clean(mention.what)}".replace("\n", " ")
    return f"{name} ~{format_count(mention.tokens)}{' tokens' if unit else ''}"
