"""Slash commands that the page has no view of its own for: the same answers as in a terminal."""

from typing import Any

from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.surfaces.slash.context import SlashDiff, SlashMarkdown, SlashView
from halocline.surfaces.slash.dispatch import answer_command, find_own_command
from halocline.surfaces.web.handlers.handler import OfTask, action
from halocline.surfaces.web.open_tasks import OpenTasks


class TypedCommand(OfTask, frozen=True):
    """A slash command as it was typed."""

    text: str


@action("slash")
async def answer_slash(tasks: OpenTasks, which: TypedCommand) -> dict[str, Any]:
    """Answer a slash command. `markdown`: a model wrote the text; it is plain text otherwise."""
    row = find_own_command(which.text)
    if row is None or row.elsewhere:
        raise UsageError(f"{which.text.split()[0]} does not work in the page.", "Type it in a terminal: halo attach")
    name = tasks.known(which.task)
    await tasks.open(name)
    answer = await answer_command(which.text, tasks.client, name, _SilentView())
    match answer:
        case SlashMarkdown():
            return {"text": answer.text, "markdown": True}
        case SlashDiff():
            return {"text": answer.whole, "markdown": False}
    return {"text": str(answer), "markdown": False}


class _SilentView(SlashView):
    """A view that can show and ask nothing beside the answer, so that nothing is done which needs a question."""

    def say(self, text: str) -> None:
        return None

    def copy_text(self, text: str) -> str:
        return ""

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        return None
