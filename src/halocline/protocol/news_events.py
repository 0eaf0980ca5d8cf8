"""Events that tell the model something unasked, just before a request; part of `events`, where every reader finds them.

What has `content` joins the conversation with it.
"""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.kinds import Todo
from halocline.protocol.messages import UserPart
from halocline.protocol.state.file_knowledge import ChangedFile


class TodosChanged(Durable, frozen=True):
    """The to-do list is this one now. `by` is model or person; `content` tells the model of a person's changes."""

    todos: tuple[Todo, ...]
    by: str = "model"
    content: tuple[UserPart, ...] = ()


class TodosReminded(Durable, frozen=True):
    """The model is reminded of a to-do list with open items."""

    content: tuple[UserPart, ...]


class FilesChangedOutside(Durable, frozen=True):
    """Files are not as the model knows them, and it is told so."""

    files: tuple[ChangedFile, ...]
    content: tuple[UserPart, ...]


class JobsReported(Durable, frozen=True):
    """The model is told what its jobs did since it last heard of them."""

    content: tuple[UserPart, ...]


class DiagnosticsReported(Durable, frozen=True):
    """The model is told of errors in code, found too late for an edit's result or asked for by `@problems`."""

    content: tuple[UserPart, ...]


class EnvironmentReported(Durable, frozen=True):
    """The model is told in the middle of a turn what has changed around it: the mode, how full its window is."""

    content: tuple[UserPart, ...]


class TurnResumed(Durable, frozen=True):
    """Another process goes on with a turn whose own died while a person was asked.

    What was asked is void, and will be asked again. `content` tells the model of the gap, once the calls that wait have
    their answers.
    """

    content: tuple[UserPart, ...] = ()
