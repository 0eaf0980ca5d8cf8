"""Tools of MCP servers, as rules speak of them: by `server/tool`.

What must stay true: a name cannot be mistaken for another server's. The last slash ends the server's name, and the
tool's part has no sign that means something in a pattern, so a server gains nothing by how it names its tools.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import Rule, Verdict

ALL = "*"
"""As a tool: all of a server's."""
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")


def tool_name(server: str, tool: str) -> str:
    """How a tool is called in `Summary.mcp`, in leave and in rules."""
    return f"{server}/{_STRANGE.sub('_', tool)}"


def is_one_of(name: str, patterns: str | Sequence[str]) -> bool:
    """Whether any pattern speaks of a tool. One without a slash is of a server, with everything that it has."""
    return any(_matches(pattern, name) for pattern in ((patterns,) if isinstance(patterns, str) else patterns))


def matches_pattern(text: str, pattern: str) -> bool:
    """Whether a name is as a pattern says: `*` stands for any letters, `?` for one, a backslash takes their meaning."""
    return _compile_pattern(pattern).fullmatch(text) is not None


def literal_pattern(text: str) -> str:
    """A name as a pattern that means only it."""
    return re.sub(r"([\\*?])", r"\\\1", text)


def pattern_of(grant: Grant) -> str:
    """What leave for a tool, or for all of a server's, is as a pattern."""
    server, _, tool = grant.mcp.rpartition("/")
    return f"{literal_pattern(server)}/{tool}"


def is_granted(name: str, scripts: tuple[str, ...], grants: Iterable[Grant]) -> bool:
    """Whether a person gave leave for a tool as it is defined, or for all of its server's."""
    server = f"{name.rpartition('/')[0]}/{ALL}"
    return any(grant.mcp == server or (grant.mcp == name and grant.scripts == scripts) for grant in grants)


def rules_of(server: str, always: Sequence[str] = (), *, believed: bool = False) -> Iterator[Rule]:
    """The rules that a server's settings stand for.

    `always` are tools that are not asked about (`autoApprove`); of a server that is `believed`, what it declares to
    only read is not asked about either.
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
