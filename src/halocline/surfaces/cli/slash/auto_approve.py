"""`/auto-approve`: which kinds of acts are done without asking, and a switch for each in this task."""

import asyncio
import time

from halocline.client import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import allows_more
from halocline.runtime.loosening import WORDS
from halocline.services.policy.approval_switches import Standing, summary_of
from halocline.services.policy.rules import PolicyService
from halocline.surfaces.cli.output.view import View

STANDS = {**{word: on for on, word in WORDS.items()}, "ask": False}
KEEP = "keep"
USAGE = "One in this task: /auto-approve NAME on|ask|mode; for new tasks too: /auto-approve NAME on keep"
NOW = {"allow": "allowed", "ask": "asks", "deny": "refused"}
_SET = {True: "on", False: "ask", None: "as the mode says"}


async def answer_auto_approve(rest: str, client: Client, task: str, view: View) -> str:
    """What is said to `/auto-approve` with this behind it; a change is told by its event."""
    all = await asyncio.to_thread(PolicyService.open().switches, client.state(task))
    named = {one.switch.value: one for one in all}
    match rest.replace("-", "_").split():
        case []:
            return "\n".join([summary_of(all), *map(_switch_line, all), USAGE])
        case [name, *_] if name not in named:
            return f"There is no switch {name!r}. There are {', '.join(named)}."
        case [name, word, *more] if word in STANDS and more in ([], [KEEP]):
            return await _change_switch(named[name], STANDS[word], client, task, view, keep=bool(more))
    return USAGE


async def _change_switch(one: Standing, on: bool | None, client: Client, task: str, view: View, *, keep: bool) -> str:
    if allows_more(on, one.on) and not await _confirm_switch(one, on, view):
        return f"{one.switch} stays as it is: {_SET[one.on]}"
    client.send(cmd.SetApprovalSwitch(task=task, switch=one.switch, on=on))
    if not keep:
        return "" if client.state(task).turn is None else f"{one.switch}: {_SET[on]}, from the next call on."
    await asyncio.to_thread(client.settings.put, f"auto_approve.{one.switch}", on)
    return f"New tasks begin with it: auto_approve.{one.switch} in settings.toml."


async def _confirm_switch(one: Standing, on: bool | None, view: View) -> bool:
    """A switch that asks less is confirmed, by one who read what it covers."""
    yes, no = f"Switch {one.switch} to {WORDS[on]}", "Leave it"
    text = f"{yes}? {one.hint if on else 'Then the approval mode says what is asked about.'}"
    asked = ev.QuestionAsked(f"switch {time.monotonic_ns()}", text, (yes, no))
    return await view.ask_question(asked) == yes


def _switch_line(one: Standing) -> str:
    here = ", in this task" if one.set_here else ""
    return f"  {one.switch:<14} {_SET[one.on] + here:<31} {NOW[one.now]:<8} {one.title}"
