"""Preview an edit while the model is still writing its call: nothing is decided here, and nothing fails.

However the call is cut into pieces, the final result is the same. Each line is processed once, each file is indexed
once, and each block is searched for at most twice. Incomplete lines do not count.
"""

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from halocline.edits.edit import Edit
from halocline.edits.formats import patch
from halocline.edits.formats.blocks import Kind, Marker, marker_in
from halocline.edits.matching.locate import Locator, Placement
from halocline.edits.preview.growing_arguments import GrowingArguments, Piece
from halocline.edits.text import TextFile, lines_of
from halocline.protocol.values import Value

SHOWN = 8
"""The number of newest lines kept for display."""
_MOST_MISSES = 20


class Growth(Value, frozen=True):
    """The edit so far. `number` counts blocks and hunks, `line` is where the newest one belongs (None: unknown).

    `lines` are the newest ones, each with its sign (`+`, `-` or a space).
    """

    path: str = ""
    number: int = 0
    line: int | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] = ()


class _Target(Struct):
    """The file being edited. Until its text is known, searches in it wait."""

    path: str
    known: bool = False
    locator: Locator | None = None
    waiting: list[tuple[int, Edit]] = field(default_factory=list)
    misses: int = 0

    def line_of(self, edit: Edit) -> int | None:
        if self.locator is None or self.misses >= _MOST_MISSES:
            return None
        place = next(iter(self.locator.places(edit)), None)
        if isinstance(place, Placement):
            return self.locator.lines.number(place.start)
        self.misses += 1
        return None


class GrowingEdit(ABC):
    """A call of an editing tool, fed with the pieces of its arguments, and what it counts."""

    _fields: tuple[str, ...] = ()

    def __init__(self, names: Mapping[str, str]) -> None:
        self._arguments = GrowingArguments()
        self._names = names
        self._rest: list[str] = []
        self._queue: deque[tuple[str, str | None]] = deque()
        self._shown: deque[str] = deque(maxlen=SHOWN)
        self._stays: Counter[str] = Counter()
        self._target = _Target("")
        self._number = self._added = self._removed = 0
        self._line: int | None = None

    @property
    def growth(self) -> Growth:
        shown = tuple(self._shown)
        return Growth(self._target.path, self._number, self._line, self._added, self._removed, shown)

    @property
    def wanted(self) -> str:
        """The path of a file whose text is needed; nothing proceeds until `know` provides it."""
        return "" if self._target.known else self._target.path

    def feed(self, arguments: str) -> None:
        """Feed more of the arguments' JSON. Everything after the name of a wanted file waits for `know`."""
        for piece in self._arguments.feed(arguments):
            name = self._names.get(piece.field, piece.field)
            if name == "path" or name in self._fields:
                self._cut(name, piece)
        self._advance()

    def know(self, file: TextFile | None) -> None:
        """Provide the text of the wanted file; None if it has none."""
        target = self._target
        target.known = True
        target.locator = Locator(file.view) if file else None
        for number, edit in target.waiting:
            line = target.line_of(edit)
            self._line = line if number == self._number else self._line
        target.waiting.clear()
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
                    self._about(line)
            elif line is None:
                self._end(name)
            else:
                self._take(name, line)

    @abstractmethod
    def _take(self, name: str, line: str) -> None:
        """Interpret a line of a field."""

    @abstractmethod
    def _end(self, name: str) -> None:
        """Handle the end of a field."""

    def _about(self, path: str) -> None:
        """Switch to this file."""
        if path != self._target.path:
            waiting = self._target.waiting if not self._target.path else []
            self._target = _Target(path, waiting=waiting)
            self._line = None

    def _begin(self) -> None:
        """Begin the next block or hunk."""
        self._number += 1
        self._line = None
        self._stays.clear()

    def _old(self, line: str) -> None:
        self._stays[line] += 1
        self._shown.append(f"-{line}")

    def _new(self, line: str) -> None:
        if self._stays[line] > 0:
            self._stays[line] -= 1
            self._shown.append(f" {line}")
        else:
            self._added += 1
            self._shown.append(f"+{line}")

    def _count_removed(self) -> None:
        """Count the old lines that did not reappear as removed."""
        self._removed += self._stays.total()
        self._stays.clear()

    def _find(self, edit: Edit) -> None:
        """Find where an edit belongs, now or once the file is known."""
        if self._line is not None:
            return
        if self._target.known:
            self._line = self._target.line_of(edit)
        else:
            self._target.waiting.append((self._number, edit))


