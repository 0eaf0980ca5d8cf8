"""What `CLINE_COMMAND_PERMISSIONS` allows: patterns over each simple command. They hold in every mode, before approval.

A text that is no such JSON allows nothing by itself: every command is asked about, and the fault is shown.
"""

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from halocline.policy.shell.findings import Analysis
from halocline.protocol.values import Value

VARIABLE = "CLINE_COMMAND_PERMISSIONS"
_LINE_ENDS = re.compile(r"[\n\r\u2028\u2029\u0085]")
_SINGLE_QUOTED = re.compile(r"'[^']*'")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)


class CommandPermissions(Value, frozen=True, forbid_unknown_fields=True, rename={"allow_redirects": "allowRedirects"}):
    """`allow` None allows what `deny` does not name; else it alone allows. `*` and `?` are the patterns."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    allow_redirects: bool = False


class Wrong(Exception):
    """The variable cannot be read; says why."""


@cache
def read(text: str) -> CommandPermissions:
    """Raises Wrong."""
    try:
        return msgspec.json.decode(text, type=CommandPermissions)
    except msgspec.DecodeError as error:
        raise Wrong(f"{VARIABLE} is not as it must be: {error}") from None


def forbidden(text: str, analysis: Analysis, given: CommandPermissions) -> str:
    """Why these permissions forbid a command; empty when they do not."""
    if _LINE_ENDS.search(_QUOTED.sub("", text)):
        return f"{VARIABLE} forbids several lines"
    if "`" in _SINGLE_QUOTED.sub("", text):
        return f"{VARIABLE} forbids backticks"
    if analysis.problem:
        return f"{VARIABLE} holds, and the command could not be analysed: {analysis.problem}"
    if analysis.redirects and not given.allow_redirects:
        return f"{VARIABLE} forbids redirections"
    return next((why for segment in analysis.segments if (why := _of_segment(segment, given))), "")


def _of_segment(segment: tuple[str, str], given: CommandPermissions) -> str:
    raw, plain = segment
    if rule := _match(given.deny, segment):
        return f"{VARIABLE} forbids `{plain or raw}` (deny: {rule})"
    if given.allow is not None and not _match(given.allow, (raw,)):
        return f"{VARIABLE} does not allow `{raw}`"
    return ""


def _match(patterns: Sequence[str], texts: Sequence[str]) -> str:
    return next((pattern for pattern in patterns for text in texts if _regex(pattern).fullmatch(text)), "")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    parts = (".*" if char == "*" else "." if char == "?" else re.escape(char) for char in pattern)
    return re.compile("".join(parts), re.DOTALL)
