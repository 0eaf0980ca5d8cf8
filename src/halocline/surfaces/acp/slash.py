"""Slash commands in an editor: those that are offered, and the answers of those that are not for the model."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from acp import schema

from halocline.client.mcp import list_prompts
from halocline.client.prompts import SLASH_COMMANDS, SlashEntry, SlashPlace
from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import Text, UserPart
from halocline.surfaces.acp.content import make_block, make_message
from halocline.surfaces.acp.person_requests import PersonRequests
from halocline.surfaces.acp.updates import Send
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashDiff, SlashMarkdown, SlashView
from halocline.surfaces.slash.dispatch import answer_command, find_own_command
from halocline.surfaces.slash.lists import list_commands as list_all

COMMANDS_EVERY = 1.0
"""Seconds between two looks at the slash commands. A look takes less than a millisecond."""
DONE = "Done."


def list_commands(client: Client, task: str) -> schema.AvailableCommandsUpdate:
    """Return the commands to offer: all but those that need a session in a terminal."""
    state = client.state(task)
    words = client.words(Path(state.workspace), state.roots, state.prompt.plugins).listed(SlashPlace.TERMINAL)
    offered = [*words, *list_prompts(client.mcp_prompts(task))]
    commands = [_describe_command(entry) for entry in offered if _is_offered(entry.name)]
    return schema.AvailableCommandsUpdate(available_commands=commands, session_update="available_commands_update")


async def send_commands(client: Client, find_task: Callable[[], str], send: Send) -> None:
    """Send the slash commands, and again when files or the prompts of MCP servers change, until this is cancelled."""
    sent: schema.AvailableCommandsUpdate | None = None
    while True:
        with suppress(HaloclineError):  # a file that cannot be read now, or a task between two processes
            if (found := list_commands(client, find_task())) != sent:
                await send(found)
                sent = found
        await asyncio.sleep(COMMANDS_EVERY)


def find_own(content: tuple[UserPart, ...]) -> str:
    """Return a prompt that is a slash command which is answered here; empty for all others."""
    match content:
        case (Text(text=text),) if find_own_command(text):
            return text
    return ""


async def answer(prompt: str, client: Client, task: str, send: Send, requests: PersonRequests) -> SlashAnswer:
    """Answer a slash command that `find_own` has found. An empty answer is a change, whose event says more."""
    row = find_own_command(prompt)
    if row and row.elsewhere:
        return row.elsewhere
    view = _EditorView(send, requests)
    if row and row.name == "help":
        return list_all(SlashContext(client, task, view), _is_offered)
    return await answer_command(prompt, client, task, view)


def show_answer(answer: SlashAnswer) -> schema.AgentMessageChunk:
    """Return an answer as a message. Several lines may have columns, so they keep their spaces."""
    if isinstance(answer, SlashMarkdown):
        return make_message(f"{answer.text}\n")
    text = answer.whole if isinstance(answer, SlashDiff) else str(answer)
    return make_message(f"{make_block(text, 'text')}\n" if "\n" in text else text or DONE)


class _EditorView(SlashView):
    """The view of an answer in an editor. The messages before a question are shown with it."""

    def __init__(self, send: Send, requests: PersonRequests) -> None:
        self._send = send
        self._requests = requests
        self._said: list[str] = []

    def say(self, text: str) -> None:
        self._said.append(text)

    def copy_text(self, text: str) -> str:
        return ""

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        if self._said:
            await self._send(show_answer("\n".join(self._said)))
            self._said.clear()
        return await self._requests.ask_choice(event)


def _is_offered(name: str) -> bool:
    return name not in SLASH_COMMANDS or not SLASH_COMMANDS[name].elsewhere


def _describe_command(entry: SlashEntry) -> schema.AvailableCommand:
    hint = schema.UnstructuredCommandInput(hint=entry.rest)
    return schema.AvailableCommand(
        name=entry.name, description=entry.about, input=schema.AvailableCommandInput(root=hint) if entry.rest else None
    )
