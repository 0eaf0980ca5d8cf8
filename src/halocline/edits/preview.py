"""What a growing diff has settled so far, while the model still writes it. Nothing is decided here, and nothing fails.

A block counts once no further line can change it; one without a place is left out. How the diff was cut into pieces
makes no difference. Each line of it is read once, and the file is indexed once.
"""

from dataclasses import replace

from halocline.edits.blocks import MalformedBlocks, Marker, marker_in, parse
from halocline.edits.locate import Locator, Placement
from halocline.edits.plan import Applied, apply, rebuilt, report, undisturbed
from halocline.edits.text import TextFile


class Preview:
    """Fed with pieces of the SEARCH/REPLACE blocks for one file."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        self._locator = Locator(file.view)
        self._pieces: list[str] = []
        self._rest: list[str] = []
        self._open: list[str] = []
        self._start: Marker | None = None
        self._found: list[Placement] = []
        self._broken = False
        self.blocks = 0

    def feed(self, piece: str) -> None:
        """Take in more of the diff. A line that is not whole yet settles nothing."""
        self._pieces.append(piece)
        *lines, rest = piece.split("\n")
        for line in lines:
            self._take("".join([*self._rest, line]).removesuffix("\r"))
            self._rest.clear()
        self._rest.append(rest)

    @property
    def placements(self) -> list[Placement]:
        """Where the `blocks` settled so far belong, in the file's order; those that disturb each other are left out."""
        return undisturbed(self._found)

    @property
    def applied(self) -> list[Applied]:
        """Which lines of the new file they are."""
        return report(self._locator, self.placements)

    def text(self) -> TextFile:
        """The file with them applied. Costs as much as writing the file out."""
        return rebuilt(self._file, self.placements)

    def finish(self) -> tuple[TextFile, list[Applied]]:
        """What the whole diff gives. Raises MalformedBlocks and UnplacedEdits."""
        return apply(self._file, parse("".join(self._pieces)))

    def _take(self, line: str) -> None:
        if self._broken:
            return
        marker = marker_in(line, len(self._open))
        if self._start is None:
            if marker is not None and marker.opens:
                self._start, self._open = marker, [line]
        elif marker is not None and marker.opens and marker.size == self._start.size:
            self._settle()
            self._start, self._open = marker, [line]
        else:
            self._open.append(line)
            if marker is not None and marker.closes and marker.size == self._start.size:
                self._settle()
                self._start = None

    def _settle(self) -> None:
        """The block that is open has ended."""
        try:
            (block,) = parse("\n".join(self._open))
        except MalformedBlocks:
            self._broken = True
            return
        self.blocks += 1
        places = self._locator.places(replace(block, number=self.blocks))
        self._found += [place for place in places if isinstance(place, Placement)]
