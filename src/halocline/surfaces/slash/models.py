"""`/model` and `/effort`: show or change the model of this task, and its reasoning effort."""

from collections.abc import Iterator, Sequence

from halocline.client.models import OfferedModel
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Effort
from halocline.surfaces.figures import format_count, format_money, model_name
from halocline.surfaces.rows.words import describe_effort
from halocline.surfaces.slash.context import IN_USE, SlashAnswer, SlashContext

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
    wanted, _, effort = rest.partition(" ")
    if wanted:
        await _change_model(context, wanted)
        said = await answer_effort(context, effort.strip()) if effort.strip() else ""
        if context.client.state(context.task).model.name != before:
            lines = [*_describe_other_mode(context), *context.client.remarks(context.task)]
            return "\n".join([*lines, *([str(said)] if said else [])])
    return f"The model is {model_name(before)}. To change it: /model PROVIDER/NAME [EFFORT]"


async def _change_model(context: SlashContext, wanted: str) -> None:
    """Switch to another model. Raises UsageError; for a name that a server of the person's may have, it says which."""
    provider, slash, name = wanted.partition("/")
    try:
        await context.client.change_model(context.task, wanted)
    except UsageError as error:
        now = context.client.state(context.task).model
        own = now.name.partition("/")[0]
        if not (slash and name and now.server) or own == provider:
            raise
        hint = f"For a model of the server in use, {now.server}: /model {own}/{name}"
        raise UsageError(error.text, f"{error.hint.rstrip('.')}. {hint}".lstrip(". ")) from error


def _describe_other_mode(context: SlashContext) -> Iterator[str]:
    state = context.client.state(context.task)
    for mode, name in state.model.by_mode.items():
        if mode is not state.plan.mode:
            yield f"This is the model of {state.plan.mode} mode; {mode} mode keeps {model_name(name)}."


async def complete_model(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            now = client.state(task).model.name if client.is_open(task) else ""
            usable = (one for one in await client.models.list_models() if one.usable and not one.leaving)
            offered = {now: IN_USE} | {one.name: describe_model(one) for one in usable if one.name != now}
            return {name: about for name, about in offered.items() if name}
        case [model]:
            return _list_levels(client, task, model)
    return {}


def describe_model(model: OfferedModel) -> str:
    """Title, context window, and dollars per million tokens, as far as they are known."""
    facts = [model.title] if model.title else []
    if model.window:
        facts.append(f"{format_count(model.window)} context")
    if model.input is not None and model.output is not None:
        facts.append(f"{format_money(model.input)} in, {format_money(model.output)} out")
    return " · ".join(facts)


async def complete_effort(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    state = client.state(task)
    levels = {} if given else _list_levels(client, task, state.model.name)
    used = describe_effort(state.model.effort, state.model.thinking_budget) or DEFAULT
    return levels | {level: IN_USE for level in levels if level == used}


def _list_levels(client: Client, task: str, model: str) -> dict[str, str]:
    levels = client.models.efforts(model, client.state(task).plan.mode).levels
    return {**dict.fromkeys(levels, "reasoning effort"), DEFAULT: "as in the settings"} if levels else {}
