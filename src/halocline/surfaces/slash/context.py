"""The context and the result of an answer to a slash command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halocline.client import Client
from halocline.protocol import events as ev
from halocline.protocol.values import Value

ANEW = "anew"


class LeaveTask(Value, frozen=True):
    """Leave this task: for the task with this ID, for a new one (`anew`), or to quit (empty).

    With `roots` it is the same task, reopened with these folders added.
    """

    to: str = ""
    roots: tuple[str, ...] = ()


class SlashView(Protocol):
    """The view of a surface, as far as answers need it."""

    def say(self, text: str) -> None:
        """Show a message of Halocline itself."""

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        """Ask; None to stop the turn."""


@dataclass(frozen=True, slots=True)
class SlashContext:
    """Context of an answer: the task, and the view that can ask questions."""

    client: Client
    task: str
    view: SlashView

    @property
    def workspace(self) -> Path:
        return Path(self.client.state(self.task).workspace)


SlashAnswer = str | LeaveTask
"""An empty text shows nothing: the event of the change is shown instead."""
