"""`/effort`: show or change the reasoning effort in this task."""

from halocline.client import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Effort
from halocline.surfaces.figures import model_name
from halocline.surfaces.row_words import describe_effort

DEFAULT = "default"
ANEW = "The next request may miss the provider's cache."


def answer_effort(rest: str, client: Client, task: str) -> str:
    """Answer `/effort`; a change is shown by its event, its cost here."""
    state = client.state(task)
    known = client.efforts(state.model.name, state.plan.mode)
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
