"""`/judge`: the second model that gives approvals by the person's rule; off for this task, or on again."""

import asyncio
from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.surfaces.figures import format_plural
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, ask_yes_no

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
