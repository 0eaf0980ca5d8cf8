"""Answers slash commands that are not for the model. Answers are shown and never sent to a model.

A row names its functions `module:function`, with the module in this package. An answer takes the context and the text
after the command; completions take the client, the task and the words already given, and return the meaning of each
possible next word.
"""

from halocline.client.prompts import SLASH_COMMANDS, SlashCommand, split_slash_command
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.lazy_functions import SLASH_ANSWERS, load_function
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashView

LATER = "{word} works between turns: answer first, or stop the turn."


def find_own_command(prompt: str) -> SlashCommand | None:
    """Return the slash command at the start of a prompt if it is answered here and not sent to a model."""
    row = SLASH_COMMANDS.get(split_slash_command(prompt)[0])
    return row if row and not row.is_for_the_model else None


async def answer_command(prompt: str, client: Client, task: str, view: SlashView) -> SlashAnswer:
    """Answer a slash command that is ours; during a turn, only those that allow it."""
    name, rest = split_slash_command(prompt)
    row = SLASH_COMMANDS[name]
    if client.state(task).turn is not None and not row.during:
        return LATER.format(word=f"/{name}")
    try:
        answer: SlashAnswer = await load_function(row.answer, SLASH_ANSWERS)(SlashContext(client, task, view), rest)
    except HaloclineError as error:
        return f"{error.text} {error.hint}".rstrip()
    return answer
