"""What a person says to a task, as the task gets it: behind the texts of the slash commands in it.

Every prompt passes here, so nothing is imported or looked for unless a slash begins a word.
"""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.protocol.commands import SubmitPrompt
from halocline.protocol.errors import UsageError
from halocline.protocol.events import Noticed
from halocline.protocol.messages import Note, Text
from halocline.runtime.start import offer_tools
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.task.inbox import Content
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.prompts.command_files import Expansion, Words

PROMPT = "/mcp:"
"""How the prompt of an MCP server begins."""


def slash_commands_of(workspace: Path, home: Home, settings: Settings) -> "Words":
    """The slash commands that a workspace has."""
    from halocline.context.user_files.commands import Places
    from halocline.runtime.prompts.command_files import Words

    return Words(Places(workspace, home.root, Path.home()), settings.words_off)


def expand_prompt(task: Task, content: Content, words: Callable[[], "Words"], *, only: bool = False) -> Content:
    """What is said, behind what its words became; the tools that these need are offered from now on.

    With `only`, raises UsageError for a word that is the whole text and that nobody knows.
    """
    text = _first_text(content)
    if not _has_words(text):
        return content
    from halocline.runtime.prompts.slash_commands import Where

    where, known = Where.TERMINAL if task.inbox.can_ask else Where.RUN, words()
    if only:
        known.check(text, where)
    became = known.expanded(text, where)
    offer_tools(task, task.state.offered | became.offers)
    return (*became.notes, *_offer_tool(task, became.tool), *content)


async def expand_prompt_in_thread(
    task: Task, content: Content, words: Callable[[], "Words"], *, only: bool = False
) -> Content:
    """Do as `expand_prompt`, with files read in a thread, and with prompts of MCP servers. Raises UsageError."""
    text = _first_text(content)
    if not _has_words(text):
        return content
    if text.lstrip().startswith(PROMPT):
        from halocline.runtime.prompts.mcp_prompts import expand_mcp_prompt

        return (*await expand_mcp_prompt(task.host.tools.mcp, text), *content)
    from halocline.runtime.prompts.slash_commands import Where

    where = Where.TERMINAL if task.inbox.can_ask else Where.RUN

    def read() -> "Expansion":
        known = words()
        if only:
            known.check(text, where)
        return known.expanded(text, where)

    became = await asyncio.to_thread(read)
    offer_tools(task, task.state.offered | became.offers)
    return (*became.notes, *_offer_tool(task, became.tool), *content)


class Steering:
    """What people say to running turns, while it is still being read what their words became."""

    def __init__(self) -> None:
        self._reading: set[asyncio.Task[Content]] = set()

    def say(self, task: Task, content: Content, words: Callable[[], "Words"], client: str) -> None:
        """Say it, behind what its slash commands became. It answers all that is asked now."""
        is_plain = not _has_words(_first_text(content))
        task.inbox.interject(content if is_plain else self._read(_read_up(task, content, words)), client)

    def say_what_became(self, task: Task, answer: str, words: Callable[[], "Words"]) -> None:
        """Say what the slash commands of an answer became; the answer itself was given."""
        if _has_words(answer):
            task.inbox.steer(self._read(_read_up(task, (Text(answer),), words, alone=False)))

    def _read(self, content: Coroutine[None, None, Content]) -> "asyncio.Task[Content]":
        reading = asyncio.create_task(content)
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        return reading

    async def close(self) -> None:
        """What was not read up yet is not said any more."""
        for reading in self._reading:
            reading.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)


async def _read_up(task: Task, content: Content, words: Callable[[], "Words"], *, alone: bool = True) -> Content:
    """What is said; nothing, and a word to the person, when that cannot be read."""
    try:
        said = await expand_prompt_in_thread(task, content, words)
    except UsageError as error:
        task.emit(Noticed(f"{error.text} It was not sent. {error.hint}".rstrip()))
        return ()
    return said if alone else said[: -len(content)]


async def check_prompt(command: SubmitPrompt, words: Callable[[], "Words"]) -> None:
    """Before it goes to another process: raises UsageError for a prompt that is a word nobody knows."""
    if _has_words(text := _first_text(command.content)):
        from halocline.runtime.prompts.slash_commands import Where

        await asyncio.to_thread(lambda: words().check(text, Where.TERMINAL))


def _first_text(content: Content) -> str:
    return next((part.text for part in content if isinstance(part, Text)), "")


def _has_words(text: str) -> bool:
    return " /" in f" {text.strip()}"


def _offer_tool(task: Task, tool: str) -> tuple[Note, ...]:
    """Offer the tool that a person asks for, and say so to the model."""
    if not tool:
        return ()
    from halocline.context.notes.tool_requests import tool_request

    offer_tools(task, task.state.offered | {tool})
    return (tool_request(tool),)