class _Whole(GrowingEdit):
    """A whole file: every line is new unless the file already has it."""

    _fields = ("content",)

    def know(self, file: TextFile | None) -> None:
        if file and not self._added:
            self._stays.update(lines_of(file.view))  # old ones, unless new ones came before
        super().know(file)

    def _take(self, name: str, line: str) -> None:
        self._new(line)

    def _end(self, name: str) -> None:
        self._count_removed()


class _Blocks(GrowingEdit):
    """SEARCH/REPLACE blocks, or an old text and a new one."""

    _fields = ("diff", "old_text", "new_text")

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self._start: Marker | None = None
        self._search: list[str] = []
        self._divided = False

    def _take(self, name: str, line: str) -> None:
        match name:
            case "old_text":
                self._begins_once()
                self._looked_for(line)
            case "new_text":
                self._new(line)
            case _:
                self._in_blocks(line)

    def _end(self, name: str) -> None:
        if name == "old_text":
            self._find_search()
        elif name == "new_text" or self._divided:
            self._count_removed()

    def _begins_once(self) -> None:
        if not self._search:
            self._begin()

    def _in_blocks(self, line: str) -> None:
        marker = marker_in(line, 0)
        start = self._start
        if marker and marker.kind is Kind.START and (start is None or marker.size == start.size):
            self._start, self._search, self._divided = marker, [], False
            self._begin()
        elif start is None:
            return
        elif marker and marker.kind is Kind.END and marker.size == start.size:
            self._start = None
            self._count_removed()
        elif marker and marker.kind is Kind.DIVIDER and marker.size == start.size and not self._divided:
            self._divided = True
            self._find_search()
        elif self._divided:
            self._new(line)
        else:
            self._looked_for(line)

    def _looked_for(self, line: str) -> None:
        self._search.append(line)
        self._old(line)

    def _find_search(self) -> None:
        lines = tuple(self._search)
        if lines:
            self._find(Edit(1, lines, lines))


class _Patch(GrowingEdit):
    """A patch over several files. A hunk is searched for at its first change, and again when it is complete."""

    _fields = ("input",)

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self._hunk: list[str] = []
        self._changes = False
        self._updates = False

    def _take(self, name: str, line: str) -> None:
        if section := patch.SECTION.fullmatch(line):
            self._settle()
            self._updates = section[1] == "Update"
            self._about(section[2])
        elif line.startswith("*** "):
            self._hunk.append(line)  # it may be the mark for the file's end
            self._settle()
        elif line.startswith("@@"):
            if self._changes:
                self._settle()
            self._hunk.append(line)
        else:
            self._in_hunk(line)

    def _end(self, name: str) -> None:
        self._settle()

    def _in_hunk(self, line: str) -> None:
        self._hunk.append(line)
        match line[:1]:
            case "+":
                self._begin_change()
                self._new(line[1:])
            case "-":
                self._begin_change()
                self._old(line[1:])
                self._count_removed()
            case _:
                self._shown.append(f" {line[1:]}")

    def _begin_change(self) -> None:
        if self._updates and not self._changes:
            self._changes = True
            self._begin()
            self._find_hunk()

    def _settle(self) -> None:
        if self._changes:
            self._find_hunk()
        self._hunk, self._changes = [], False

    def _find_hunk(self) -> None:
        try:
            edit = next(patch.parse_hunks(list(enumerate(self._hunk, 1))), None)
        except patch.MalformedPatch:
            return
        if edit is not None and not edit.is_blank:
            self._find(edit)


_KINDS: Mapping[str, Callable[[Mapping[str, str]], GrowingEdit]] = {
    "replace_in_file": _Blocks,
    "write_to_file": _Whole,
    "apply_patch": _Patch,
}


def start_edit(tool: str, names: Mapping[str, str]) -> GrowingEdit:
    """Start with a call of one of the tools that edit files; `names` maps aliases of parameters to their names."""
    return _KINDS[tool](names)
