"""The approval switches of one task, as a person looks at them: how each stands, and what comes of it now."""

from pathlib import Path

from msgspec.structs import replace

from halocline.policy.gate import decide_call
from halocline.policy.grid import switches_in, with_switches
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.kinds import ApprovalSwitch
from halocline.protocol.permission_rules import RuleBook, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.services.policy.rules import GRID
from halocline.task.calls.policy_input import make_policy_context

MEANINGS = {
    ApprovalSwitch.READ: ("read files here", "Files and searches in the folder; never secrets."),
    ApprovalSwitch.READ_OUTSIDE: ("read files elsewhere", "Files of yours outside the folder; never secrets."),
    ApprovalSwitch.EDIT: ("edit files here", "Files in the folder, not those that other programs run or obey."),
    ApprovalSwitch.EDIT_OUTSIDE: (
        "edit files elsewhere",
        "Files outside the folder: checkpoints do not bring them back.",
    ),
    ApprovalSwitch.SAFE_COMMANDS: ("safe commands", "Commands that were found to only read."),
    ApprovalSwitch.ALL_COMMANDS: (
        "all commands",
        "Every command that nothing forbids, also one that reads secrets. They run as you.",
    ),
    ApprovalSwitch.WEB: ("web", "Fetching pages and searching, at any address."),
    ApprovalSwitch.BROWSER: ("browser", "Opening pages and acting on them, at any address."),
    ApprovalSwitch.MCP: ("MCP tools", "Tools that their server declares to only read."),
}
"""Of each switch what it is about, and a hint on what it covers while it is on."""


class Standing(Value, frozen=True, omit_defaults=False):
    """One switch: `on` (None: as the approval mode says), whether this task set it, and what would be said now."""

    switch: ApprovalSwitch
    title: str
    hint: str
    on: bool | None
    set_here: bool
    now: Verdict


def list_standings(state: State, book: RuleBook, home: Path, facts: ShellFacts) -> tuple[Standing, ...]:
    """All switches of a task; `book` has the rules in force, without what was switched in the task."""
    stands = switches_in(with_switches(book, state.switches))
    ground = make_policy_context(replace(state, rules=book), home, facts)
    return tuple(
        Standing(
            switch,
            *MEANINGS[switch],
            stands[switch],
            switch in state.switches,
            decide_call(GRID[switch], ground).verdict,
        )
        for switch in ApprovalSwitch
    )


def summary_of(all: tuple[Standing, ...]) -> str:
    """What is done without asking, in one line."""
    allowed = [one.title for one in all if one.now is Verdict.ALLOW]
    return f"Done without asking: {', '.join(allowed)}." if allowed else "Nothing is done without asking."
