"""Checks a rule against the examples that stand beside it: commands, URLs or paths, whatever the rule speaks of."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from halocline.policy.destinations import destination
from halocline.policy.paths import resolve
from halocline.policy.rules import Act, speaks_of
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Mode, ToolKind
from halocline.protocol.rules import Rule

NOWHERE = Path("/nowhere")


def failing(rule: Rule, matches: Sequence[str], not_matches: Sequence[str]) -> str:
    """What is wrong with the first example that is; empty when all are right."""
    for example in matches:
        if not _covers(rule, example):
            return f"it should match {example!r}"
    for example in not_matches:
        if _covers(rule, example):
            return f"it should not match {example!r}"
    return ""


def _covers(rule: Rule, example: str) -> bool:
    workspace = Path(rule.workspace) if rule.workspace else NOWHERE
    try:
        return speaks_of(rule, _act(rule, example, workspace), workspace, rule.modes[0] if rule.modes else Mode.ACT)
    except (ToolFailure, ValueError):
        return False


def _act(rule: Rule, example: str, workspace: Path) -> Act:
    kind = rule.kinds[0] if rule.kinds else ToolKind.EXECUTE
    tool = rule.tools[0].rstrip("*") if rule.tools else ""
    if rule.hosts:
        return Act(kind, tool, server=destination(example if "://" in example else f"https://{example}"))
    if rule.paths or rule.places:
        path = resolve(example, workspace, Path("/nowhere-home"))
        return Act(kind, tool, path=path)
    effect = rule.effects[0] if rule.effects else None
    return Act(kind, tool, command=example, argv=tuple(shlex.split(example)), effect=effect)
