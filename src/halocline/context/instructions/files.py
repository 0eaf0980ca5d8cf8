"""Finds and reads rules files: follows links and imports, and bounds what is read.

What must stay true: a project's file does not lead out of the project, the same text is sent once, a loop of links
ends, and every file left out has a reason.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from halocline.context.budget import RULE
from halocline.context.instructions.front_matter import Rule, When, rule_in
from halocline.context.instructions.imports import DEEPEST, MOST, find_target, holds_secrets, may_bring, named_in
from halocline.context.instructions.places import OTHER_THINGS, Roots, present_rows
from halocline.edits.text import BinaryContent, decode_text, to_lf
from halocline.files.regular import NotRegular, read_beginning
from halocline.policy.paths import is_hidden
from halocline.protocol.config_locations import NESTED, Dialect, Owner, Row
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value

MOST_FILES = 200
MOST_FOLDERS = 500
MOST_ENTRIES = 2_000
"""Entries read in one folder; a project may be hostile."""
TOO_MANY = f"it and the files after it exceed the limit of {MOST_FILES}"
LARGEST = 4 * RULE
"""Maximum bytes read from a file."""

Stamp = tuple[int, int, int] | None
Stamps = tuple[tuple[str, Stamp], ...]


class RuleFile(Value, frozen=True):
    """A rules file: its path, display name and content. `inert` says why it does not apply.

    `folder` is the folder it covers, if not the whole project. `stamps` show whether it changed.
    """

    path: str
    shown: str
    owner: Owner
    rule: Rule = Rule("")
    inert: str = ""
    folder: str = ""
    digest: str = ""
    remarks: tuple[str, ...] = ()
    stamps: Stamps = ()


class Reader:
    """Finds and reads rules files; unchanged ones are not read again.

    `ignored` returns the lines of the workspace's ignore files, `off` the files that the user turned off (with links
    resolved); `excluded` are names and patterns of files that never apply.
    """

    def __init__(
        self,
        roots: Roots,
        ignored: Callable[[], tuple[str, ...]] = lambda: (),
        off: Callable[[], frozenset[str]] = frozenset,
        excluded: tuple[str, ...] = (),
    ) -> None:
        self.roots = roots
        self._ignored = ignored
        self._off = off
        self._excluded = excluded
        self._lines: tuple[str, ...] | None = None
        self._switched_off: frozenset[str] = frozenset()
        self._known: dict[str, RuleFile] = {}

    def all(self) -> tuple[RuleFile, ...]:
        """Return the files in the configured places, in the order in which the model reads them."""
        places = list(present_rows(self.roots))
        self._refresh()
        return self._without_duplicates(self._read_places(places)) if places else ()

    def nested(self, folders: Iterable[str]) -> tuple[RuleFile, ...]:
        """Return the files that cover only these folders, given relative to the project."""
        self._refresh()
        found = [
            self._load_file(self.roots.workspace / folder / name, "project", "plain", imports=True, folder=folder)
            for folder in folders
            for name in NESTED
            if os.path.exists(self.roots.workspace / folder / name)
        ]
        return self._without_duplicates(found)

    def _refresh(self) -> None:
        """Refresh what applies to all files: ignore lines and files turned off."""
        self._lines = None
        try:
            self._switched_off = self._off()
        except SettingsError:
            if not self._known:
                raise  # at the start of a task the user can fix it; later the last known list applies

    @property
    def _ignored_lines(self) -> tuple[str, ...]:
        if self._lines is None:
            self._lines = self._ignored()
        return self._lines

    def _read_places(self, places: Iterable[tuple[Row, Path]]) -> Iterator[RuleFile]:
        count = 0
        for row, place in places:
            for path in _files_of_row(row, place):
                count += 1
                if count > MOST_FILES:
                    yield RuleFile(str(path), self._display_path(path), row.owner, inert=TOO_MANY)
                    return
                yield self._load_file(path, row.owner, row.dialect, imports=row.imports)

    def _without_duplicates(self, files: Iterable[RuleFile]) -> tuple[RuleFile, ...]:
        seen: dict[str, str] = {}
        unique: list[RuleFile] = []
        for file in files:
            same = seen.get(file.digest, "") if file.digest and not file.inert else ""
            unique.append(replace(file, inert=f"the same as {same}") if same else file)
            if not file.inert:
                seen.setdefault(file.digest, file.shown)
        return tuple(unique)

    def _load_file(self, path: Path, owner: Owner, dialect: Dialect, *, imports: bool, folder: str = "") -> RuleFile:
        bare = RuleFile(str(path), self._display_path(path), owner, folder=folder)
        if why := self._why_not(path, owner):
            return replace(bare, inert=why)
        known = self._known.get(str(path))
        if known is None or any(stamp_of(name) != stamp for name, stamp in known.stamps):
            known = self._known[str(path)] = self._read_rule(bare, dialect, imports=imports)
        return known

    def _why_not(self, path: Path, owner: Owner) -> str:
        if _is_excluded(self._excluded, path, self._display_path(path)):
            return "excluded by the setting rules_excluded"
        if owner != "managed" and os.path.realpath(path) in self._switched_off:
            return "switched off"
        if owner != "project":
            return ""
        real, inside = os.path.realpath(path), os.path.realpath(self.roots.project)
        if not real.startswith(f"{inside}/"):
            return "it is a link that leads out of the project"
        if holds_secrets(real, self.roots):
            return "it is a link to a file that may hold secrets"
        workspace = os.path.realpath(self.roots.workspace)
        names = (os.path.relpath(path, self.roots.workspace), os.path.relpath(real, workspace))
        hidden = any(_is_hidden(self._ignored_lines, name) for name in names if not name.startswith("../"))
        return "it is hidden by an ignore file" if hidden else ""

    def _read_rule(self, bare: RuleFile, dialect: Dialect, *, imports: bool) -> RuleFile:
        stamps = {bare.path: stamp_of(bare.path)}
        try:
            text = read_text(bare.path)
        except OSError as error:
            remarks = (f"the file is not read, because {error}",) if isinstance(error, NotRegular) else ()
            inert = f"it cannot be read ({error.strerror})"
            return replace(bare, inert=inert, remarks=remarks, stamps=tuple(stamps.items()))
        except BinaryContent:
            return replace(bare, inert="it is not a text file", stamps=tuple(stamps.items()))
        rule = rule_in(text, dialect, os.path.basename(bare.path))
        found = [rule.remark] if rule.remark else []
        body = rule.text.strip()
        if imports:
            body += self._read_imports(Path(bare.path), body, bare.owner, stamps, found)
        size = os.path.getsize(bare.path)
        if len(body) > RULE or size > LARGEST:
            found.append(f"only its first {RULE:,} characters are used")
            body = f"{body[:RULE]}\n[The rest of {bare.shown} is omitted; see it with read_file.]"
        inert = "" if body or rule.when is When.OFFERED else "it is empty"
        digest = hashlib.sha256(f"{rule.when}{rule.globs}{bare.folder}\0{body}".encode(errors="replace")).hexdigest()
        return replace(
            bare,
            rule=replace(rule, text=body),
            inert=inert,
            digest=digest[:16],
            remarks=tuple(found),
            stamps=tuple(stamps.items()),
        )

    def _read_imports(self, file: Path, text: str, owner: Owner, stamps: dict[str, Stamp], remarks: list[str]) -> str:
        """Return the texts of imported files, and of their imports, each under its name."""
        parts: list[str] = []
        seen = {os.path.realpath(file)}
        waiting = [(file, named, 1) for named in named_in(text)][:MOST]
        while waiting and len(seen) <= MOST:
            importer, named, depth = waiting.pop(0)
            path = find_target(named, importer, self.roots)
            real = os.path.realpath(path)
            stamp = stamp_of(real)
            if real in seen or (stamp is None and not named.endswith((".md", ".txt"))):
                continue  # most words with an @ name people or packages
            seen.add(real)
            stamps[real] = stamp
            if not may_bring(path, owner, self.roots, self._ignored_lines):
                remarks.append(f"@{named} is not imported: it is outside the project, may hold secrets or is hidden")
                continue
            try:
                brought = read_text(real).strip()
            except (OSError, BinaryContent):
                remarks.append(f"@{named} is not imported: there is no such text file")
                continue
            parts.append(f"\n\n## {self._display_path(path)} (imported by @{named})\n{brought}")
            if depth < DEEPEST:
                waiting += [(Path(real), further, depth + 1) for further in named_in(brought)][:MOST]
            elif any(named_in(brought)):
                remarks.append(
                    f"the imports of {self._display_path(path)} are omitted: more than {DEEPEST} levels deep"
                )
        return "".join(parts)

    def _display_path(self, path: Path) -> str:
        return self.roots.shown(os.path.normpath(path))


def stamp_of(path: str) -> Stamp:
    """Return a stamp that changes when the file does; None if it does not exist."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_text(path: str) -> str:
    """Read the beginning of a text file, or all of a short one. Raises OSError and BinaryContent."""
    data = read_beginning(path, LARGEST + 1)
    if len(data) > LARGEST:
        end = data.rfind(b"\n", 0, LARGEST) + 1 or LARGEST
        data = data[: end if data[:1] not in (b"\xff", b"\xfe") else LARGEST]
    return to_lf(decode_text(data).text)


def _files_of_row(row: Row, place: Path) -> Iterator[Path]:
    """Yield the files of a row: the place itself, or all below it by name; each linked folder is entered once."""
    if not (row.endings and place.is_dir()):
        if place.exists():
            yield place
        return
    seen: set[str] = set()
    waiting = [place]
    while waiting and len(seen) < MOST_FOLDERS:
        folder = waiting.pop(0)
        if (real := os.path.realpath(folder)) in seen:
            continue
        seen.add(real)
        inner: list[Path] = []
        for name, is_folder in _list_entries(folder):
            if is_folder and not (folder == place and name in OTHER_THINGS):
                inner.append(folder / name)
            elif not is_folder and name.endswith(row.endings):
                yield folder / name
        waiting[:0] = inner


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            seen = islice(entries, MOST_ENTRIES)
            return sorted((entry.name, entry.is_dir()) for entry in seen if not entry.name.startswith("."))
    except OSError:
        return []


def _is_excluded(excluded: tuple[str, ...], path: Path, shown: str) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(shown, name) or fnmatchcase(path.name, name) for name in excluded)


def _is_hidden(ignored: tuple[str, ...], path: str) -> bool:
    return bool(ignored) and is_hidden(ignored, path)
