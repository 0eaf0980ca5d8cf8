"""Context updates: events that inform the model just before a request. Exported by `events`.

Their `content` is added to the conversation.
"""

from halocline.protocol.events.durable import Durable
from halocline.protocol.kinds import Todo
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


class ChangedFile(Value, frozen=True):
    """A file that differs from what the model knows. `by` is the task's own command that ran then, if any.

    `restored`: a person took changes back with `/undo` or another restore.
    """

    path: str
    content: str | None
    by: str = ""
    restored: bool = False


class TodosChanged(Durable, frozen=True):
    """The to-do list changed. `by` is model or person; `content` tells the model about a person's changes."""

    todos: tuple[Todo, ...]
    by: str = "model"
    content: tuple[UserPart, ...] = ()


class TodosReminded(Durable, frozen=True):
    """The model was reminded of open to-dos."""

    content: tuple[UserPart, ...]


class FilesChangedOutside(Durable, frozen=True):
    """The model was told that files have changed since it last saw them."""

    files: tuple[ChangedFile, ...]
    content: tuple[UserPart, ...]


class JobsReported(Durable, frozen=True):
    """The model was told what its background jobs did since the last report."""

    content: tuple[UserPart, ...]


class DiagnosticsReported(Durable, frozen=True):
    """The model got errors in code, found too late for the edit's result or requested with `@problems`."""

    content: tuple[UserPart, ...]


class EnvironmentReported(Durable, frozen=True):
    """The model was told in the middle of a turn what changed: the mode, how full its window is."""

    content: tuple[UserPart, ...]


class TurnResumed(Durable, frozen=True):
    """Another process resumed a turn whose process died while it waited for your answer.

    The pending questions and approvals are void and will be asked again. `content` tells the model about the
    interruption, once the pending calls have ended.
    """

    content: tuple[UserPart, ...] = ()
