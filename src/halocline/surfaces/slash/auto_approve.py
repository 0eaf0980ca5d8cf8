"""`/auto-approve`: show which kinds of actions run without approval, and switch each of them."""

import asyncio
from collections.abc import Sequence

from halocline.client.policy import SWITCH_MEANINGS, SWITCH_WORDS, PolicyService, SwitchStatus, summarize_switch
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalSwitch, allows_more
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashView, ask_yes_no

STANDS = {**{word: on for on, word in SWITCH_WORDS.items()}, "ask": False}
KEEP = "keep"
USAGE = "To change one in this task: /auto-approve NAME on|ask|mode; for new tasks too: /auto-approve NAME on keep"
NOW = {"allow": "allowed", "ask": "asks", "deny": "denied"}
_SET = {True: "on", False: "ask", None: "by approval mode"}


async def answer_auto_approve(context: SlashContext, rest: str) -> SlashAnswer:
    """A change is shown by its event."""
    client, task = context.client, context.task
    all = await asyncio.to_thread(PolicyService.open().switches, client.state(task))
    named = {one.switch.value: one for one in all}
    match rest.replace("-", "_").split():
        case []:
            return "\n".join([summarize_switch(all), *map(_switch_line, all), USAGE])
        case [name, *_] if name not in named:
            return f"Unknown switch {name!r}. Use one of: {', '.join(named)}."
        case [name, word, *more] if word in STANDS and more in ([], [KEEP]):
            return await _change_switch(named[name], STANDS[word], client, task, context.view, keep=bool(more))
    return USAGE


async def complete_auto_approve(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    if not given:
        return {f"{switch} ": SWITCH_MEANINGS[switch][0] for switch in ApprovalSwitch}
    return dict.fromkeys(("on", "ask", "mode") if len(given) == 1 else (), "")


async def _change_switch(
    one: SwitchStatus, on: bool | None, client: Client, task: str, view: SlashView, *, keep: bool
) -> str:
    if allows_more(on, one.on) and not await _confirm_switch(one, on, view):
        return f"{one.switch} is unchanged: {_SET[one.on]}"
    client.send(cmd.SetApprovalSwitch(task=task, switch=one.switch, on=on))
    if not keep:
        return "" if client.state(task).turn is None else f"{one.switch}: {_SET[on]}, starting with the next call."
    await asyncio.to_thread(client.settings.put, f"auto_approve.{one.switch}", on)
    return f"Saved for new tasks: auto_approve.{one.switch} in settings.toml."


async def _confirm_switch(one: SwitchStatus, on: bool | None, view: SlashView) -> bool:
    """Ask before a switch that allows more, showing what it covers."""
    yes, no = f"Switch {one.switch} to {SWITCH_WORDS[on]}", "Keep it"
    text = f"{yes}? {one.hint if on else 'The approval mode then decides what needs approval.'}"
    return await ask_yes_no(view, text, yes, no)


def _switch_line(one: SwitchStatus) -> str:
    here = ", in this task" if one.set_here else ""
    return f"  {one.switch:<14} {_SET[one.on] + here:<31} {NOW[one.now]:<8} {one.title}"
