"""The approval modes and the auto-approve switches as rules: of a mode, the first match decides.

Commands are judged in `commands`. Each switch is on (allow), off (ask), or left to the mode.
"""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from msgspec.structs import asdict, replace

from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, ToolKind
from halocline.protocol.permission_rules import Effect, Place, Rule, RuleBook, Verdict
from halocline.protocol.values import Value

CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_LOOKING = (ToolKind.READ, ToolKind.SEARCH)
LOOKS = (*_LOOKING, ToolKind.THINK, ToolKind.OTHER)
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
_INSIDE = (Place.PROJECT, Place.RUNS_LATER)
_OF_PROGRAMS = (Effect.UNKNOWN, Effect.WRITES_INSIDE)
"""Effects of programs that do no known harm: what they run is the project's code, or what the task wrote."""
Switches = Mapping[ApprovalSwitch, bool | None]


class AutoApprove(Value, frozen=True, forbid_unknown_fields=True):
    """The switches: kinds of calls that run without asking. None: the approval mode decides."""

    read: bool | None = None
    read_outside: bool | None = None
    edit: bool | None = None
    edit_outside: bool | None = None
    safe_commands: bool | None = None
    project_code: bool | None = None
    all_commands: bool | None = None
    web: bool | None = None
    browser: bool | None = None
    mcp: bool | None = None


_SWITCHES = {
    ApprovalSwitch.READ: Rule(Verdict.ASK, kinds=_LOOKING, places=_INSIDE),
    ApprovalSwitch.READ_OUTSIDE: Rule(Verdict.ASK, kinds=_LOOKING, places=(Place.OUTSIDE,)),
    ApprovalSwitch.EDIT: Rule(Verdict.ASK, kinds=CHANGES, places=(Place.PROJECT,)),
    ApprovalSwitch.EDIT_OUTSIDE: Rule(Verdict.ASK, kinds=CHANGES, places=(Place.OUTSIDE,)),
    ApprovalSwitch.SAFE_COMMANDS: Rule(Verdict.ASK, kinds=(ToolKind.EXECUTE,), effects=(Effect.READ_ONLY,)),
    ApprovalSwitch.PROJECT_CODE: Rule(Verdict.ASK, kinds=(ToolKind.EXECUTE,), effects=_OF_PROGRAMS),
    ApprovalSwitch.ALL_COMMANDS: Rule(Verdict.ASK, kinds=(ToolKind.EXECUTE,)),
    ApprovalSwitch.WEB: Rule(Verdict.ASK, tools=("web_fetch", "web_search")),
    ApprovalSwitch.BROWSER: Rule(Verdict.ASK, tools=("browser_action",)),
    ApprovalSwitch.MCP: Rule(Verdict.ASK, mcp=("*",)),
}


@lru_cache
def rules_of(switches: AutoApprove) -> tuple[Rule, ...]:
    """Return the rules that the switches in the settings stand for."""
    return tuple(_rules_of({ApprovalSwitch(name): on for name, on in asdict(switches).items()}))


def with_switches(book: RuleBook, switches: Switches) -> RuleBook:
    """Return the rules with these switches replacing the same ones from the settings."""
    switches = {switch: on for switch, on in switches.items() if switch not in book.fixed}
    if not switches:
        return book
    return replace(book, rules=(*(one for one in book.rules if _switch_of(one) not in switches), *_rules_of(switches)))


def switches_in(book: RuleBook) -> dict[ApprovalSwitch, bool | None]:
    """Return the state of each switch by the rules in force."""
    standing: dict[ApprovalSwitch, bool | None] = dict.fromkeys(ApprovalSwitch)
    for rule in book.rules:
        if switch := _switch_of(rule):
            standing[switch] = rule.decision is Verdict.ALLOW
    return standing


def _switch_of(rule: Rule) -> ApprovalSwitch | None:
    """Return the switch that a rule stands for; a user's own rule of the same name stands for none."""
    return next((switch for switch, both in _all_rules().items() if rule in both), None)


@cache
def _all_rules() -> dict[ApprovalSwitch, tuple[Rule, ...]]:
    return {switch: (*_rules_of({switch: True}), *_rules_of({switch: False})) for switch in ApprovalSwitch}


def _rules_of(switches: Switches) -> Iterator[Rule]:
    for switch, on in switches.items():
        if on is not None:
            verdict, state = (Verdict.ALLOW, "on") if on else (Verdict.ASK, "off")
            name = f"auto_approve.{switch}"
            rule = replace(_SWITCHES[switch], decision=verdict, name=name, reason=f"{name} is {state}")
            # Off asks about all tools; on allows only those that their server declares read-only.
            yield replace(rule, read_only=True) if on and rule.mcp else rule
