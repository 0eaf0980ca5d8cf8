"""Reads permission rules, permanent grants (`grants`), and a workspace's ignore files.

What must stay true: a file that cannot be read, or whose own examples fail, allows nothing: it becomes a problem of the
book, and while there is one the gate asks. Files are reloaded when they change.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.policy.mcp import pattern_of
from halocline.policy.paths import IGNORE_FILES
from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import CommandPermissions, OtherRoot, Rule, RuleBook, Source, Verdict
from halocline.protocol.values import Value
from halocline.store.paths import PROJECT_RULES

MANAGED = Path("/etc/halocline/policy.toml")
"""The administrator's rules, which the user's own cannot override. Only root may have write access to the file."""
LARGEST = 1_000_000
_MOST_INCLUDES = 20
_INCLUDE = "!include "

Stamps = tuple[tuple[int, int, int] | None, ...]


class RuleFile(Value, frozen=True):
    """A file of rules: its tables `[[rule]]`, and restrictions for all commands."""

    rule: tuple[dict[str, Any], ...] = ()
    command_permissions: CommandPermissions | None = None


class Unreadable(Exception):
    """A file that cannot be used; the text says which and why."""


class RuleFiles:
    """`ports.permissions.Permissions` for one workspace. `extra` are rules from settings.

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
        extra: Sequence[Rule] = (),
        roots: Sequence[str] = (),
        managed: Path = MANAGED,
    ) -> None:
        self._sources = (
            (managed, Source.MANAGED),
            (user, Source.USER),
            (workspace / PROJECT_RULES, Source.PROJECT),
            (grants, Source.GRANT),
        )
        self._grants = grants
        self._workspace = workspace
        self._trusted = trusted
        self._extra = tuple(extra)
        self._roots = tuple(map(Path, roots))
        ignores = (folder / name for folder in (workspace, *self._roots) for name in IGNORE_FILES)
        others = (root / PROJECT_RULES for root in self._roots)
        self._places = tuple(map(str, (*(path for path, _ in self._sources), *others, *ignores)))
        self._included: tuple[Path, ...] = ()
        self._read: tuple[Stamps, bool, RuleBook] | None = None

    def book(self) -> RuleBook:
        """Return the rules in force."""
        trusted = os.path.exists(self._workspace / PROJECT_RULES) and self._trusted()
        stamps = self._stamps()
        if self._read is None or self._read[:2] != (stamps, trusted):
            book = self._assemble_book(trusted)
            self._read = (self._stamps(), trusted, book)
        return self._read[2]

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Save a grant for one folder or for all. Raises OSError, also if the file cannot be read."""
        from halocline.store.permissions.grants import keep_grant  # most tasks save none

        keep_grant(self._grants, rule_for(grant, workspace), by)

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """True if the grant is still saved, or if that is unknown."""
        book, rule = self.book(), rule_for(grant, workspace)
        return bool(book.problems) or any(bare_rule(one) == rule for one in book.rules)

    def _assemble_book(self, trusted: bool) -> RuleBook:
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
        return RuleBook((*rules, *self._extra), ignored, tuple(problems), tuple(permissions), tuple(others))

    def _read_ignored(self, folder: Path, problems: list[str]) -> tuple[str, ...]:
        try:
            included, lines = read_ignored(folder)
        except Unreadable as error:
            problems.append(str(error))
            return ()
        self._included += included
        return lines

    def _stamps(self) -> Stamps:
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
    return f"{_literal_pattern(str(root))}/{below}"


def read_rules(path: Path, source: Source) -> list[Rule]:
    """Read the rules of a file; none if it does not exist. Raises Unreadable."""
    return read_file(path, source)[0]


def read_file(path: Path, source: Source) -> tuple[list[Rule], CommandPermissions | None]:
    """Read a file's rules and its restrictions for all commands; nothing if it does not exist. Raises Unreadable."""
    text = _read_text(path)
    if text is None:
        return [], None
    if source is Source.MANAGED and not _is_roots(path):
        raise Unreadable(f"Users other than root can write to {path}, so its rules are not used.")
    given = _decode_file(path, text)
    return [
        _decode_rule(path, source, at, table) for at, table in enumerate(given.rule, start=1)
    ], given.command_permissions


