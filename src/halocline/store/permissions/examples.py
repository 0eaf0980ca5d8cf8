"""Check a rule against its examples: commands, URLs or paths, whichever the rule is about."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.policy.acts import Act, acts_of
from halocline.policy.commands import Circumstances
from halocline.policy.destinations import parse_destination
from halocline.policy.paths import Classifier
from halocline.policy.rules import find_allowing, find_covered
from halocline.ports.tool import Summary
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, Verdict

NOWHERE = Path("/nowhere")


def failing_example(rule: Rule, matches: Sequence[str], not_matches: Sequence[str]) -> str:
    """Say what is wrong with the first failing example; empty if all hold."""
    for example in matches:
        if not _covers_example(rule, example):
            return f"it should match {example!r}"
    for example in not_matches:
        if _covers_example(rule, example):
            return f"it should not match {example!r}"
    return ""


def _covers_example(rule: Rule, example: str) -> bool:
    workspace = Path(rule.workspace) if rule.workspace else NOWHERE
    mode = rule.modes[0] if rule.modes else Mode.ACT
    try:
        act = _example_act(rule, example, workspace)
    except ToolFailure:
        return False
    if rule.decision is Verdict.ALLOW:
        return find_allowing([rule], act, workspace, mode) is not None
    return find_covered(rule, act, workspace, mode) is not None


def _example_act(rule: Rule, example: str, workspace: Path) -> Act:
    kind = rule.kinds[0] if rule.kinds else ToolKind.EXECUTE
    tool = rule.tools[0].rstrip("*") if rule.tools else ""
    agent = (rule.agent if isinstance(rule.agent, str) else rule.agent[0]) if rule.agent else ""
    if rule.mcp:
        return Act(kind, tool, mcp=example, read_only=bool(rule.read_only), agent=agent)
    if rule.hosts:
        server = parse_destination(example if "://" in example else f"https://{example}")
        return Act(kind, tool, server=server, agent=agent)
    if rule.paths or rule.places:
        return Act(kind, tool, path=Classifier(workspace, Path("/nowhere-home")).resolve(example), agent=agent)
    summary = Summary(example, kind, command=example, tool=tool, agent=agent)
    where = Circumstances(workspace, NOWHERE, Mode.ACT, ApprovalMode.ASK, folder=str(workspace))
    (act, *_) = acts_of(summary, (), where)
    # An example for a rule about effects counts as having the effect; what it would really do is not checked.
    return replace(act, effect=rule.effects[0]) if rule.effects and not rule.argv else act
