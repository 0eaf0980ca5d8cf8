"""Command permissions: patterns over each simple command, enforced in every mode, before approval.

They come from rules files (`[command_permissions]`) and from `CLINE_COMMAND_PERMISSIONS`, which replaces those in the
user's own file; the project's and the administrator's stay in force. If the variable is not valid JSON, every command
asks and the error is shown.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from halocline.policy.mcp import matches_pattern
from halocline.policy.shell.findings import Analysis
from halocline.protocol import json_input
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import CommandPermissions, Source

VARIABLE = "CLINE_COMMAND_PERMISSIONS"
_LINE_ENDS = compile_later(r"[\n\r\u2028\u2029\u0085]")
_SINGLE_QUOTED = compile_later(r"'[^']*'")
_QUOTED = compile_later(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_MOST_NAMED = 5
Named = tuple[str, CommandPermissions]
_OWNERS = {Source.MANAGED: "the administrator's", Source.USER: "your", Source.PROJECT: "the project's"}


class Wrong(Exception):
    """The variable is not valid; the text says why."""


@cache
def read_permissions(text: str) -> CommandPermissions:
    """Parse the value of the variable. Raises Wrong."""
    try:
        return json_input.decode(text, type=CommandPermissions)
    except msgspec.DecodeError as error:
        raise Wrong(f"{VARIABLE} is not valid: {error}") from None


def in_force(variable: str | None, files: Iterable[tuple[Source, CommandPermissions]]) -> list[Named]:
    """Return the permissions that a command has to pass, each with its name for reasons. Raises Wrong."""
    kept = [(source, given) for source, given in files if variable is None or source is not Source.USER]
    named = [(f"{_OWNERS.get(source, source)} command_permissions", given) for source, given in kept]
    return [*named, (VARIABLE, read_permissions(variable))] if variable is not None else named


def why_forbidden(text: str, analysis: Analysis, name: str, given: CommandPermissions) -> str:
    """Say why these permissions forbid a command; empty if they do not."""
    if _LINE_ENDS.search(_QUOTED.sub("", text)):
        return f"{name}: commands of several lines are forbidden"
    if "`" in _SINGLE_QUOTED.sub("", text):
        return f"{name}: backticks are forbidden"
    if analysis.problem:
        return f"{name}: the command could not be analyzed: {analysis.problem}"
    if analysis.redirects and not given.allow_redirects:
        return f"{name}: redirections are forbidden"
    found = (_of_segment(segment, given, redirects=analysis.redirects) for segment in analysis.segments)
    return next((f"{name}: {why}" for why in found if why), "")


def _of_segment(segment: tuple[str, str], given: CommandPermissions, *, redirects: bool) -> str:
    """Check one segment. It has no redirections in it, so if there are any, `cat *` must match a bare `cat` too."""
    raw, plain = segment
    also = (f"{raw} ", f"{plain} ") if redirects else ()
    if rule := _first_match(given.deny, (*segment, *also)):
        return f"`{plain or raw}` is forbidden (deny: {rule})"
    if given.allow is not None and not _first_match(given.allow, (raw, *also[:1])):
        return f"`{raw}` is not allowed (allow: {', '.join(given.allow[:_MOST_NAMED]) or 'nothing'})"
    return ""


def _first_match(patterns: Sequence[str], texts: Sequence[str]) -> str:
    """Return the first pattern that matches one of the texts. Unlike in those of MCP tools, a backslash is itself."""
    literal = {pattern: pattern.replace("\\", r"\\") for pattern in patterns}
    return next((one for one, pattern in literal.items() for text in texts if matches_pattern(text, pattern)), "")
