"""The approval modes as rules: the first match decides. Commands are judged in `commands`."""

from collections.abc import Mapping

from halocline.protocol.kinds import ApprovalMode, ToolKind
from halocline.protocol.permission_rules import Rule, Verdict

CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
LOOKS = (ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.OTHER)

_ANY, _EXECUTE = ("*",), (ToolKind.EXECUTE,)
_READS = Rule(Verdict.ALLOW, "reads", "calls that change nothing are allowed", kinds=LOOKS)


def _ask_before(mode: ApprovalMode, before: str, *kinds: ToolKind, hosts: tuple[str, ...] = ()) -> Rule:
    return Rule(Verdict.ASK, f"mode-{mode}", f"{mode} mode asks before {before}", kinds=kinds, hosts=hosts)


def _ask_before_contact(mode: ApprovalMode) -> tuple[Rule, ...]:
    acting = _ask_before(mode, "acting on a page", ToolKind.EXECUTE, hosts=_ANY)
    return acting, _ask_before(mode, "fetching anything", ToolKind.FETCH)


_EDITS = Rule(Verdict.ALLOW, "mode-edits", "edits in the workspace are allowed", kinds=CHANGES)
_SERVERS = Rule(Verdict.ASK, "mcp", "MCP tools need approval until a rule allows them", mcp=_ANY)
_PAGES = Rule(Verdict.ALLOW, "mode-auto", "auto mode allows acting on public pages", kinds=_EXECUTE, hosts=_ANY)
_FETCHES = Rule(Verdict.ALLOW, "mode-auto", "auto mode allows public addresses", kinds=(ToolKind.FETCH,))
_CHANGES = _ask_before(ApprovalMode.ASK, "every change", *CHANGES)

PRESETS: Mapping[ApprovalMode, tuple[Rule, ...]] = {
    ApprovalMode.ASK: (_SERVERS, _READS, _CHANGES, *_ask_before_contact(ApprovalMode.ASK)),
    ApprovalMode.ACCEPT_EDITS: (_SERVERS, _READS, _EDITS, *_ask_before_contact(ApprovalMode.ACCEPT_EDITS)),
    ApprovalMode.AUTO: (_SERVERS, _READS, _EDITS, _PAGES, _FETCHES),
    ApprovalMode.YOLO: (Rule(Verdict.ALLOW, "yolo", "yolo mode allows everything"),),
}
