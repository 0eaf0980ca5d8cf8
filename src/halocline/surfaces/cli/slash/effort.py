"""`/effort`: how hard the model thinks in this task, what it can be told, and another wish."""

from halocline.client import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Effort
from halocline.surfaces.figures import model_name
from halocline.surfaces.row_words import effort_said

DEFAULT = "default"
ANEW = "The provider may read the conversation anew once, and not from its cache."


def answer_effort(rest: str, client: Client, task: str) -> str:
    """What is said of it; a change is told by its event, and what that costs here."""
    state = client.state(task)
    known = client.efforts(state.model, state.mode)
    if not known.levels:
        return f"{model_name(state.model)} is not told how hard to think."
    listed = ", ".join((*known.levels, DEFAULT))
    if not rest:
        own = effort_said(state.effort, state.thinking_budget)
        usual = effort_said(known.usual, known.usual_budget) or "left to the model"
        now = f"The effort is {own} in this task." if own else f"The effort is as in the settings: {usual}."
        return f"{now} Another one: /effort with {listed}, or a number of tokens."
    if rest.isdecimal():
        wish = cmd.SetEffort(task=task, budget=min(int(rest), 1_000_000))
    elif rest == DEFAULT or rest in known.levels:
        wish = cmd.SetEffort(task=task, effort=None if rest == DEFAULT else Effort(rest))
    else:
        return f"{model_name(state.model)} knows no effort {rest!r}. There are {listed}, or a number of tokens."
    if (wish.effort, wish.budget) == (state.effort, state.thinking_budget):
        return "It is so already."
    client.send(wish)
    return ANEW if state.steps else ""
