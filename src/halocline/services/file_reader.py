"""Files of a task for the person who looks at it: their lines, their folders, and which names are files.

What must stay true: only files in the task's folders are read, none that a rule, an ignore file or its name protects,
each by the place that was judged; keys in them are replaced. Nothing is written.
"""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from msgspec.structs import replace

from halocline.edits.text import EditError, decode_text, lines_of
from halocline.policy.gate import PolicyContext, build_classifier, decide_call
from halocline.policy.paths import Classifier
from halocline.policy.read_scope import ReadScope
from halocline.ports.blobs import Blobs
from halocline.ports.host import Files
from halocline.ports.tool import Summary
from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent, FileChanged
from halocline.protocol.kinds import ToolKind
from halocline.protocol.permission_rules import Place, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly
from halocline.task.calls.policy_input import make_policy_context

LARGEST = 64 * 2**20
"""Bytes of a file that is looked through to find its lines."""
LARGEST_WIDE = 8 * 2**20
"""Bytes of a file that is read whole because it may be UTF-16."""
MOST_BYTES, MOST_LINES = 2**20, 2_000
"""Of one answer."""
LONGEST_LINE = 10_000
MOST_ENTRIES = 2_000
MARGIN = 120
"""Lines read before the wanted ones, so that a private key is recognized from its first line."""
_IN_EDITOR = "Open it in your editor."


class FileLines(Value, frozen=True, omit_defaults=False):
    """Lines of a file from number `first` on, of `total`. `place` is its absolute path, `name` the one in its folder.

    `redacted`: keys in these lines were replaced.
    """

    place: str
    name: str
    first: int
    lines: tuple[str, ...]
    total: int
    size: int
    redacted: bool = False


class FolderEntry(Value, frozen=True, omit_defaults=False):
    name: str
    is_folder: bool


class FolderEntries(Value, frozen=True, omit_defaults=False):
    """A folder of a task; `more` counts the entries that were left out."""

    place: str
    entries: tuple[FolderEntry, ...]
    more: int = 0


class FoundFile(Value, frozen=True, omit_defaults=False):
    """A name that was found in a text, and the file in the task's folders that it means."""

    name: str
    place: str
    is_folder: bool = False


