"""MCP tools as rules name them: `server/tool`.

What must stay true: a name cannot be mistaken for another server's. The last slash ends the server's name, and the
tool's part has no pattern characters, so a server gains nothing by how it names its tools.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from halocline.protocol.kinds import Grant
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Rule, Verdict

ALL = "*"
"""As a tool name: all tools of a server."""
_STRANGE = compile_later(r"[^A-Za-z0-9_.-]")


def tool_name(server: str, tool: str) -> str:
    """Return a tool's name as used in `Summary.mcp`, grants and rules."""
    return f"{server}/{_STRANGE.sub('_', tool)}"


def is_one_of(name: str, patterns: str | Sequence[str]) -> bool:
    """Return True if any pattern matches a tool. A pattern without a slash matches all tools of a server."""
    return any(_matches(pattern, name) for pattern in ((patterns,) if isinstance(patterns, str) else patterns))


def matches_pattern(text: str, pattern: str) -> bool:
    """Return True if a name matches a pattern: `*` is any characters, `?` is one, a backslash escapes them."""
    return _compile_pattern(pattern).fullmatch(text) is not None


def literal_pattern(text: str) -> str:
    """Return a pattern that matches only this name."""
    return re.sub(r"([\\*?])", r"\\\1", text)


def is_granted(name: str, scripts: tuple[str, ...], grants: Iterable[Grant]) -> bool:
    """Return True if a tool is granted as it is defined now, or all tools of its server are."""
    server = f"{name.rpartition('/')[0]}/{ALL}"
    return any(grant.mcp == server or (grant.mcp == name and grant.scripts == scripts) for grant in grants)


def rules_of(server: str, always: Sequence[str] = (), *, believed: bool = False) -> Iterator[Rule]:
    """Yield the rules that a server's settings stand for.

    `always` are tools that run without asking (`autoApprove`). For a server that is `believed`, tools that it declares
    read-only run without asking too.
    """
    if always:
        tools = tuple(f"{literal_pattern(server)}/{ALL if tool == ALL else tool_name('', tool)[1:]}" for tool in always)
        yield Rule(Verdict.ALLOW, "mcp.autoApprove", f"the settings of {server} allow it", mcp=tools)
    if believed:
        reason = f"{server} is trusted to declare which of its tools only read"
        yield Rule(Verdict.ALLOW, "mcp.believed", reason, mcp=(f"{literal_pattern(server)}/{ALL}",), read_only=True)


def _matches(pattern: str, name: str) -> bool:
    server, slash, tool = pattern.rpartition("/")
    if not slash:
        server, tool = tool, ALL
    given = name.rpartition("/")
    return matches_pattern(given[0], server) and matches_pattern(given[2], tool)


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    signs = re.findall(r"\\.|.", pattern, re.DOTALL)
    kinds = {"*": ".*", "?": "."}
    return re.compile("".join(kinds.get(sign) or re.escape(sign[-1]) for sign in signs), re.DOTALL)
