"""A reply while it is being spoken: deltas go in, rows that are finished come out."""

from halocline.surfaces.cli.output.markdown_blocks import Blocks
from halocline.surfaces.row_kinds import ReplyRow, ThoughtRow

Said = ThoughtRow | ReplyRow


class Stream:
    """Each row is given once: a thought when it is over, a block of Markdown when it is finished."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._thought: list[str] = []
        self._text: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether anything was said since the last end."""
        return bool(self._text or self._thought)

    def think(self, text: str) -> list[Said]:
        said = _replies(self._blocks.flush())
        self._thought.append(text)
        return said

    def write(self, text: str, *, apart: bool = False) -> list[Said]:
        said = self._end_thought() + (_replies(self._blocks.flush()) if apart else [])
        self._text.append(text)
        return said + _replies(self._blocks.feed(text))

    def flush(self) -> list[Said]:
        """What is not given yet, finished or not."""
        return self._end_thought() + _replies(self._blocks.flush())

    def end(self, text: str) -> tuple[list[Said], bool]:
        """The reply is complete and says `text`. Gives the rest, and whether what was streamed is its beginning."""
        streamed = "".join(self._text)
        was_true = self.is_open and text.startswith(streamed)
        said = self.write(text[len(streamed) :]) if was_true else []
        said += self.flush()
        self.discard()
        return said, was_true

    def discard(self) -> None:
        """What was streamed is void."""
        self._blocks, self._thought, self._text = Blocks(), [], []

    def tail(self) -> str:
        """The end of what is being said, for a live line."""
        return self._blocks.tail(200) or "".join(self._thought[-40:])[-200:]

    def _end_thought(self) -> list[Said]:
        text = "".join(self._thought).strip()
        self._thought = []
        return [ThoughtRow(text)] if text else []


def _replies(blocks: list[str]) -> list[Said]:
    return [ReplyRow(block) for block in blocks]
