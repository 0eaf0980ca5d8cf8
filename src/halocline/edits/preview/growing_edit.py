"""Preview an edit while the model is still writing its call: nothing is decided here, and nothing fails.

However the call is cut into pieces, the final result is the same. Each line is processed once, each file is indexed
once, and each block is searched for at most twice. Incomplete lines do not count.
"""

from collections import deque
from collections.abc import Mapping

from halocline.edits.preview.edit_stats import EditStats, Growth
from halocline.edits.preview.growing_arguments import GrowingArguments, Piece
from halocline.edits.preview.growing_fronts import FRONTS
from halocline.edits.text import TextFile


class GrowingEdit:
    """A call of one of the `FRONTS` tools, fed with the pieces of its arguments."""

    def __init__(self, tool: str, names: Mapping[str, str] | None = None) -> None:
        """`names` maps aliases of parameters to their names."""
        self._arguments = GrowingArguments()
        self._names = names or {}
        self._stats = EditStats()
        self._front = FRONTS[tool](self._stats)
        self._rest: list[str] = []
        self._queue: deque[tuple[str, str | None]] = deque()

    @property
    def growth(self) -> Growth:
        return self._stats.growth

    @property
    def wanted(self) -> str:
        """The path of a file whose text is needed; nothing proceeds until `know` provides it."""
        return self._stats.wanted

    def feed(self, arguments: str) -> None:
        """Feed more of the arguments' JSON. Everything after the name of a wanted file waits for `know`."""
        for piece in self._arguments.feed(arguments):
            name = self._names.get(piece.field, piece.field)
            if name == "path" or name in self._front.fields:
                self._cut(name, piece)
        self._advance()

    def know(self, file: TextFile | None) -> None:
        """Provide the text of the wanted file; None if it has none."""
        self._stats.know(file)
        if self._front.replaces_all and file is not None:
            self._stats.expect(file)
        self._advance()

    def _cut(self, name: str, piece: Piece) -> None:
        """Queue the complete lines of a piece, and None for the end of its field."""
        *whole, rest = piece.text.split("\n")
        for line in whole:
            self._queue.append((name, "".join([*self._rest, line]).removesuffix("\r")))
            self._rest.clear()
        self._rest.append(rest)
        if piece.ends:
            if last := "".join(self._rest).removesuffix("\r"):
                self._queue.append((name, last))
            self._rest.clear()
            self._queue.append((name, None))

    def _advance(self) -> None:
        while self._queue and not self.wanted:
            name, line = self._queue.popleft()
            if name == "path":
                if line:
                    self._stats.about(line)
            elif line is None:
                self._front.end(name)
            else:
                self._front.take(name, line)
