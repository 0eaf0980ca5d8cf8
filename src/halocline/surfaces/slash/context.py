"""The context and the result of an answer to a slash command."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from halocline.client.tasks import Client
from halocline.client.themes import Theme
from halocline.protocol import events as ev
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value

ANEW = "anew"
IN_USE = "in use"
"""The beginning of the meaning of the value that counts now, in a list of values."""
_OWN, _YES_NO = "halocline ", "halocline yes or no "
"""How the requests of Halocline's own questions begin."""


class LeaveTask(Value, frozen=True):
    """Leave this task: for the task with this ID, for a new one (`anew`), or to quit (empty).

    With `roots` it is the same task, reopened with these folders added.
    """

    to: str = ""
    roots: tuple[str, ...] = ()


class SlashDiff(Value, frozen=True):
    """Changes to show, below a text that sums them up."""

    text: str
    diffs: tuple[Diff, ...]

    @property
    def whole(self) -> str:
        """The same as plain text."""
        return "\n".join([self.text, *(diff.text.removesuffix("\n") for diff in self.diffs)])


class SlashMarkdown(Value, frozen=True):
    """An answer in Markdown, which a model wrote."""

    text: str


class SlashPrompt(Value, frozen=True):
    """A prompt to rewrite: it goes into the composer. The text says why."""

    prompt: str
    text: str


class SlashTheme(Value, frozen=True):
    """Draw with a theme from now on, and say so."""

    theme: Theme
    text: str


class SlashView(Protocol):
    """The view of a surface, as far as answers need it."""

    def say(self, text: str) -> None:
        """Show a message of Halocline itself."""

    def copy_text(self, text: str) -> str:
        """Copy a text to the terminal's clipboard. Returns what it was copied with; empty if there is none."""

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        """Ask; None to stop the turn."""

    async def ask_line(self, label: str, *, secret: bool = False) -> str | None:
        """Ask for a line, typed unseen and kept nowhere if it is `secret`; None when the person went back."""
        return None


class SlashContext(Value, frozen=True):
    """Context of an answer: the task, and the view that can ask questions."""

    client: Client
    task: str
    view: SlashView

    @property
    def workspace(self) -> Path:
        return Path(self.client.state(self.task).workspace)


def mark_used(values: Iterable[str], used: str) -> dict[str, str]:
    """List values without meanings, with a mark at the one that counts now."""
    return {value: IN_USE if value == used else "" for value in values}


async def ask_choice(view: SlashView, question: str, options: Sequence[str]) -> str | None:
    """Ask a question of Halocline's own, which takes only its options; None when the person went back."""
    return await view.ask_question(ev.QuestionAsked(f"{_OWN}{time.monotonic_ns()}", question, tuple(options)))


async def ask_yes_no(view: SlashView, question: str, yes: str, no: str) -> bool:
    """Ask whether to do something; `yes` and `no` say what each answer means."""
    return await view.ask_question(ev.QuestionAsked(f"{_YES_NO}{time.monotonic_ns()}", question, (yes, no))) == yes


def is_own_question(event: ev.QuestionAsked) -> bool:
    """True for a question of Halocline's own, whose answer no model reads."""
    return event.request.startswith(_OWN)


def is_yes_no(event: ev.QuestionAsked) -> bool:
    """True for a question of Halocline's own whose options mean yes and no."""
    return event.request.startswith(_YES_NO)


SlashAnswer = str | LeaveTask | SlashDiff | SlashMarkdown | SlashPrompt | SlashTheme
"""An empty text shows nothing: the event of the change is shown instead."""
