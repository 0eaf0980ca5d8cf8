"""A streaming reply: deltas in, finished rows out."""

from halocline.surfaces.rows.kinds import ReplyRow, ThoughtRow
from halocline.surfaces.terminal.drawing.markdown_blocks import Blocks

Said = ThoughtRow | ReplyRow


class Stream:
    """Returns each row once: a thought or a block of Markdown when it is finished; `blocks` has the one that is not."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self._thought: list[str] = []
        self._text: list[str] = []

    @property
    def is_open(self) -> bool:
        """True if anything was streamed since the last end."""
        return bool(self._text or self._thought)

    def think(self, text: str) -> list[Said]:
        said = _replies(self.blocks.flush())
        self._thought.append(text)
        return said

    def write(self, text: str, *, apart: bool = False) -> list[Said]:
        said = self._end_thought() + (_replies(self.blocks.flush()) if apart else [])
        self._text.append(text)
        return said + _replies(self.blocks.feed(text))

    def flush(self) -> list[Said]:
        """Return the remaining rows, finished or not."""
        return self._end_thought() + _replies(self.blocks.flush())

    def end(self, text: str) -> tuple[list[Said], bool]:
        """End the reply, whose full text is `text`. Return the rest, and True if one begins with the other.

        The streamed text is the longer one if its end was a call that the model printed.
        """
        streamed = "".join(self._text)
        was_true = self.is_open and (text.startswith(streamed) or bool(text and streamed.startswith(text)))
        said = self.write(text[len(streamed) :]) if was_true else []
        said += self.flush()
        self.discard()
        return said, was_true

    def discard(self) -> None:
        """Drop what was streamed."""
        self.blocks, self._thought, self._text = Blocks(), [], []

    def tail(self) -> str:
        """The end of the streamed text, for the status line."""
        return self.blocks.tail(200) or "".join(self._thought[-40:])[-200:]

    def _end_thought(self) -> list[Said]:
        text = "".join(self._thought).strip()
        self._thought = []
        return [ThoughtRow(text)] if text else []


def _replies(blocks: list[str]) -> list[Said]:
    return [ReplyRow(block) for block in blocks]
