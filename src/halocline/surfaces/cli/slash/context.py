"""The context and the result of an answer to a slash command."""

from dataclasses import dataclass
from pathlib import Path

from halocline.client import Client
from halocline.protocol.values import Value
from halocline.surfaces.cli.output.view import View

ANEW = "anew"


class LeaveTask(Value, frozen=True):
    """Leave this task: for the task with this ID, for a new one (`anew`), or to quit (empty).

    With `roots` it is the same task, reopened with these folders added.
    """

    to: str = ""
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlashContext:
    """Context of an answer: the task, and the view that can ask questions."""

    client: Client
    task: str
    view: View

    @property
    def workspace(self) -> Path:
        return Path(self.client.state(self.task).workspace)


SlashAnswer = str | LeaveTask
"""An empty text shows nothing: the event of the change is shown instead."""
