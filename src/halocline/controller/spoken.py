"""What a person says to a task, as the task gets it: behind the texts of the words with a slash in it.

Every prompt passes here, so nothing is imported or looked for unless a slash begins a word.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.controller.opening import offer
from halocline.protocol.commands import AnyCommand, SubmitPrompt
from halocline.protocol.messages import Note, Text
from halocline.store.paths import Home
from halocline.store.settings import Settings
from halocline.task.inbox import Content
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.controller.words import Words


def words_of(workspace: Path, home: Home, settings: Settings) -> "Words":
    """The words with a slash that a workspace has."""
    from halocline.context.word_files import Places
    from halocline.controller.words import Words

    return Words(Places(workspace, home.root, Path.home()), settings.words_off)


def spoken(task: Task, content: Content, words: Callable[[], "Words"], *, only: bool = False) -> Content:
    """What is said, behind what its words became; the tools that these need are offered from now on.

    With `only`, raises UsageError for a word that is the whole text and that nobody knows.
    """
    text = _text(content)
    if not _has_words(text):
        return content
    from halocline.controller.slash import Where

    where, known = Where.TERMINAL if task.inbox.can_ask else Where.RUN, words()
    if only:
        known.check(text, where)
    became = known.expanded(text, where)
    offer(task, task.state.offered | became.offers)
    return (*became.notes, *_wanted(task, became.tool), *content)


def check(command: AnyCommand, words: Callable[[], "Words"]) -> None:
    """Before it goes to another process: raises UsageError for a prompt that is a word nobody knows."""
    if not isinstance(command, SubmitPrompt) or command.verbatim:
        return
    if _has_words(text := _text(command.content)):
        from halocline.controller.slash import Where

        words().check(text, Where.TERMINAL)


def _text(content: Content) -> str:
    return next((part.text for part in content if isinstance(part, Text)), "")


def _has_words(text: str) -> bool:
    return " /" in f" {text.strip()}"


def _wanted(task: Task, tool: str) -> tuple[Note, ...]:
    """Offer the tool that a person asks for, and say so to the model."""
    if not tool:
        return ()
    from halocline.context.tool_requests import tool_request

    offer(task, task.state.offered | {tool})
    return (tool_request(tool),)
