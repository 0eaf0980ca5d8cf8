"""Commands that reduce approvals. They are only accepted from the terminal where the task runs."""

from halocline.policy.presets import switches_in, with_switches
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalSwitch, allows_more, is_looser
from halocline.protocol.plan_approval import list_commands
from halocline.protocol.values import Value
from halocline.task.task import Task

SWITCH_WORDS = {True: "on", False: "off", None: "mode"}
"""The word to type for each state of a switch."""


class Loosening(Value, frozen=True):
    """A request to reduce approvals, as text, and the slash command that does the same."""

    what: str
    word: str


def find_loosening(command: cmd.AnyCommand, task: Task) -> Loosening | None:
    """Return what a command would allow without asking; None if it does not reduce approvals."""
    match command:
        case cmd.SetPolicy(approval_mode=mode) if is_looser(mode, task.state.permissions.approval_mode):
            return Loosening(f"the approval mode {mode}", f"/approvals {mode}")
        case cmd.SetApprovalSwitch(switch=switch, on=on) if allows_more(on, _find_switch(task, switch)):
            setting = f"{switch} {SWITCH_WORDS[on]}"
            return Loosening(f"the approval switch {setting}", f"/auto-approve {setting}")
        case cmd.SetJudge(on=True) if task.state.permissions.judge_is_off:
            return Loosening("the judge of approvals", "/judge on")
        case cmd.AnswerQuestion():
            switches = list_commands(task.state, command.answer, command.request)
            return next((found for switch in switches if (found := find_loosening(switch, task))), None)
    return None


def _find_switch(task: Task, switch: ApprovalSwitch) -> bool | None:
    return switches_in(with_switches(task.host.permissions.book(), task.state.permissions.switches))[switch]
