"""Rules from `--allowed-tools` and `--disallowed-tools`, in Claude Code's syntax, as in `Bash(git:*)`.

What must stay true: a pattern becomes rules that mean the same, or it is refused. The gate treats them as a user's own
rules: a deny from anywhere wins, and nothing here reaches beyond what such a rule may allow.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from halocline.context.other_tools import BY_HABIT, CLINE, THROUGH_SERVER
from halocline.policy.presets import AutoApprove, rules_of
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalSwitch, ToolKind
from halocline.protocol.permission_rules import Rest, Rule, Verdict
from halocline.tools.toolset import every_tool

EDITING = ("replace_in_file", "apply_patch", "write_to_file")
OURS = {
    "Bash": ("execute_command", "job"),
    "Read": ("read_file",),
    "Glob": ("list_files", "search_files"),
    "Grep": ("search_files",),
    "LS": ("list_files",),
    "Edit": EDITING,
    "MultiEdit": EDITING,
    "Write": EDITING,
    "WebFetch": ("web_fetch",),
    "WebSearch": ("web_search",),
    "Task": ("use_subagents",),
    "Agent": ("use_subagents",),
    "Skill": ("use_skill",),
    "TodoWrite": ("update_todos",),
}
"""Our tools for Claude Code's names. Its rules for `Edit` cover every tool that edits files, and so do these."""
FILES = {"Read": (ToolKind.READ, ToolKind.SEARCH), "Edit": (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)}
FILES |= {"Write": FILES["Edit"], "MultiEdit": FILES["Edit"]}

_PATTERN = re.compile(r"(?P<tool>[\w*-]+)(?:\((?P<what>.*)\))?", re.DOTALL)
_WORDS = re.compile(r"[\w@%+:,./-]+(?: [\w@%+:,./=-]+)*")
_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*")
_BETWEEN = re.compile(r"[,\s]+(?![^(]*\))")
HIDE = "List them in .haloclineignore, which commands are held to as well."
POLICY = "Write it as a rule in policy.toml: see the guide on policy rules."


def read_patterns(allowed: Iterable[str], disallowed: Iterable[str], custom: Collection[str] = ()) -> tuple[Rule, ...]:
    """Return the rules for the values of the two flags; `custom` are the tools of the program that runs the tasks.

    Raises UsageError for a pattern that cannot be expressed.
    """
    return (
        *_read_flag("--disallowed-tools", disallowed, Verdict.DENY, custom),
        *_read_flag("--allowed-tools", allowed, Verdict.ALLOW, custom),
    )


def why_taken(name: str) -> str:
    """Say why no function may have this name: rules and models mean a tool of ours by it, also in another program."""
    if any(name == tool.name for tool in every_tool()):
        return f"There is a tool {name} already."
    if name in {*BY_HABIT, *CLINE, *OURS, THROUGH_SERVER, ApprovalSwitch.PROJECT_CODE} or name.startswith("mcp__"):
        return f"The name {name} stands for another tool, in rules and for models."
    return ""


def _read_flag(flag: str, values: Iterable[str], decision: Verdict, custom: Collection[str]) -> Iterator[Rule]:
    for pattern in (each for value in values for each in _BETWEEN.split(value.strip()) if each):
        rule = _read_pattern(pattern, custom)
        if rule is None:
            raise UsageError(f"{flag}: {pattern} cannot be expressed exactly as a rule.", POLICY)
        if decision is Verdict.DENY and rule.kinds == FILES["Read"]:
            raise UsageError(f"{flag}: {pattern} would leave the files to commands.", HIDE)
        yield replace(rule, decision=decision, name=flag.strip("-"), reason=f"{flag} names {pattern}")


def _read_pattern(pattern: str, custom: Collection[str]) -> Rule | None:
    """Return the conditions of a pattern; None if no rule means the same. Raises UsageError for an unknown tool."""
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        return None
    tool, what = found["tool"], found["what"]
    if tool == ApprovalSwitch.PROJECT_CODE:
        return next(iter(rules_of(AutoApprove(project_code=True))))
    if tool.startswith("mcp__"):
        return _read_server(tool.removeprefix("mcp__")) if what is None else None
    names = OURS.get(tool) or ((tool,) if tool in {*custom, *(known.name for known in every_tool())} else ())
    if not names:
        raise UsageError(f"There is no tool {tool!r}.", f"Known: {', '.join(OURS)}, mcp__SERVER__TOOL, and our own.")
    if what is None or what.strip() in ("", "*"):
        return Rule(Verdict.ASK, tools=names)
    if tool == "Bash":
        return _read_command(what)
    if tool == "WebFetch":
        host = what.removeprefix("domain:")
        return Rule(Verdict.ASK, tools=names, hosts=(host,)) if host != what and _HOST.fullmatch(host) else None
    return _read_path(what, FILES[tool]) if tool in FILES else None


def _read_server(name: str) -> Rule | None:
    server, _, tool = name.partition("__")
    return Rule(Verdict.ASK, mcp=f"{server}/{tool or '*'}") if server else None


def _read_command(what: str) -> Rule | None:
    """`git:*` and `git *` are the first words and any others; without a star it is the whole command."""
    words = re.sub(r"(?::| )\*$", "", what)
    if not _WORDS.fullmatch(words):
        return None
    return Rule(Verdict.ASK, argv=tuple(words.split(" ")), rest=Rest.NONE if words == what else Rest.ANY)


def _read_path(what: str, kinds: tuple[ToolKind, ...]) -> Rule | None:
    """`//x` is absolute there; `/x` is relative to a settings file, which a flag has none of."""
    if what.startswith("/") and not what.startswith("//"):
        return None
    return Rule(Verdict.ASK, kinds=kinds, paths=(what.removeprefix("/"),))
