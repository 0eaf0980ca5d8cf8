"""`/mode`, `/approvals` and `/judge`: plan or act, what runs without asking, and who else may give an approval."""

import asyncio
from collections.abc import Callable, Sequence

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalMode, Mode, is_looser
from halocline.protocol.state.state import State
from halocline.surfaces.figures import format_plural
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, ask_yes_no, mark_used


async def answer_mode(context: SlashContext, rest: str) -> SlashAnswer:
    if rest and rest not in tuple(Mode):
        other = f" {rest} is an approval mode: /approvals {rest}" if rest in tuple(ApprovalMode) else ""
        return f"Unknown mode {rest!r}. Use plan or act.{other}"
    return _report_change(context, cmd.SetMode(task=context.task, mode=Mode(rest)) if rest else None, describe_mode)


async def answer_approvals(context: SlashContext, rest: str) -> SlashAnswer:
    if rest and rest not in tuple(ApprovalMode):
        other = f" For {rest} mode: /mode {rest}" if rest in tuple(Mode) else ""
        return f"Unknown approval mode {rest!r}. Use one of: {', '.join(ApprovalMode)}.{other}"
    if rest and not await _confirm_mode(context, ApprovalMode(rest)):
        return f"Approval mode unchanged: {context.client.state(context.task).permissions.approval_mode}"
    change = cmd.SetPolicy(task=context.task, approval_mode=ApprovalMode(rest)) if rest else None
    return _report_change(context, change, _describe_approval_mode)


LOOSER = {
    ApprovalMode.ACCEPT_EDITS: "Edits files in the folder without approval, but asks before commands.",
    ApprovalMode.AUTO: "Edits the folder without approval, and runs commands in a full sandbox; asks about the rest.",
    ApprovalMode.YOLO: "Hardly ever asks. Every command runs with your permissions, and checkpoints can restore only "
    "files in the folder.",
}
"""Confirmation texts for modes that ask less."""


async def _confirm_mode(context: SlashContext, mode: ApprovalMode) -> bool:
    """Ask before switching to a mode that asks less, showing what it means."""
    if not is_looser(mode, context.client.state(context.task).permissions.approval_mode):
        return True
    yes, no = f"Switch to {mode}", "Keep it"
    text = f"Switch to {mode}? {LOOSER[mode]}"
    return await ask_yes_no(context.view, text, yes, no)


AGENTS_STAY = " Agents that run stay in their own mode: what they ask is still yours to decide."


def describe_mode(state: State) -> str:
    """Say the mode, and of plan mode whom it does not reach."""
    others = state.plan.mode is Mode.PLAN and state.subagents.running
    return f"The mode is {state.plan.mode}.{AGENTS_STAY if others else ''}"


def _describe_approval_mode(state: State) -> str:
    return f"The approval mode is {state.permissions.approval_mode}."


def _report_change(context: SlashContext, command: cmd.AnyCommand | None, describe: Callable[[State], str]) -> str:
    """Report a change; between turns its event is shown instead."""
    before = context.client.state(context.task)
    if command:
        context.client.send(command)
    state = context.client.state(context.task)
    is_shown = state.seq > before.seq and state.turn is None
    return "" if is_shown else describe(state)


async def answer_plan(context: SlashContext, rest: str) -> SlashAnswer:
    return await answer_mode(context, Mode.PLAN)


async def complete_mode(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else mark_used(Mode, client.state(task).plan.mode)


async def complete_approvals(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else mark_used(ApprovalMode, client.state(task).permissions.approval_mode)


NO_JUDGE = "There is no judge of approvals. It needs judge.model and judge.rule in settings.toml, and a new task."


async def answer_judge(context: SlashContext, rest: str) -> SlashAnswer:
    """A change is shown by its event."""
    client, stands = context.client, context.client.state(context.task).permissions
    model, rule = await asyncio.to_thread(_read_rule, client)
    if not (model and rule):
        return NO_JUDGE
    match rest.split():
        case []:
            state = "off in this task" if stands.judge_is_off else "on"
            counts = (
                f"It looked at {format_plural(stands.judged, 'approval')} of this task and gave {stands.judge_allowed}."
            )
            return f"The judge of approvals is {state}: {model}. {counts}\nYour rule: {rule}"
        case ["on" | "off" as word]:
            if word == "on" and stands.judge_is_off and not await _confirm_judge(context, model):
                return "The judge stays off."
            client.send(cmd.SetJudge(task=context.task, on=word == "on"))
            return "" if client.state(context.task).turn is None else f"The judge is {word}, from the next call on."
    return "To turn the judge off for this task, or on again: /judge off, /judge on"


async def complete_judge(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else dict.fromkeys(("on", "off"), "")


async def _confirm_judge(context: SlashContext, model: str) -> bool:
    text = f"Let {model} give approvals by your rule again, without asking you?"
    return await ask_yes_no(context.view, text, "Turn it on", "Leave it off")


def _read_rule(client: Client) -> tuple[str, str]:
    rows = {row.name: str(row.value).strip() for row in client.settings.find("judge")}
    return rows.get("judge.model", ""), rows.get("judge.rule", "")
