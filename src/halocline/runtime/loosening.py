"""Commands after which less is asked: those are for whoever sits where the task runs, and are confirmed there."""

from halocline.policy.grid import switches_in, with_switches
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalSwitch, allows_more, is_looser
from halocline.protocol.values import Value
from halocline.task.task import Task

WORDS = {True: "on", False: "off", None: "mode"}
"""The word that a person types for each state of a switch."""


class Loosening(Value, frozen=True):
    """A request to ask less, in words, and the slash command that does the same."""

    what: str
    word: str


def find_loosening(command: cmd.AnyCommand, task: Task) -> Loosening | None:
    """Find what a command would make a task do without asking; None for a command that changes nothing of that."""
    match command:
        case cmd.SetPolicy(approval_mode=mode) if is_looser(mode, task.state.approval_mode):
            return Loosening(f"the approval mode {mode}", f"/approvals {mode}")
        case cmd.SetApprovalSwitch(switch=switch, on=on) if allows_more(on, _find_switch(task, switch)):
            said = f"{switch} {WORDS[on]}"
            return Loosening(f"the approval switch {said}", f"/auto-approve {said}")
    return None


def _find_switch(task: Task, switch: ApprovalSwitch) -> bool | None:
    return switches_in(with_switches(task.host.permissions.book(), task.state.switches))[switch]
