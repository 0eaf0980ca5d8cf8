"""Checkpoints, restores, rewinds and forks; the folders of a task."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.left_out import LeftOut
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


class WorkspaceMoved(Durable, frozen=True):
    """The task continues in `workspace`, to which its folder `former` was renamed. `content` tells the model."""

    workspace: str
    former: str
    content: tuple[UserPart, ...] = ()


class RootsChanged(Durable, frozen=True):
    """The additional folders of the task changed to these. Paths are absolute, with links resolved."""

    roots: tuple[str, ...]


class CheckpointTaken(Durable, frozen=True):
    """The files of the workspace, or of the task's other folder `root`, were saved as `checkpoint`.

    A checkpoint that `is_late` may include changes made after it was requested.
    """

    checkpoint: str
    label: str
    root: str = ""
    is_late: bool = False


class CheckpointFailed(Durable, frozen=True):
    """The files could not be saved, and why. `off`: none are saved any more while the task is open in this process."""

    text: str
    off: bool = False
    root: str = ""


class RootRestored(Value, frozen=True):
    """Another folder of the task, restored together with the workspace."""

    root: str
    checkpoint: str
    undo: str


def brief_target(target: str, length: int = 12) -> str:
    """Shorten a checkpoint's name for display; the name of a snapshot (`TASK@EVENT`) stays whole."""
    return target if "@" in target else target[:length]


class CheckpointRestored(Durable, frozen=True):
    """Files were restored to `checkpoint`; `undo` is the checkpoint of their state before.

    If the files had not been saved and the task's edits were undone one by one, both are snapshots, `TASK@EVENT`. Both
    are empty if a fork only tells its model that its files differ.

    The restore changed the files in `changed`; those in `merged` also keep a person's later edits. All other lists
    name files that it left alone: a person changed those in `yours`; another task, named after the path, those in
    `others`; both the person and the task changed the same lines of those in `conflicts`. Those in `doubtful` changed
    while a command of the task ran and someone else was active. Those in `kept` could not be written or removed, or
    their saved copy is damaged; those in `left_out` are in no checkpoint. `content` is for the model, unless the
    conversation is rewound too. `elsewhere` are the task's other folders; their paths are absolute.
    """

    checkpoint: str
    undo: str
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    yours: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    content: tuple[UserPart, ...] = ()
    elsewhere: tuple[RootRestored, ...] = ()
    others: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class ConversationRestored(Durable, frozen=True):
    """The conversation was rewound to event `to`; the model no longer reads what came after it.

    Nothing is deleted, so this can be undone by another rewind.
    """

    to: int


class TaskForked(Durable, frozen=True):
    """The task was forked: `to` continues from event `point`."""

    to: str
    point: int
