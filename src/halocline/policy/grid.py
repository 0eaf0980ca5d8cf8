"""The classic switches, as rules: each is on (allowed), off (asked about), or left to the approval mode."""

from collections.abc import Iterator

from halocline.policy.presets import CHANGES
from halocline.protocol.events import ToolKind
from halocline.protocol.rules import Effect, Place, Rule, Verdict
from halocline.protocol.values import Value

_INSIDE = (Place.PROJECT, Place.RUNS_LATER)
_READS = (ToolKind.READ, ToolKind.SEARCH)


class AutoApprove(Value, frozen=True, forbid_unknown_fields=True):
    """What is done without asking. None: as the approval mode says."""

    read: bool | None = None
    read_outside: bool | None = None
    edit: bool | None = None
    edit_outside: bool | None = None
    safe_commands: bool | None = None
    all_commands: bool | None = None
    web: bool | None = None
    browser: bool | None = None
    mcp: bool | None = None


_SWITCHES = {
    "read": Rule(Verdict.ASK, kinds=_READS, places=_INSIDE),
    "read_outside": Rule(Verdict.ASK, kinds=_READS, places=(Place.OUTSIDE,)),
    "edit": Rule(Verdict.ASK, kinds=CHANGES, places=(Place.PROJECT,)),
    "edit_outside": Rule(Verdict.ASK, kinds=CHANGES, places=(Place.OUTSIDE,)),
    "safe_commands": Rule(Verdict.ASK, kinds=(ToolKind.EXECUTE,), effects=(Effect.READ_ONLY,)),
    "all_commands": Rule(Verdict.ASK, kinds=(ToolKind.EXECUTE,)),
    "web": Rule(Verdict.ASK, tools=("web_fetch", "web_search")),
    "browser": Rule(Verdict.ASK, tools=("browser_action",)),
    "mcp": Rule(Verdict.ASK, mcp=("*",)),
}


def rules_of(switches: AutoApprove) -> tuple[Rule, ...]:
    """The rules that the switches stand for."""
    return tuple(_rules(switches))


def _rules(switches: AutoApprove) -> Iterator[Rule]:
    from msgspec.structs import replace

    for name, rule in _SWITCHES.items():
        if (on := getattr(switches, name)) is not None:
            verdict, said = (Verdict.ALLOW, "on") if on else (Verdict.ASK, "off")
            rule = replace(rule, decision=verdict, name=f"auto_approve.{name}", reason=f"auto_approve.{name} is {said}")
            # Off asks about all; on believes a server, but only that what it declares so reads.
            yield replace(rule, read_only=True) if on and rule.mcp else rule
