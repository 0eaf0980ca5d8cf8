"""Expand prompts: the texts of the slash commands in a prompt go ahead of it.

Every prompt passes through here, so nothing is imported or searched unless a word begins with a slash.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from halocline.protocol.commands import SubmitPrompt
from halocline.protocol.errors import UsageError
from halocline.protocol.events import Noticed
from halocline.protocol.messages import Note, Text
from halocline.protocol.waiting import end_tasks
from halocline.runtime.open_task import offer_tools
from halocline.task.inbox import Content
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.prompts.command_files import Expansion, SlashEntries

PROMPT = "/mcp:"
"""Prefix of a prompt from an MCP server."""


def expand_prompt(task: Task, content: Content, words: Callable[[], "SlashEntries"], *, only: bool = False) -> Content:
    """Return a prompt with its slash commands expanded ahead of it; offer the tools they need from now on.

    With `only`, raises UsageError if the whole text is an unknown slash command.
    """
    text = _first_text(content)
    if not _has_words(text):
        return content
    expansion = words().expand_prompt(text, can_ask=task.inbox.can_ask, only=only)
    return (*_offer_and_note(task, expansion), *content)


async def expand_prompt_in_thread(
    task: Task, content: Content, words: Callable[[], "SlashEntries"], *, only: bool = False
) -> Content:
    """Expand a prompt like `expand_prompt`, but read files in a thread, and support MCP prompts. Raises UsageError."""
    require_words(content)
    text = _first_text(content)
    if not _has_words(text):
        return content
    if text.lstrip().startswith(PROMPT):
        from halocline.runtime.prompts.mcp_prompts import expand_mcp_prompt

        return (*await expand_mcp_prompt(task.host.tools.mcp, text), *content)
    can_ask = task.inbox.can_ask
    expansion = await asyncio.to_thread(lambda: words().expand_prompt(text, can_ask=can_ask, only=only))
    return (*_offer_and_note(task, expansion), *content)


class AnswerNotes:
    """The texts of slash commands in answers, for turns that wait for them."""

    def __init__(self) -> None:
        self._reading: set[asyncio.Task[Content]] = set()

    def add(self, task: Task, answer: str, words: Callable[[], "SlashEntries"]) -> None:
        """Send the expanded slash commands of an answer; the answer itself was already given."""
        if _has_words(answer):
            task.inbox.queue.add_note(self._read(_expand_answer(task, (Text(answer),), words)))

    def _read(self, content: Coroutine[None, None, Content]) -> "asyncio.Task[Content]":
        reading = asyncio.create_task(content)
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        return reading

    async def close(self) -> None:
        """Drop what is still being read."""
        await end_tasks(*self._reading)


async def _expand_answer(task: Task, content: Content, words: Callable[[], "SlashEntries"]) -> Content:
    """Return the notes for an answer's slash commands; on failure nothing, and notify the person."""
    try:
        expanded = await expand_prompt_in_thread(task, content, words)
    except UsageError as error:
        task.emit(Noticed(f"{error.text} {error.hint}".rstrip()))
        return ()
    return expanded[: -len(content)]


def require_words(content: Content) -> None:
    """Raise UsageError for an empty prompt or message: some servers refuse the request of its turn."""
    if not any(not isinstance(part, Text) or part.text.strip() for part in content):
        raise UsageError("The message is empty.", "Give it text, or an image.")


async def check_prompt(command: SubmitPrompt, words: Callable[[], "SlashEntries"]) -> None:
    """Raise UsageError if a prompt for another process is an unknown slash command, or empty."""
    require_words(command.content)
    if _has_words(text := _first_text(command.content)):
        await asyncio.to_thread(lambda: words().check(text))


def _first_text(content: Content) -> str:
    return next((part.text for part in content if isinstance(part, Text)), "")


def _has_words(text: str) -> bool:
    return " /" in f" {text.strip()}"


def _offer_and_note(task: Task, expansion: "Expansion") -> tuple[Note, ...]:
    """Offer the tools that an expansion needs, and the one that a person asks for; return its notes."""
    offer_tools(task, task.state.prompt.tools | expansion.offers)
    if expansion.tool:
        offer_tools(task, task.state.prompt.tools | {expansion.tool})
    return (*expansion.notes, *expansion.request)
