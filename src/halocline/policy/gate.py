"""The approval gate: decide whether a call may run, with the rule that decided and the reason. Pure.

A call is split into acts. Each act is judged on its own, and the strictest decision wins. For one act, the first layer
with an opinion decides, in this order: what nothing may override (Halocline's own files, ignored files, deny rules,
commands that are never allowed, plan mode, the user's *never*), what only the administrator may override, permanent
grants, the user's other rules, sensitive places, then the approval mode. While a rules file cannot be read, nothing is
allowed without asking.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import asdict, replace

from halocline.policy.acts import Act, acts_of, path_grant
from halocline.policy.commands import Circumstances, Use
from halocline.policy.decision import Decision, PolicyContext
from halocline.policy.grades import find_lost, grade_acts
from halocline.policy.layers import LAYERS, LEAVES, REMEMBERS
from halocline.policy.paths import Classifier, Folders, Resolved
from halocline.policy.rules import changed_scripts, guarded_uses, may_guard, rule_covers
from halocline.policy.sensitive_names import is_secret
from halocline.ports.tool import Summary
from halocline.protocol.kinds import Mode, ToolKind
from halocline.protocol.permission_rules import Grade, Place, Rule, Source, Verdict

__all__ = ["Decision", "PolicyContext", "build_classifier", "decide_call", "find_places", "find_scripts", "make_hider"]
HARMLESS = (ToolKind.THINK, ToolKind.OTHER)
_READS = (ToolKind.READ, ToolKind.SEARCH)
_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


def decide_call(summary: Summary, context: PolicyContext) -> Decision:
    """Judge one call.

    Raises:
        ToolFailure: a path or URL is invalid.
    """
    return context.facts.find_once(context, summary, partial(_decide_call, summary, context))


def _decide_call(summary: Summary, context: PolicyContext) -> Decision:
    paths = _resolve_paths(summary, context)
    acts = acts_of(summary, paths, _find_circumstances(summary, paths, context))
    decisions = [_judge_act(act, context) for act in acts]
    strictest = max(decisions, key=lambda decision: _STRICTNESS[decision.verdict])
    reasons = dict.fromkeys(decision.reason for decision in decisions if decision.verdict is strictest.verdict)
    grade, gravest = grade_acts(acts, context) if strictest.verdict is Verdict.ASK else (Grade.ORDINARY, "")
    if gravest:
        reasons = {one.rpartition(": ")[2] if " mode asks before " in one else one: None for one in reasons}
        more = [one for one in reasons if gravest not in one and one.rpartition(": ")[2] not in gravest]
        reasons = dict.fromkeys((gravest, *more))
    return replace(
        _of_command(acts[0], strictest, context),
        grade=grade,
        lost=find_lost(acts[0], context) if strictest.verdict is Verdict.ASK else (),
        reason="; ".join(reasons),
        places=tuple(path.path for path in paths),
        identities=tuple(path.identity for path in paths),
        changes=_list_changes(summary, paths, acts[0]),
        folders=context.own_folders if paths else None,
    )


def _list_changes(summary: Summary, paths: Sequence[Resolved], act: Act) -> tuple[str, ...] | None:
    """Return the entries that a call can change. A file with other hard links changes under those names too."""
    if act.judged:
        return act.judged.changes
    if summary.may_change is None or any(path.linked for path in paths):
        return None
    return tuple(dict.fromkeys(name for path in paths for name in path.names))


def find_places(summary: Summary, context: PolicyContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a call's resolved paths as of now, and the identities of the files there. Raises ToolFailure."""
    paths = _resolve_paths(summary, context)
    return tuple(path.path for path in paths), tuple(path.identity for path in paths)


def build_classifier(context: PolicyContext, call: Summary | None = None, folders: Folders | None = None) -> Classifier:
    """Return the classifier of places for a task, or for the files that a call reaches that was judged by `folders`."""
    call = call or Summary("", ToolKind.READ, tool="read_file")
    return context.facts.find_once(context, (call,), partial(_build_classifier, context, call, folders))


def _build_classifier(context: PolicyContext, call: Summary, folders: Folders | None) -> Classifier:
    places = _resolve_paths(call, context) if any(rule.paths for rule in context.book.rules) else ()
    return context.classifier(_build_guard(context, call.tool, call.agent, places), folders)


def _build_guard(
    context: PolicyContext, tool: str, agent: str, places: Sequence[Resolved]
) -> Callable[[Resolved], Place | None] | None:
    """Return the guard for files that a call reaches without naming them; None if no rule needs one.

    Ask rules about the call's own `places` are left out: they were answered.
    """
    reading = Act(ToolKind.READ, tool, kinds=_READS, agent=agent)
    strict = [rule for rule in context.book.rules if rule.paths and rule.decision is not Verdict.ALLOW]
    named = [replace(reading, path=place) for place in places]
    covers = partial(rule_covers, workspace=context.workspace, mode=context.mode)
    rules = [rule for rule in strict if rule.decision is Verdict.DENY or not any(covers(rule, act) for act in named)]
    return partial(_guard_place, rules, reading, context) if rules else None


def _guard_place(rules: Sequence[Rule], reading: Act, context: PolicyContext, place: Resolved) -> Place | None:
    act = replace(reading, path=place)
    covering = [rule for rule in rules if rule_covers(rule, act, context.workspace, context.mode)]
    if any(rule.decision is Verdict.DENY for rule in covering):
        return Place.IGNORED
    is_granted = not context.grants.isdisjoint(path_grant(kind, place) for kind in _READS)
    asking = [rule for rule in covering if rule.source is Source.MANAGED or not is_granted]
    return Place.SECRET if asking else None


