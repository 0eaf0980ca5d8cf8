"""`/model` and `/effort`: show or change the model of this task, and its reasoning effort."""

from collections.abc import Sequence

from halocline.client import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Effort
from halocline.surfaces.figures import model_name
from halocline.surfaces.row_words import describe_effort
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

DEFAULT = "default"
ANEW = "The next request may miss the provider's cache."


async def answer_effort(context: SlashContext, rest: str) -> SlashAnswer:
    """A change is shown by its event, its cost here."""
    client, task = context.client, context.task
    state = client.state(task)
    known = client.models.efforts(state.model.name, state.plan.mode)
    if not known.levels:
        return f"{model_name(state.model.name)} has no effort levels."
    listed = ", ".join((*known.levels, DEFAULT))
    if not rest:
        own = describe_effort(state.model.effort, state.model.thinking_budget)
        usual = describe_effort(known.usual, known.usual_budget) or "left to the model"
        now = f"The effort in this task is {own}." if own else f"The effort is from the settings: {usual}."
        return f"{now} To change it: /effort with {listed}, or a number of tokens."
    if rest.isdecimal():
        change = cmd.SetEffort(task=task, budget=min(int(rest), 1_000_000))
    elif rest == DEFAULT or rest in known.levels:
        change = cmd.SetEffort(task=task, effort=None if rest == DEFAULT else Effort(rest))
    else:
        return f"{model_name(state.model.name)} has no effort {rest!r}. Use {listed}, or a number of tokens."
    if (change.effort, change.budget) == (state.model.effort, state.model.thinking_budget):
        return "The effort is already set to that."
    client.send(change)
    return ANEW if state.budget.steps else ""


async def answer_model(context: SlashContext, rest: str) -> SlashAnswer:
    before = context.client.state(context.task).model.name
    if rest:
        await context.client.change_model(context.task, rest)
        if context.client.state(context.task).model.name != before:
            return "\n".join(context.client.remarks(context.task))
    return f"The model is {model_name(before)}. To change it: /model PROVIDER/NAME"


async def complete_model(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    if given:
        return {}
    return {
        model.name: model.title for model in await client.models.list_models() if model.usable and not model.leaving
    }


async def complete_effort(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    state = client.state(task)
    return (
        {} if given else dict.fromkeys((*client.models.efforts(state.model.name, state.plan.mode).levels, DEFAULT), "")
    )
