"""Commands that take effect at once on an open task. The controller handles prompts and slow ones itself."""

from contextlib import suppress

from msgspec.structs import replace

from halocline.policy.gate import decide_call
from halocline.protocol import commands as cmd
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import (
    ApprovalSwitched,
    EffortChanged,
    GrantTakenBack,
    JudgeSwitched,
    PicturesLeftOut,
    PolicyChanged,
    TaskLabelled,
)
from halocline.protocol.kinds import COMMAND_TOOL, Choice, Mode
from halocline.protocol.messages import Image
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.plan_approval import list_commands
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.open_task import OpenTask
from halocline.runtime.start import EFFORTS, require_mode, set_goal, switch_mode
from halocline.task.inbox import InboxRequest
from halocline.task.task import Task

PLANS_NOW = "This is plan mode now: plan, and change nothing."
"""The reason of a refusal by the switch to plan mode."""


def apply_command(opened: OpenTask, command: cmd.AnyCommand, assembly: Assembly) -> bool:
    """Apply a command. Return False if it came too late: nothing waits for it any more. Raises UsageError."""
    task = opened.task
    require_permitted(command, assembly)
    match command:
        case cmd.Interrupt(turn=turn):
            task.inbox.interrupt_turn(task.state.turn, turn)
        case cmd.RetryNow():
            return opened.model.ask_now()
        case cmd.ResolveApproval():
            return task.inbox.resolve(command)
        case cmd.AnswerQuestion():
            return _answer_question(opened, command, assembly)
        case cmd.SetMode(mode=mode, client=client):
            switch_mode(task, mode, opened.model.names, assembly)
            _refuse_denied(task, client)
        case cmd.SetPolicy() | cmd.SetApprovalSwitch() | cmd.SetJudge() | cmd.TakeBack():
            return _change_permissions(task, command)
        case cmd.SetEffort(effort=effort, budget=budget):
            if (effort, budget) != (task.state.model.effort, task.state.model.thinking_budget):
                task.emit(EffortChanged(effort=effort, budget=budget))
        case cmd.SetGoal():
            set_goal(task, command)
        case cmd.Compact() | cmd.DropPictures():
            return _shrink_context(task, command)
        case cmd.RunCommand() | cmd.StopCommand():
            return opened.own_commands().take(command)
        case cmd.LeaveRunning(run=run):
            return opened.own_commands().take(command) if run else _move_to_background(task)
        case cmd.StopHook(run=run):
            return task.host.hooks is not None and task.host.hooks.stop(run)
        case cmd.Label(name=name, tags=tags, favourite=favourite):
            task.emit(TaskLabelled(name=name, tags=tags, favourite=favourite))
        case cmd.CloseTask():
            task.inbox.close()
    return True


def require_permitted(command: cmd.AnyCommand, assembly: Assembly) -> None:
    """Raise UsageError for a command that would lift what the administrator set."""
    match command:
        case cmd.SetPolicy(approval_mode=mode):
            require_mode(mode, assembly)
        case cmd.SetApprovalSwitch(switch=switch, on=on):
            assembly.managed.refuse_change(f"auto_approve.{switch}", "mode" if on is None else on)
        case cmd.SetEffort(effort=effort, budget=budget):
            for name, value in zip(EFFORTS, (effort, budget), strict=True):
                if assembly.managed.rows.get(name) != value:
                    assembly.managed.refuse_change(name, value or "")


def _refuse_denied(task: Task, client: str) -> None:
    """Refuse what waits for a decision that the mode forbids now: no later *yes* may change files in plan mode.

    So is all that agents of the task wait for. They stay in their own mode: what they ask later is the person's again.
    """
    state, calls = task.state, task.tool_calls
    asked = {one.call: one.request for one in state.pending.approvals}
    for one in state.pending.approvals if state.plan.mode is Mode.PLAN else ():
        if one.agent:
            _refuse(task, client, one.request)
    for call in (opened.call for opened in state.pending.calls if opened.call.id in asked):
        with suppress(ToolFailure):
            summary = calls.admission.parse_call(call, state.last_message.model).summary
            if decide_call(summary, calls.contexts.known_policy()).verdict is Verdict.DENY:
                _refuse(task, client, asked[call.id])


def _refuse(task: Task, client: str, request: str) -> None:
    refusal = cmd.ResolveApproval(
        task=task.state.task, client=client, request=request, decision=Choice.REJECT_ONCE, note=PLANS_NOW
    )
    task.inbox.resolve(refusal)


def _change_permissions(task: Task, command: cmd.AnyCommand) -> bool:
    stands = task.state.permissions
    match command:
        case cmd.SetPolicy(approval_mode=approval_mode, client=client):
            task.emit(PolicyChanged(approval_mode=approval_mode, client=client))
        case cmd.SetApprovalSwitch(switch=kind, on=on, client=client) if (kind, on) not in stands.switches.items():
            task.emit(ApprovalSwitched(switch=kind, on=on, client=client))
        case cmd.SetJudge(on=on, client=client) if on is stands.judge_is_off:
            task.emit(JudgeSwitched(on=on, client=client))
        case cmd.TakeBack(grant=grant, client=client):
            if grant not in stands.grants:
                return False
            task.emit(GrantTakenBack(grant=grant, client=client))
    return True


def _shrink_context(task: Task, command: cmd.Compact | cmd.DropPictures) -> bool:
    """Ask for a compaction, or take out the pictures that the model still reads; False if there are none."""
    if isinstance(command, cmd.Compact):
        task.inbox.queue_request(InboxRequest(command.focus, command.undo))
        return True
    visible = task.context.visible(task.state)
    if blobs := {part.blob for message in visible for part in message.content if isinstance(part, Image)}:
        task.emit(PicturesLeftOut(blobs=tuple(sorted(blobs))))
    return bool(blobs)


def _move_to_background(task: Task) -> bool:
    """Move the running command to the background, or the next one of this reply as soon as it runs."""
    calls = (opened.call for opened in task.state.pending.calls)
    return task.host.tools.shell.leave(next((call.id for call in calls if call.name == COMMAND_TOOL), ""))


def _answer_question(opened: OpenTask, command: cmd.AnswerQuestion, assembly: Assembly) -> bool:
    """Deliver an answer. One that approves a plan switches the modes before the model reads it."""
    switches = list_commands(opened.task.state, command.answer, command.request)
    for switch in switches:
        require_permitted(switch, assembly)
    if not opened.task.inbox.reply(command):
        return False
    for switch in switches:
        apply_command(opened, replace(switch, client=command.client), assembly)
    return True