def rule_for(grant: Grant, workspace: Path | None) -> Rule:
    """Return the rule for a grant."""
    rule = Rule(
        Verdict.ALLOW,
        kinds=(grant.kind,) if not grant.mcp else (),
        argv=grant.argv,
        scripts=grant.scripts,
        mcp=pattern_of(grant) if grant.mcp else (),
        workspace=str(workspace) if workspace else "",
        source=Source.GRANT,
    )
    if grant.argv or grant.mcp or not grant.subject:
        return rule
    match grant.kind.value:
        case "execute":
            return replace(rule, command=grant.subject)
        case "fetch":
            return replace(rule, hosts=(grant.subject,))
        case _:
            return replace(rule, paths=(_literal_pattern(grant.subject),))


def bare_rule(rule: Rule) -> Rule:
    """Return a rule without its texts for people."""
    return replace(rule, name="", reason="")


def read_ignored(workspace: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files that the workspace's ignore files include, and the lines of all files. Raises Unreadable."""
    included: list[Path] = []
    lines = [line for name in IGNORE_FILES for line in _read_lines(workspace / name, workspace, included)]
    return tuple(included), tuple(lines)


def _read_lines(path: Path, workspace: Path, included: list[Path]) -> Iterator[str]:
    for line in (_read_text(path) or "").splitlines():
        if not line.startswith(_INCLUDE):
            if line.strip() and not line.startswith("#"):
                yield line
            continue
        other = Path(os.path.realpath(path.parent / line.removeprefix(_INCLUDE).strip()))
        if not other.is_relative_to(os.path.realpath(workspace)):
            raise Unreadable(f"{path} includes {other}, which is outside the workspace.")
        if other in included:
            continue
        if len(included) == _MOST_INCLUDES:
            raise Unreadable(f"{path} includes more than {_MOST_INCLUDES} files.")
        included.append(other)
        yield from _read_lines(other, workspace, included)


def _read_text(path: Path) -> str | None:
    try:
        return read_regular(path, LARGEST).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"Cannot read {path}: {error}.") from error


def _decode_file(path: Path, text: str) -> RuleFile:
    import tomllib

    try:
        given = tomllib.loads(text)
        if unknown := given.keys() - set(RuleFile.__struct_fields__):
            raise Unreadable(
                f"{path} has an unknown key {sorted(unknown)[0]!r}; allowed are [[rule]] and [command_permissions]."
            )
        return msgspec.convert(given, RuleFile)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise Unreadable(f"Cannot read {path}: {error}.") from error


def _decode_rule(path: Path, source: Source, at: int, table: dict[str, Any]) -> Rule:
    """Decode one table. Besides the fields of a rule, it may have `matches`, `not_matches` and a date `expires`."""
    from datetime import UTC, date, datetime

    from halocline.policy.examples import failing_example

    given = dict(table)
    examples = {key: given.pop(key, ()) for key in ("matches", "not_matches")}
    expires = given.pop("expires", None)
    if unknown := given.keys() - set(Rule.__struct_fields__) | given.keys() & {"source"}:
        raise Unreadable(f"Rule {at} of {path} has an unknown key {sorted(unknown)[0]!r}.")
    try:
        rule = msgspec.convert({"name": f"{source}-{at}", **given, "source": source}, Rule)
        wanted = msgspec.convert(examples, dict[str, tuple[str, ...]])
        until = msgspec.convert(expires, date | None)
    except msgspec.ValidationError as error:
        raise Unreadable(f"Rule {at} of {path} is invalid: {error}.") from error
    if example := failing_example(rule, wanted["matches"], wanted["not_matches"]):
        raise Unreadable(f"Rule {at} of {path} contradicts its examples: {example}.")
    if until and until < datetime.now(UTC).date():
        # It matches nothing, and the other rules keep their numbers.
        return replace(rule, decision=Verdict.ASK, workspace="/dev/null/expired")
    return rule


def _is_roots(path: Path) -> bool:
    found = path.stat()
    return found.st_uid == 0 and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _file_stamp(path: str | Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _literal_pattern(path: str) -> str:
    """Escape a path as a pattern that matches only itself."""
    return "".join(f"\\{char}" if char in "\\*?[]! #" else char for char in path)
