"""The seam of judge and sandbox: each reason against a command is held by a full sandbox, or asks. Pure.

What must stay true: approval mode auto allows a command in a full sandbox only if the sandbox holds every reason
against each of its parts. What no sandbox can hold keeps the judge's reason: what is named or printed although it is
hidden, and what is lost although no checkpoint holds it.
"""

from halocline.policy.commands import Finding, Rule, Use
from halocline.policy.paths import is_within
from halocline.policy.sensitive_names import MADE_BY_TOOLS, fold_case, runs_later
from halocline.ports.shell_facts import ShellFacts
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, SandboxStanding
from halocline.protocol.left_out import name_some
from halocline.protocol.permission_rules import Place

HELD: dict[Rule, str] = {
    Rule.READS: "it only reads",
    Rule.SHELL: "it changes only the shell",
    Rule.WRITES: "checkpoints hold what it edits",
    Rule.UNKNOWN: "the program can do no more than the sandbox allows",
    Rule.DYNAMIC: "its words can lead no further than the sandbox allows",
    Rule.ENVIRONMENT: "there are no secrets in its environment, and other processes are invisible",
    Rule.RIGHTS: "nothing gives it other rights",
}
"""Reasons that a full sandbox holds, with how. `why_not_held` looks closer at some; every other reason asks."""
NO_SANDBOX = (
    "Commands here run without a full sandbox, so approval mode auto asks before programs that do more than read or "
    "edit files of the folder; halo doctor says what is missing. To be asked less, get a full sandbox (bubblewrap, on "
    "Linux), or allow builds and tests of this project in this task: /auto-approve project_code on, or halo run "
    "--trust-project-code. That trusts all code of the project, and all that the task itself writes."
)
"""Why auto mode asks so often, and what would change that; told once."""
_OF_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/nix", "/snap", "/proc", "/sys", "/dev")
PACKAGES = frozenset({"node_modules", ".venv", "venv", "__pycache__", ".tox", "site-packages", "vendor"})
"""Folders of packages, which hold nothing of the person's; a sandbox looks at them only for what rules hide."""
_OF_TOOLS = MADE_BY_TOOLS | PACKAGES
SHOWS_SECRETS = frozenset({Rule.SECRET, Rule.SENDS})
"""Rules by which a person lets a command read secret files."""
LOSES = frozenset({Use.CHANGE, Use.DELETE})


def is_of_system(path: str) -> bool:
    """Return True for a place outside the workspace that holds the system and nothing of the person's."""
    return any(is_within(path, place) for place in _OF_SYSTEM)


def is_of_tools(path: str) -> bool:
    """Return True for a place where builds and package managers put programs, which no sandbox protects from them."""
    return not _OF_TOOLS.isdisjoint(fold_case(path).split("/"))


def is_protected(path: str) -> bool:
    """Return True for a place below a root that a full sandbox protects, because other programs run or obey it."""
    return runs_later(path) and not is_of_tools(path)


def why_not_held(part: Finding, facts: ShellFacts, checked: SandboxChecked, roots: tuple[str, ...]) -> str:
    """Say why a full sandbox does not hold a part of a command; empty if it does."""
    match part.rule:
        case Rule.OUTSIDE:
            # The system and `/tmp`, which is the task's own there, may be seen.
            seen = (one.path for one in part.touches if one.use is not Use.CHANGE and one.path.place is Place.OUTSIDE)
            return "" if all(is_of_system(one.path) or is_within(one.path, "/tmp") for one in seen) else part.reason
        case Rule.LATER:
            return part.reason if any(map(is_of_tools, _list_lost(part))) else ""
        case Rule.NETWORK:
            return part.reason if checked.network else ""
        case Rule.DISCARDS if facts.has_checkpoints and not _list_lost(part):
            return ""  # what git tracks or may clean, as far as no file is named
        case Rule.DISCARDS | Rule.DESTROYS:
            return why_lost(part, facts, roots)
    return "" if part.rule in HELD else part.reason or "it may do what the sandbox does not hold"


def why_lost(part: Finding, facts: ShellFacts, roots: tuple[str, ...]) -> str:
    """Say what a part loses that no checkpoint holds; empty if checkpoints hold all of it."""
    lost = _list_lost(part)
    if not lost or not facts.has_checkpoints:
        return part.reason
    unkept = facts.find_unkept(lost, roots)
    shown = name_some([path.removeprefix(f"{roots[0]}/") for path in unkept])
    return f"{part.reason}, and no checkpoint holds {shown}" if unkept else ""


def _list_lost(part: Finding) -> list[str]:
    return [touch.path.path for touch in part.touches if touch.use in LOSES]


def needs_sandbox(rule: str, approval_mode: ApprovalMode, checked: SandboxChecked) -> bool:
    """Return True if auto mode asks by a rule only because there is no full sandbox."""
    asks = approval_mode is ApprovalMode.AUTO and checked.standing is not SandboxStanding.FULL
    return asks and rule in (Rule.UNKNOWN, Rule.DYNAMIC)


def must_hold(summary: Summary, checked: SandboxChecked) -> str:
    """Describe the sandbox for a call; empty if none is wanted or the call starts no command."""
    if summary.in_sandbox is None or checked.standing is SandboxStanding.OFF:
        return ""
    if checked.standing is SandboxStanding.NONE:
        return f"not sandboxed ({'; '.join(checked.lacks)})"
    if not summary.in_sandbox:
        return "outside the sandbox"
    if checked.standing is SandboxStanding.PARTIAL:
        return f"in a sandbox with gaps ({'; '.join(checked.lacks)})"
    return "in the sandbox"
