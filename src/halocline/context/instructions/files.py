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
from halocline.context.file_walk import find_files
from halocline.context.instructions.front_matter import Rule, When, rule_in
from halocline.context.instructions.imports import DEEPEST, MOST, find_target, holds_secrets, may_bring, named_in
from halocline.context.instructions.named_files import BARRED, NamedFile, Unreadable, named_files
from halocline.context.instructions.places import OTHER_THINGS, Roots, present_rows
from halocline.context.text_files import NotText, load_text
from halocline.files.regular import NotRegular
from halocline.policy.paths import is_hidden
from halocline.protocol.config_locations import NESTED_ROWS, RULE_ROWS, Dialect, Owner, Row
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value

MOST_FILES = 200
TOO_MANY = f"it and the files after it exceed the limit of {MOST_FILES}"
LARGEST = 4 * RULE
"""Maximum bytes read from a file."""
STANDS_FOR = {os.path.basename(row.path): row.stands_for for row in RULE_ROWS if row.stands_for}
"""Names of files that replace the one beside them."""

Stamp = tuple[int, int, int] | None
Stamps = tuple[tuple[str, Stamp], ...]


class RuleFile(Value, frozen=True):
    """A rules file: its path, display name and content. `inert` says why it does not apply.

    `folder` is the folder it covers, if not the whole project; `named_by` the settings that name it, if any;
    `program` the one that its place is from.
    `stamps` show whether it changed.
    """

    path: str
    shown: str
    owner: Owner
    rule: Rule = Rule("")
    inert: str = ""
    folder: str = ""
    named_by: str = ""
    program: str = ""
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
        self._known: dict[tuple[str, Dialect], RuleFile] = {}

    def all(self) -> tuple[RuleFile, ...]:
        """Return the files in the configured places, in the order in which the model reads them."""
        places = list(present_rows(self.roots))
        self._refresh()
        return self._without_duplicates(self._read_places(places)) if places else ()

    def nested(self, folders: Iterable[str]) -> tuple[RuleFile, ...]:
        """Return the files that cover only these folders, given relative to the project."""
        self._refresh()
        found = [
            replace(
                self._load_file(path, "project", row.dialect, imports=row.imports, folder=folder), program=row.program
            )
            for folder in folders
            for row in NESTED_ROWS
            for path in islice(files_of_row(row, self.roots.workspace / folder / row.path), MOST_FILES)
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
            try:
                paths = self._paths_of_row(row, place)
            except Unreadable as why:
                text, inert = f"the file is not read, because {why}", f"it cannot be read ({why})"
                yield RuleFile(str(place), self._display_path(place), row.owner, inert=inert, remarks=(text,))
                continue
            for path in paths:
                if (count := count + 1) > MOST_FILES:
                    yield RuleFile(os.fspath(path), self._display_path(path), row.owner, inert=TOO_MANY)
                    return
                if isinstance(path, Path):
                    file = self._load_file(path, row.owner, row.dialect, imports=row.imports)
                    yield replace(file, program=row.program)
                else:
                    yield self._load_named(path, row, place)

    def _paths_of_row(self, row: Row, place: Path) -> Iterable[Path | NamedFile]:
        """Return the files of a row. Raises Unreadable."""
        return files_of_row(row, place) if row.holds == "rules" else named_files(row.dialect, place, self.roots)

    def _load_named(self, named: NamedFile, row: Row, settings: Path) -> RuleFile:
        """Load a file that settings name. One in the project is the project's, no matter who names it."""
        path, name = Path(named), self._display_path(settings)
        inside = os.path.realpath(path).startswith(f"{os.path.realpath(self.roots.project)}/")
        owner: Owner = "project" if inside and not named.why else row.owner
        if why := named.why or ("" if may_bring(path, owner, self.roots, self._ignored_lines) else BARRED):
            inert = f"{name} names it, but {why}"
            return RuleFile(named.path, self.roots.shown(named.path), owner, inert=inert, named_by=name)
        imports = any(one.imports and self.roots.path(one) == path for one in RULE_ROWS)
        return replace(self._load_file(path, owner, "plain", imports=imports), named_by=name, program=row.program)

    def _without_duplicates(self, files: Iterable[RuleFile]) -> tuple[RuleFile, ...]:
        """Mark files that another one replaces or repeats as inert."""
        seen: dict[str, str] = {}
        unique: list[RuleFile] = []
        listed: dict[tuple[str, str], RuleFile] = {}
        for file in files:  # settings may name what a location has
            listed.setdefault((file.path, file.digest or file.inert), file)
        files = listed.values()
        replaced = {
            os.path.join(folder, STANDS_FOR[name]): file.shown
            for file in files
            for folder, name in [os.path.split(file.path)]
            if name in STANDS_FOR and not file.inert
        }
        for file in files:
            if file.path in replaced and not file.inert:
                file = replace(file, inert=f"{replaced[file.path]} replaces it")
            same = seen.get(file.digest, "") if file.digest and not file.inert else ""
            unique.append(replace(file, inert=f"the same as {same}") if same else file)
            if not file.inert:
                seen.setdefault(file.digest, file.shown)
        return tuple(unique)

    def _load_file(self, path: Path, owner: Owner, dialect: Dialect, *, imports: bool, folder: str = "") -> RuleFile:
        bare = RuleFile(str(path), self._display_path(path), owner, folder=folder)
        if why := self._why_not(path, owner):
            return replace(bare, inert=why)
        known = self._known.get((str(path), dialect))
        if known is None or any(stamp_of(name) != stamp for name, stamp in known.stamps):
            known = self._known[str(path), dialect] = self._read_rule(bare, dialect, imports=imports)
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
            text = load_text(bare.path, LARGEST).text
        except NotText as error:
            return replace(bare, inert=str(error), stamps=tuple(stamps.items()))
        except OSError as error:
            remarks = (f"the file is not read, because {error}",) if isinstance(error, NotRegular) else ()
            inert = f"it cannot be read ({error.strerror})"
            return replace(bare, inert=inert, remarks=remarks, stamps=tuple(stamps.items()))
        rule = rule_in(text, dialect, os.path.basename(bare.path))
        found = [rule.remark] if rule.remark else []
        body = rule.text.strip()
        if imports:
            body += self._read_imports(Path(bare.path), body, bare.owner, stamps, found)
        size = os.path.getsize(bare.path)
        if len(body) > RULE or size > LARGEST:
            found.append(f"only its first {RULE:,} characters are used")
            body = f"{body[:RULE]}\n[The rest of {bare.shown} is omitted; see it with read_file.]"
        rule = _within_folder(rule, bare.folder)
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
                brought = load_text(real, LARGEST).text.strip()
            except OSError:
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

    def _display_path(self, path: os.PathLike[str]) -> str:
        return self.roots.shown(os.path.normpath(path))


def stamp_of(path: str) -> Stamp:
    """Return a stamp that changes when the file does; None if it does not exist."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _within_folder(rule: Rule, folder: str) -> Rule:
    """Make the patterns of a folder's own rule relative to the project."""
    if not folder:
        return rule
    return replace(
        rule,
        globs=tuple(f"!{folder}/{glob[1:]}" if glob.startswith("!") else f"{folder}/{glob}" for glob in rule.globs),
    )


def _is_excluded(excluded: tuple[str, ...], path: Path, shown: str) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(shown, name) or fnmatchcase(path.name, name) for name in excluded)


def _is_hidden(ignored: tuple[str, ...], path: str) -> bool:
    return bool(ignored) and is_hidden(ignored, path)


def files_of_row(row: Row, place: Path) -> Iterator[Path]:
    """Yield the files of a row: the place itself, or all below it by name."""
    if row.endings and place.is_dir():
        yield from find_files(place, row.endings, but=OTHER_THINGS)
    elif place.exists():
        yield place
