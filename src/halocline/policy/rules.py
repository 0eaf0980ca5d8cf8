"""Match rules against acts, condition by condition. Pure.

What must stay true: an allow rule covers nothing that it does not name. Unless it names paths or places, it covers no
files outside the workspace, no secrets, and no files that other programs run or read as configuration. Unless it names
tools, it covers no MCP tools.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.files.patterns import matches_any
from halocline.policy import mcp
from halocline.policy.acts import KINDS_OF, Act
from halocline.policy.commands import CAREFUL, Use
from halocline.policy.runner_options import follows_harmlessly, is_operand
from halocline.policy.shell.spellings import begins_with, is_begun_by, plain_words
from halocline.protocol.kinds import Grant, Mode
from halocline.protocol.permission_rules import Effect, Rest, Rule, Source, Verdict

_CHANGES_FILES = (Effect.WRITES_INSIDE, Effect.WRITES_OUTSIDE, Effect.DESTRUCTIVE)


def rule_covers(rule: Rule, act: Act, workspace: Path, mode: Mode) -> bool:
    """Return True if all conditions of a rule are met."""
    return (
        (not rule.kinds or any(kind in rule.kinds for kind in act.kinds or (act.kind,)))
        and (not rule.tools or is_among(act.tool, rule.tools))
        and (not rule.modes or mode in rule.modes)
        and _is_of_workspace(rule, workspace)
        and (not rule.places or act.place in rule.places)
        and (not rule.paths or _matches_path(rule, act, workspace))
        and (not rule.argv or _matches_argv(rule, act))
        and (not rule.command or act.command == rule.command)
        and _matches_scripts(rule, act)
        and (not rule.effects or act.effect in rule.effects)
        and (not rule.hosts or _matches_host(rule, act))
        and (not rule.mcp or _mcp_tool(rule, act))
        and (rule.read_only is None or (bool(act.mcp) and act.read_only is rule.read_only))
        and _matches_agent(rule, act)
    )


def find_covered(rule: Rule, act: Act, workspace: Path, mode: Mode, *, possibly: bool = False) -> Act | None:
    """Return what a deny or ask rule matches: an act, a part of it, or a place that it uses, or `possibly` uses."""
    parts = (act, *act.parts, *act.within)
    touched = (used for part in parts for used in part.touched if possibly or not used.possible) if rule.paths else ()
    return next((one for one in (*parts, *touched) if rule_covers(rule, one, workspace, mode)), None)


def guarded_uses(rules: Sequence[Rule], act: Act, workspace: Path, mode: Mode) -> frozenset[Use]:
    """Return the uses of places by commands that deny and ask rules with paths may cover."""
    return frozenset(use for use in KINDS_OF if any(may_guard(rule, use, act, workspace, mode) for rule in rules))


def may_guard(rule: Rule, use: Use, act: Act, workspace: Path, mode: Mode) -> bool:
    """Return True if it is a deny or ask rule with paths that covers a use of some places by commands."""
    if not rule.paths or rule.decision is Verdict.ALLOW:
        return False
    wider = replace(rule, paths=(), places=(), argv=(), effects=())
    return rule_covers(wider, replace(act, kinds=KINDS_OF[use]), workspace, mode)


def find_allowing(
    rules: Sequence[Rule], act: Act, workspace: Path, mode: Mode, may_edit: Callable[[Act], bool] = lambda edit: False
) -> Rule | None:
    """Return the rule that allows an act; for a command, the first of those that together allow its non-read parts.

    A rule for a program does not cover its redirections: each is an edit of its own, which `may_edit` decides.
    """
    more = [part for part in act.parts if not (part.reads or part.is_opened)]
    of_whole = [rule for rule in rules if not (rule.effects and more)]  # parts differ in their effects and places
    whole = next((rule for rule in of_whole if rule_reaches(rule, act, workspace, mode)), None)
    if whole or not more:
        return whole
    found = [next((rule for rule in rules if rule_reaches(rule, part, workspace, mode)), None) for part in more]
    named = [part for part, rule in zip(more, found, strict=True) if rule and rule.argv]
    edits = [edit for part in (*named, *(part for part in act.parts if part.is_opened)) for edit in part.redirected]
    return found[0] if all(found) and all(map(may_edit, edits)) else None


def rule_reaches(rule: Rule, act: Act, workspace: Path, mode: Mode) -> bool:
    """Return True if an allow rule covers an act; like `rule_covers`, but never beyond what the rule names."""
    if act.place in CAREFUL and not (rule.paths or rule.places):
        return False
    if act.mcp and not (rule.mcp or rule.tools):
        return False
    return rule_covers(rule, act, workspace, mode)


def withdrawn_tools(rules: Sequence[Rule], workspace: str) -> frozenset[str]:
    """Return the tools that a rule denies unconditionally, as it names them; they need not be offered to a model."""
    plain = {"name": "", "reason": "", "tools": (), "workspace": "", "source": Source.USER}
    whole = (rule for rule in rules if replace(rule, **plain) == Rule(decision=Verdict.DENY))
    return frozenset(name for rule in whole if _is_of_workspace(rule, Path(workspace)) for name in rule.tools)


def is_among(tool: str, names: Iterable[str]) -> bool:
    """Return True if a tool matches any of these names, written as in rules."""
    return any(tool.startswith(name[:-1]) if name.endswith("*") else tool == name for name in names)


def is_granted(act: Act, grants: frozenset[Grant]) -> bool:
    """Return True if a grant covers exactly this act, or grants for command prefixes cover all its parts."""
    if act.mcp:
        return mcp.is_granted(act.mcp, act.scripts, grants)
    if act.grant in grants:
        return True
    more = [part for part in act.parts if not part.reads]
    return bool(more) and all(_begins_as(part, grants) for part in more)


def _begins_as(part: Act, grants: frozenset[Grant]) -> bool:
    words = part.argv or ()
    if part.effect in _CHANGES_FILES or part.redirected:
        return False  # its output goes into a file
    begun = (one for one in grants if one.argv and words[: len(one.argv)] == one.argv and part.scripts == one.scripts)
    return part.place is None and any(follows_harmlessly(words, len(one.argv)) for one in begun)


def changed_scripts(act: Act, grants: frozenset[Grant], rules: Sequence[Rule]) -> list[str]:
    """Return the scripts of a command that changed since the command was granted."""
    words = [part.argv or () for part in act.parts]
    given = [grant for grant in grants if (grant.kind, grant.mcp) == (act.kind, act.mcp)]
    then = [grant.scripts for grant in given if act.mcp or _is_of(grant.subject, grant.argv, act, words)]
    kept = (rule for rule in rules if rule.source is Source.GRANT and rule.scripts)
    then += [rule.scripts for rule in kept if _mcp_tool(rule, act) or _is_of(rule.command, rule.argv, act, words)]
    now = dict(entry.rpartition("=")[::2] for entry in act.scripts)
    known = {entry for scripts in then for entry in scripts}
    return sorted(name for name, found in now.items() if then and f"{name}={found}" not in known)


def _is_of(command: str, argv: Sequence[object], act: Act, words: Sequence[tuple[str, ...]]) -> bool:
    return command == act.command if command else bool(argv) and any(one[: len(argv)] == tuple(argv) for one in words)


def _is_of_workspace(rule: Rule, workspace: Path) -> bool:
    return not rule.workspace or os.path.realpath(workspace) == os.path.realpath(os.path.expanduser(rule.workspace))


def _matches_path(rule: Rule, act: Act, workspace: Path) -> bool:
    if act.path is None:
        return False
    # Deny and ask rules hold in every folder of the task; a grant for `a.py` is for the one in the first folder.
    further = act.path.root if rule.decision is not Verdict.ALLOW else ""
    folders = (workspace, Path(further)) if further else (workspace,)
    return any(_matches_pattern(pattern, act.path.path, folder) for pattern in rule.paths for folder in folders)


def _matches_pattern(pattern: str, path: str, workspace: Path) -> bool:
    """Return True if a path, absolute and resolved, matches a pattern."""
    full = os.path.expanduser(pattern) if pattern.startswith("~/") else pattern.removeprefix("./")
    root = "/" if full.startswith("/") else os.path.realpath(workspace)
    inside = os.path.relpath(path, root)
    return inside != ".." and not inside.startswith("../") and matches_any((full,), inside)


def _matches_argv(rule: Rule, act: Act) -> bool:
    if act.argv is None:
        return False
    if rule.decision is not Verdict.ALLOW and rule.rest is Rest.ANY:
        return is_begun_by(act.argv, rule.argv)
    return any(_begins_with(rule, words, act) for words in (act.argv, plain_words(act.argv), plain_words(act.opened)))


def _begins_with(rule: Rule, words: Sequence[str], act: Act) -> bool:
    begun = len(rule.argv)
    if not begins_with(words, rule.argv):
        return False
    if rule.source is Source.GRANT:
        return act.effect not in _CHANGES_FILES and not act.redirected and follows_harmlessly(words, begun)
    rest = words[begun:]
    return rule.rest is Rest.ANY or not rest or (rule.rest is Rest.OPERANDS and all(map(is_operand, rest)))


def _matches_scripts(rule: Rule, act: Act) -> bool:
    """Match scripts: a grant covers a script as it was when granted; a hand-written rule covers any version."""
    matters = bool(rule.scripts) or (rule.source is Source.GRANT and not act.mcp)
    return not matters or rule.scripts == act.scripts


def _mcp_tool(rule: Rule, act: Act) -> bool:
    return bool(rule.mcp) and bool(act.mcp) and mcp.is_one_of(act.mcp, rule.mcp)


def _matches_agent(rule: Rule, act: Act) -> bool:
    names = (rule.agent,) if isinstance(rule.agent, str) else rule.agent
    return not any(names) or (bool(act.agent) and any(mcp.matches_pattern(act.agent, name) for name in names))


def _matches_host(rule: Rule, act: Act) -> bool:
    name, exactly = (act.server.hostname, act.server.exactly) if act.server else ("", "")
    hosts = [host.lower() for host in rule.hosts if name]
    return any(host in (name, exactly) or (host[:2] in ("*", "*.") and name.endswith(host[1:])) for host in hosts)
