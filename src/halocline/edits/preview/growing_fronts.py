"""Interpret the lines of each editing tool's text, one by one, while they are still being written."""

from collections.abc import Callable, Mapping

from halocline.edits.edit import Edit
from halocline.edits.formats import patch
from halocline.edits.formats.blocks import Marker, marker_in
from halocline.edits.preview.edit_stats import EditStats


class Front:
    """Interprets the lines of one tool's text."""

    fields: tuple[str, ...] = ()
    replaces_all = False

    def __init__(self, stats: EditStats) -> None:
        self.stats = stats

    def take(self, name: str, line: str) -> None:
        raise NotImplementedError

    def end(self, name: str) -> None:
        """Handle the end of a field."""


class _Whole(Front):
    """A whole file: every line is new unless the file already has it."""

    fields = ("content",)
    replaces_all = True

    def take(self, name: str, line: str) -> None:
        self.stats.new(line)

    def end(self, name: str) -> None:
        self.stats.count_removed()


class _Blocks(Front):
    """SEARCH/REPLACE blocks, or an old text and a new one."""

    fields = ("diff", "old_text", "new_text")

    def __init__(self, stats: EditStats) -> None:
        super().__init__(stats)
        self._start: Marker | None = None
        self._search: list[str] = []
        self._divided = False

    def take(self, name: str, line: str) -> None:
        match name:
            case "old_text":
                self._begins_once()
                self._looked_for(line)
            case "new_text":
                self.stats.new(line)
            case _:
                self._in_blocks(line)

    def end(self, name: str) -> None:
        if name == "old_text":
            self._find_search()
        elif name == "new_text" or self._divided:
            self.stats.count_removed()

    def _begins_once(self) -> None:
        if not self._search:
            self.stats.begin()

    def _in_blocks(self, line: str) -> None:
        marker = marker_in(line, 0)
        start = self._start
        if marker and marker.opens and (start is None or marker.size == start.size):
            self._start, self._search, self._divided = marker, [], False
            self.stats.begin()
        elif start is None:
            return
        elif marker and marker.closes and marker.size == start.size:
            self._start = None
            self.stats.count_removed()
        elif marker and marker.divides and marker.size == start.size and not self._divided:
            self._divided = True
            self._find_search()
        elif self._divided:
            self.stats.new(line)
        else:
            self._looked_for(line)

    def _looked_for(self, line: str) -> None:
        self._search.append(line)
        self.stats.old(line)

    def _find_search(self) -> None:
        lines = tuple(self._search)
        if lines:
            self.stats.find(Edit(1, lines, lines))


class _Patch(Front):
    """A patch over several files. A hunk is searched for at its first change, and again when it is complete."""

    fields = ("input",)

    def __init__(self, stats: EditStats) -> None:
        super().__init__(stats)
        self._hunk: list[str] = []
        self._changes = False
        self._updates = False

    def take(self, name: str, line: str) -> None:
        if section := patch.SECTION.fullmatch(line):
            self._settle()
            self._updates = section[1] == "Update"
            self.stats.about(section[2])
        elif line.startswith("*** "):
            self._hunk.append(line)  # it may be the mark for the file's end
            self._settle()
        elif line.startswith("@@"):
            if self._changes:
                self._settle()
            self._hunk.append(line)
        else:
            self._in_hunk(line)

    def end(self, name: str) -> None:
        self._settle()

    def _in_hunk(self, line: str) -> None:
        self._hunk.append(line)
        match line[:1]:
            case "+":
                self._begin_change()
                self.stats.new(line[1:])
            case "-":
                self._begin_change()
                self.stats.old(line[1:])
                self.stats.count_removed()
            case _:
                self.stats.context(line[1:])

    def _begin_change(self) -> None:
        if self._updates and not self._changes:
            self._changes = True
            self.stats.begin()
            self._find()

    def _settle(self) -> None:
        if self._changes:
            self._find()
        self._hunk, self._changes = [], False

    def _find(self) -> None:
        try:
            edit = next(patch.parse_hunks(list(enumerate(self._hunk, 1))), None)
        except patch.MalformedPatch:
            return
        if edit is not None and not edit.is_blank:
            self.stats.find(edit)


FRONTS: Mapping[str, Callable[[EditStats], Front]] = {
    "replace_in_file": _Blocks,
    "write_to_file": _Whole,
    "apply_patch": _Patch,
}
"""The tools whose calls can be previewed, by name."""
