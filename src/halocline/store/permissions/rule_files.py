"""The rules of one workspace: rule files, permanent grants and ignore files, reloaded when they change.

What must stay true: a file that cannot be read allows nothing: it becomes a problem of the book, and while there is one
the gate asks. While the administrator's cannot be read, everything is refused: it may have forbidden anything.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.files.absence import Absence
from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import (
    IGNORE_FILES,
    CommandPermissions,
    OtherRoot,
    Rule,
    RuleBook,
    Source,
    Verdict,
)
from halocline.store.paths import MANAGED, PROJECT_RULES
from halocline.store.permissions.ignore_files import read_ignored
from halocline.store.permissions.rules import Unreadable, bare_rule, literal_pattern, read_file, rule_for

UNREADABLE = "managed-unreadable"
"""The name of the rule that stands for all that an administrator's file may have said."""
Stamps = tuple[tuple[int, int, int] | None, ...]


class RuleFiles:
    """`ports.permissions.Permissions` for one workspace. `extra` returns what the settings say.

    `trusted` returns true if the project's own rules may allow things; they may always forbid. `roots` are the task's
    additional folders, whose rules may only forbid.
    """

    def __init__(
        self,
        user: Path,
        grants: Path,
        workspace: Path,
        *,
        trusted: Callable[[], bool] = lambda: False,
        extra: Callable[[], RuleBook] = RuleBook,
        roots: Sequence[str] = (),
        managed: Path = MANAGED / "policy.toml",
    ) -> None:
        self._sources = (
            (managed, Source.MANAGED),
            (user, Source.USER),
            (workspace / PROJECT_RULES, Source.PROJECT),
            (grants, Source.GRANT),
        )
        self._grants = grants
        self._workspace = workspace
        self._project = os.fspath(workspace / PROJECT_RULES)
        self._trusted = trusted
        self._extra = extra
        self._roots = tuple(map(Path, roots))
        ignores = (folder / name for folder in (workspace, *self._roots) for name in IGNORE_FILES)
        others = (root / PROJECT_RULES for root in self._roots)
        self._places = tuple(map(str, (*(path for path, _ in self._sources), *others, *ignores)))
        self._nothing = Absence(self._places)
        self._included: tuple[Path, ...] = ()
        self._read: tuple[tuple[Stamps, bool, RuleBook], RuleBook] | None = None

    def book(self) -> RuleBook:
        """Return the rules in force."""
        stamps, extra = self._stamps(), self._extra()
        trusted = bool(stamps) and os.path.exists(self._project) and self._trusted()
        if self._read is None or self._read[0] != (stamps, trusted, extra):
            book = self._assemble_book(trusted, extra)
            self._read = ((self._stamps() if self._included else stamps, trusted, extra), book)
        return self._read[1]

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Save a grant for one folder or for all. Raises OSError, also if the file cannot be read."""
        from halocline.store.permissions.grants import keep_grant  # most tasks save none

        keep_grant(self._grants, rule_for(grant, workspace), by)

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """True if the grant is still saved, or if that is unknown."""
        book, rule = self.book(), rule_for(grant, workspace)
        return bool(book.problems) or any(bare_rule(one) == rule for one in book.rules)

    def _assemble_book(self, trusted: bool, extra: RuleBook) -> RuleBook:
        rules: list[Rule] = []
        permissions: list[tuple[Source, CommandPermissions]] = []
        problems: list[str] = []
        for path, source in self._sources:
            try:
                found, bounds = read_file(path, source)
                rules += found
                permissions += [(source, bounds)] if bounds else []
            except Unreadable as error:
                problems.append(str(error))
                if source is Source.MANAGED:
                    rules.append(Rule(Verdict.DENY, UNREADABLE, str(error), source=source))
        if not trusted:
            rules = [rule for rule in rules if not (rule.source is Source.PROJECT and rule.decision is Verdict.ALLOW)]
        self._included = ()
        ignored = self._read_ignored(self._workspace, problems)
        others: list[OtherRoot] = []
        for root in self._roots:
            forbidden, bounded = _strict_rules(root, problems)
            rules += forbidden
            permissions += bounded
            if lines := self._read_ignored(root, problems):
                others.append(OtherRoot(str(root), lines))
        return replace(
            extra,
            rules=(*rules, *extra.rules),
            ignored=ignored,
            problems=tuple(problems),
            permissions=tuple(permissions),
            roots=tuple(others),
        )

    def _read_ignored(self, folder: Path, problems: list[str]) -> tuple[str, ...]:
        try:
            included, lines = read_ignored(folder)
        except Unreadable as error:
            problems.append(str(error))
            return ()
        self._included += included
        return lines

    def _stamps(self) -> Stamps:
        """Return the stamps of all files; nothing if there are none, which is so in most workspaces."""
        if self._nothing.lasts():
            return ()
        return (*map(_file_stamp, self._places), *map(_file_stamp, self._included))


def _strict_rules(root: Path, problems: list[str]) -> tuple[list[Rule], list[tuple[Source, CommandPermissions]]]:
    """Read the rules of an additional folder that forbid or ask; their paths are relative to that folder."""
    try:
        rules, bounds = read_file(root / PROJECT_RULES, Source.PROJECT)
    except Unreadable as error:
        problems.append(str(error))
        return [], []
    kept = [
        replace(rule, name=f"{root.name}:{rule.name}", paths=tuple(_seen_from(root, path) for path in rule.paths))
        for rule in rules
        if rule.decision is not Verdict.ALLOW
    ]
    return kept, [(Source.PROJECT, bounds)] if bounds else []


def _seen_from(root: Path, pattern: str) -> str:
    if pattern.startswith(("/", "~/")):
        return pattern
    below = pattern if "/" in pattern.rstrip("/") else f"**/{pattern}"
    return f"{literal_pattern(str(root))}/{below}"


def _file_stamp(path: str | Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns, found.st_size
