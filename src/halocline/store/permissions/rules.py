"""Reads files of permission rules, and makes the rules of grants.

What must stay true: a file that cannot be read, or whose own examples fail, is refused as a whole.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline import policy
from halocline.files.regular import read_regular
from halocline.files.root_owned import Unusable, find_managed_file
from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import CommandPermissions, Rule, Source, Verdict
from halocline.protocol.values import Value
from halocline.store import settings

LARGEST = 1_000_000


class RuleFile(Value, frozen=True):
    """A file of rules: its tables `[[rule]]`, and restrictions for all commands."""

    rule: tuple[dict[str, Any], ...] = ()
    command_permissions: CommandPermissions | None = None


class Unreadable(Exception):
    """A file that cannot be used; the text says which and why."""


def read_rules(path: Path, source: Source) -> list[Rule]:
    """Read the rules of a file; none if it does not exist. Raises Unreadable."""
    return read_file(path, source)[0]


def read_file(path: Path, source: Source) -> tuple[list[Rule], CommandPermissions | None]:
    """Read a file's rules and its restrictions for all commands; nothing if it does not exist. Raises Unreadable."""
    if source is Source.MANAGED and not _is_managed(path):
        return [], None
    text = read_text(path)
    if text is None:
        return [], None
    given = _decode_file(path, text)
    return [
        _decode_rule(path, source, at, table) for at, table in enumerate(given.rule, start=1)
    ], given.command_permissions


def _is_managed(path: Path) -> bool:
    try:
        return find_managed_file(path)
    except Unusable as error:
        raise Unreadable(str(error)) from error


def rule_for(grant: Grant, workspace: Path | None) -> Rule:
    """Return the rule for a grant."""
    server, _, tool = grant.mcp.rpartition("/")
    rule = Rule(
        Verdict.ALLOW,
        kinds=(grant.kind,) if not grant.mcp else (),
        argv=grant.argv,
        scripts=grant.scripts,
        mcp=f"{policy.mcp.literal_pattern(server)}/{tool}" if grant.mcp else (),
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
            return replace(rule, paths=(literal_pattern(grant.subject),))


def bare_rule(rule: Rule) -> Rule:
    """Return a rule without its texts for people."""
    return replace(rule, name="", reason="")


def read_text(path: Path) -> str | None:
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

    from halocline.store.permissions.examples import failing_example

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
        where, problem, values = settings.invalid.describe_invalid(error, given, Rule)
        text = f"{f'{where} {problem}'.strip()}. {values}".rstrip(" .")
        raise Unreadable(f"Rule {at} of {path} is invalid: {text}.") from error
    if source is not Source.GRANT and (fault := _find_dead(rule)):
        raise Unreadable(f"Rule {at} of {path} can never match: {fault}.")
    if example := failing_example(rule, wanted["matches"], wanted["not_matches"]):
        raise Unreadable(f"Rule {at} of {path} contradicts its examples: {example}.")
    if until and until < datetime.now(UTC).date():
        # It matches nothing, and the other rules keep their numbers.
        return replace(rule, decision=Verdict.ASK, workspace="/dev/null/expired")
    return rule


def _find_dead(rule: Rule) -> str:
    """Say which condition of a rule nothing can meet; empty if there is none."""
    first = rule.argv[0] if rule.argv else ()
    programs = (first,) if isinstance(first, str) else first
    if name := next((name for name in programs if " " in name and "/" not in name), ""):
        words = msgspec.json.format(msgspec.json.encode(name.split()), indent=0).decode()
        return f"no program is called {name!r}; argv takes one word each: {words}"
    if host := next((host for host in rule.hosts if "/" in host), ""):
        name = (host.partition("://")[2] or host).partition("/")[0]
        return f'hosts takes names of servers, so {host!r} is written "{name}"'
    return ""


def literal_pattern(path: str) -> str:
    """Escape a path as a pattern that matches only itself."""
    return "".join(f"\\{char}" if char in "\\*?[]! #" else char for char in path)