class FileReader:
    """The files of one task. `events` are those of its log, `redact` replaces keys."""

    def __init__(
        self,
        policy: PolicyContext,
        files: Files,
        blobs: Blobs,
        redact: Callable[[str], str],
        events: Callable[[], Sequence[DurableEvent]],
    ) -> None:
        self._policy = policy
        self._kinds: Classifier = build_classifier(policy)
        self._files = files.only(_write_nothing, ReadScope(self._kinds, {root.path: "" for root in self._kinds.roots}))
        self._blobs = blobs
        self._redact = redact
        self._events = events

    async def lines(self, path: str, first: int = 1, last: int = 0) -> FileLines:
        """Return lines of a file, to the end without `last`, as many as one answer holds. Raises UsageError."""
        place = self._admit(path)
        try:
            info = await self._files.info(Path(place))
            if info is None:
                raise UsageError(f"{path} does not exist.", "It may have been moved or deleted.")
            if info.is_dir:
                raise UsageError(f"{path} is a folder.", "Open one of its files.")
            if not info.is_file:
                raise UsageError(f"{path} is a special file (a pipe, socket or device).", "It has no text to show.")
            if info.size > LARGEST:
                raise UsageError(f"{path} is too large to show: {info.size:,} bytes.", _IN_EDITOR)
            begin, end = _clamp_range(first, last)
            found = await self._files.read_lines(Path(place), max(1, begin - MARGIN), end, 2 * MOST_BYTES)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.", _IN_EDITOR) from error
        if not found.encoding and info.size <= LARGEST_WIDE:
            return await self._lines_of_wide(path, place, (begin, end))
        if not found.encoding:
            raise UsageError(f"{path} is a binary file of {info.size:,} bytes.", _IN_EDITOR)
        text = found.data.decode(found.encoding, "replace").replace("\r\n", "\n")
        return self._make_lines(
            place, lines_of(text), found.first, min(begin, max(1, found.total)), found.total, info.size
        )

    async def _lines_of_wide(self, path: str, place: str, of: tuple[int, int]) -> FileLines:
        """Return lines of a file that may be UTF-16, which is read whole."""
        data = await self._files.read(Path(place), LARGEST_WIDE)
        try:
            lines = lines_of(decode_text(data, self._files.declared_encoding(Path(place))).view)
        except EditError:
            raise UsageError(f"{path} is a binary file of {len(data):,} bytes.", _IN_EDITOR) from None
        start = max(1, of[0] - MARGIN)
        return self._make_lines(place, lines[start - 1 : of[1]], start, of[0], len(lines), len(data))

    async def of_edit(self, call: str, path: str, first: int = 1, last: int = 0) -> FileLines:
        """Return lines of a file as a call's edit left it; as it is now if that edit still waits. Raises UsageError."""
        changes = [one for one in self._events() if isinstance(one, FileChanged) and one.cause == call]
        change = next((one for one in changes if self._is_same(one.path, path)), None)
        if change is None or (ref := change.after or change.before) is None:
            return await self.lines(path, first, last)
        place = self._admit(path)
        try:
            data = self._blobs.get(ref)
            lines = lines_of(decode_text(data, self._files.declared_encoding(Path(place))).view)
        except KeyError:
            raise UsageError("This version of the file is no longer stored.", "Open the file as it is now.") from None
        except EditError as error:
            raise UsageError(error.text, _IN_EDITOR) from error
        begin, end = _clamp_range(first, last)
        start = max(1, begin - MARGIN)
        return self._make_lines(place, lines[start - 1 : end], start, begin, len(lines), len(data))

    async def find(self, names: Sequence[str]) -> list[FoundFile]:
        """Return those of the names that are files or folders which may be shown."""
        found = [await self._find_one(name) for name in names]
        return [one for one in found if one]

    async def list_folder(self, path: str) -> FolderEntries:
        """List a folder of the task: folders first. Raises UsageError."""
        place = self._admit(path or self._kinds.workspace)
        try:
            entries = [FolderEntry(*one) for one in await self._files.list(Path(place)) if one[0] != ".git"]
        except OSError as error:
            raise UsageError(f"{path} cannot be listed: {error.strerror or error}.", "") from error
        entries.sort(key=lambda one: (not one.is_folder, one.name.lower()))
        return FolderEntries(place, tuple(entries[:MOST_ENTRIES]), max(0, len(entries) - MOST_ENTRIES))

    async def _find_one(self, name: str) -> FoundFile | None:
        for root in self._kinds.roots:
            try:
                place = self._admit(name if root.path == self._kinds.workspace else f"{root.path}/{name}")
                info = await self._files.info(Path(place))
            except (UsageError, OSError, ValueError):
                continue
            if info and (info.is_file or info.is_dir):
                return FoundFile(name, place, info.is_dir)
        return None

    def _admit(self, path: str) -> str:
        """Return the resolved place of a path that may be shown. Raises UsageError."""
        if "\0" in path:
            raise UsageError("This path is not valid.", "")
        decision = decide_call(Summary(f"Read {path}", ToolKind.READ, (path,), tool="read_file"), replace(self._policy))
        place = decision.places[0]
        if decision.rule == "ignored":
            raise UsageError(f"{path} is hidden by an ignore file.", "")
        if decision.verdict is Verdict.DENY:
            raise UsageError(f"{path} is not shown: {decision.reason} (rule {decision.rule}).", "")
        if self._kinds.root_of(place) is None:
            raise UsageError(f"{path} is outside the task's folders.", _IN_EDITOR)
        if self._kinds.guarded_kind(place) is Place.SECRET:
            raise UsageError(f"{path} may hold secrets, so it is not shown.", _IN_EDITOR)
        return place

    def _is_same(self, one: str, other: str) -> bool:
        root = Path(self._kinds.workspace)
        return root / one == root / other

    def _make_lines(self, place: str, lines: Sequence[str], start: int, begin: int, total: int, size: int) -> FileLines:
        """Redact the lines from number `start` on, and return those from `begin` on that fit."""
        clean = _redact_lines(lines, self._redact)
        taken: list[str] = []
        room = MOST_BYTES
        for line in clean[begin - start :]:
            short = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line):,} characters)"
            room -= len(short)
            if room < 0 and taken:
                break
            taken.append(short)
        end = begin - start + len(taken)
        is_redacted = clean[begin - start : end] != list(lines[begin - start : end])
        name = self._kinds.named_in_root(place)
        return FileLines(place, name, begin, tuple(taken), total, size, redacted=is_redacted)


def open_reader(
    state: State, assembly: Assembly, files: Files, events: Callable[[], Sequence[DurableEvent]]
) -> FileReader:
    """Return the files of a task with this state, by the rules in force now."""
    book = assembly.rule_files(Path(state.workspace), state.roots).book()
    known = replace(state, permissions=replace(state.permissions, rules=book))
    redact = assembly.secrets.redact_for_others
    return FileReader(make_policy_context(known, assembly.home.root), files, assembly.blobs, redact, events)


def _write_nothing(path: str) -> bool:
    return False


def _clamp_range(first: int, last: int) -> tuple[int, int]:
    begin = max(1, first)
    end = begin + MOST_LINES - 1
    return begin, min(last, end) if last > 0 else end


def _redact_lines(lines: Sequence[str], redact: Callable[[str], str]) -> list[str]:
    """Redact a text so that each line keeps its number: a key of several lines leaves empty ones."""
    redacted = redact("\n".join(lines)).split("\n") if lines else []
    if len(redacted) == len(lines):
        return redacted
    kept: list[str] = []
    for kind, old, old_end, new, new_end in SequenceMatcher(None, lines, redacted, autojunk=False).get_opcodes():
        kept += redacted[new:new_end] if kind == "equal" or new_end > new else []
        kept += [""] * (old_end - old - (new_end - new))
    return kept[: len(lines)]
