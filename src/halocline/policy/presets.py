"""The approval modes as rules: the first match decides. Commands are judged in `commands`."""

from collections.abc import Mapping

from halocline.protocol.kinds import ApprovalMode, ToolKind
from halocline.protocol.permission_rules import Rule, Verdict

CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
LOOKS = (ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.OTHER)

_ANY = ("*",)
_READS = Rule(Verdict.ALLOW, "reads", "calls that change nothing are allowed", kinds=LOOKS)


def _asking_rule(mode: ApprovalMode, before: str, *kinds: ToolKind, hosts: tuple[str, ...] = ()) -> Rule:
    return Rule(Verdict.ASK, f"mode-{mode}", f"{mode} mode asks before {before}", kinds=kinds, hosts=hosts)


_EDITS = Rule(Verdict.ALLOW, "mode-edits", "edits in the workspace are allowed", kinds=CHANGES)

_SERVERS = Rule(Verdict.ASK, "mcp", "MCP tools need approval until a rule allows them", mcp=_ANY)

PRESETS: Mapping[ApprovalMode, tuple[Rule, ...]] = {
    ApprovalMode.ASK: (
        _SERVERS,
        _READS,
        _asking_rule(ApprovalMode.ASK, "every change", *CHANGES),
        _asking_rule(ApprovalMode.ASK, "acting on a page", ToolKind.EXECUTE, hosts=_ANY),
        _asking_rule(ApprovalMode.ASK, "fetching anything", ToolKind.FETCH),
    ),
    ApprovalMode.ACCEPT_EDITS: (
        _SERVERS,
        _READS,
        _EDITS,
        _asking_rule(ApprovalMode.ACCEPT_EDITS, "acting on a page", ToolKind.EXECUTE, hosts=_ANY),
        _asking_rule(ApprovalMode.ACCEPT_EDITS, "fetching anything", ToolKind.FETCH),
    ),
    ApprovalMode.AUTO: (
        _SERVERS,
        _READS,
        _EDITS,
        Rule(
            Verdict.ALLOW, "mode-auto", "auto mode allows acting on public pages", kinds=(ToolKind.EXECUTE,), hosts=_ANY
        ),
        Rule(Verdict.ALLOW, "mode-auto", "auto mode allows public addresses", kinds=(ToolKind.FETCH,)),
    ),
    ApprovalMode.YOLO: (Rule(Verdict.ALLOW, "yolo", "yolo mode allows everything"),),
}