def find_scripts(summary: Summary, context: PolicyContext) -> tuple[str, ...]:
    """Return the scripts that a command would run now. Raises ToolFailure if a path is invalid."""
    paths = _resolve_paths(summary, context)
    return acts_of(summary, paths, _find_circumstances(summary, paths, context))[0].scripts


def _resolve_paths(summary: Summary, context: PolicyContext) -> tuple[Resolved, ...]:
    return tuple(map(context.classifier().resolve, summary.paths)) if summary.paths else ()


def _find_circumstances(summary: Summary, paths: tuple[Resolved, ...], context: PolicyContext) -> Circumstances:
    """Describe where a command would run. With a place but no folder, it is typed into a program running there."""
    act = Act(ToolKind.EXECUTE, summary.tool, agent=summary.agent)
    hides = make_hider(context, summary.tool, summary.agent) if summary.command and _list_hidden(context, act) else None
    uses = guarded_uses(context.book.rules, act, context.workspace, context.mode) if summary.command else frozenset()
    return Circumstances(
        **asdict(context),
        folder=paths[-1].path if paths else str(context.workspace),
        typed=bool(summary.place) and not paths,
        risky=summary.risky,
        guarded=uses,
        hides=hides,
    )


class Hider:
    """Implements `ports.shell_facts.Hides`: hidden is what an ignore file hides, a rule guards, or is our own."""

    def __init__(self, kinds: Classifier, key: tuple[tuple[str, str], ...], names: "Hider | None" = None) -> None:
        """`names` tells what may not even be named; it is this one itself if it is not given."""
        self._kinds = kinds
        self.key = key
        self.names = names or self

    def __call__(self, path: str, found: os.stat_result | None) -> bool:
        kind = self._kinds.guarded_kind(path, found)
        asks = kind is Place.SECRET and self.names is not self and not is_secret(path)
        return asks or kind in (Place.IGNORED, Place.OWN_STATE)


def make_hider(context: PolicyContext, tool: str, agent: str = "") -> Hider:
    """Return the test whether a path is hidden from the commands of a tool."""
    act = Act(ToolKind.EXECUTE, tool, agent=agent)
    kinds = build_classifier(context, Summary("", ToolKind.READ, tool=tool, agent=agent))
    return Hider(kinds, _list_hidden(context, act), Hider(kinds, _list_hidden(context, act, named=True)))


def _list_hidden(context: PolicyContext, act: Act, *, named: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the patterns of hidden places, each with the folder that it starts from; with `named`, of hidden names."""
    folders = [context.workspace, *(Path(root.path) for root in context.roots)]
    lines = [(str(context.workspace), line) for line in context.book.ignored]
    lines += [(root.path, line) for root in context.roots for line in root.ignored]
    covers = partial(may_guard, use=Use.READ, act=act, workspace=context.workspace, mode=context.mode)
    rules = (one for one in context.book.rules if covers(one) and not (named and one.decision is Verdict.ASK))
    return (*lines, *((str(folder), path) for rule in rules for path in rule.paths for folder in folders))


def _of_command(act: Act, decision: Decision, context: PolicyContext) -> Decision:
    """Add what a command consists of, and the form in which an allowed one runs.

    In plan mode a read-only command always runs in its canonical form, and so does, in every mode, one that would be
    forbidden as written, or whose form ends where a move fails.
    """
    if act.judged is None:
        return decision
    canonical, mixed = decision.canonical, ""
    if decision.verdict is Verdict.ALLOW:
        canonical = act.judged.only_form or (act.judged.canonical if context.mode is Mode.PLAN else canonical)
        mixed = act.judged.mixed if canonical is None else ""
    left_out = act.judged.left_out if canonical or mixed else ""
    found = replace(decision, parts=act.judged.parts, canonical=canonical, scripts=act.scripts)
    return replace(found, mixed=mixed, left_out=left_out)


def _judge_act(act: Act, context: PolicyContext) -> Decision:
    decision = next((found for layer in LAYERS if (found := layer(act, context))), None)
    decision = decision or Decision(Verdict.ASK, "unknown", "no rule or mode allows it")
    if context.book.problems and decision.verdict is not Verdict.DENY and (act.kind not in HARMLESS or act.mcp):
        decision = _with_problems(decision, context)
    if context.subagent and decision.rule == "plan-mode":
        return replace(decision, rule="subagent", reason=decision.reason.replace("plan mode", "a sub-agent", 1))
    if decision.verdict is not Verdict.ASK or decision.rule in (LEAVES, REMEMBERS):
        return decision
    if changed := changed_scripts(act, context.grants, context.book.rules) if act.scripts else ():
        reason = f"{', '.join(changed)} changed since you allowed this; {decision.reason}"
        decision = replace(decision, reason=reason)
    return replace(decision, grant=act.grant, wider=act.wider)


def _with_problems(decision: Decision, context: PolicyContext) -> Decision:
    """Turn allow into ask while a rules file cannot be read, and say so in the reason."""
    problems = "; ".join(context.book.problems)
    if decision.verdict is Verdict.ALLOW:
        return Decision(Verdict.ASK, "unreadable-rules", problems)
    return replace(decision, reason=f"{decision.reason}; {problems}")
