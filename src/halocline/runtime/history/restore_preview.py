"""Preview a rewind before anyone confirms it: a query that changes nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.checkpoints.restore.restore import RestorePlan
from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent, ToolCallStarted
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import AssistantMessage, UserMessage
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.runtime.history.actions import TaskHistory


class RestorePreview(Value, frozen=True, omit_defaults=False):
    """Effect of a rewind. `plan` is for the files; if it is None, `unsaved` says why they cannot be restored.

    `messages` counts the prompts and replies that the model would no longer see. `commands` ran since then, oldest
    first: their effects outside the files stay.
    """

    plan: RestorePlan | None
    unsaved: str
    messages: int
    commands: tuple[str, ...]


async def preview_restore(
    time: "TaskHistory", past: Sequence[DurableEvent], task: str, to: int, *, overwrite: bool
) -> RestorePreview:
    """Return what a rewind to just after event `to` would do now. Raises UsageError and HaloclineError."""
    then = time.at(task, to)
    plan, unsaved = None, ""
    try:
        plan = await time.plan(Path(then.state.workspace), f"{task}@{to}", overwrite=overwrite)
    except UsageError as error:
        unsaved = error.text
    lost = fold_events(past).messages[len(then.state.messages) :]
    messages = sum(isinstance(message, UserMessage | AssistantMessage) for message in lost)
    return RestorePreview(plan, unsaved, messages, tuple(_list_commands(past, to)))


def _list_commands(past: Sequence[DurableEvent], since: int) -> list[str]:
    return [
        event.title
        for event in past
        if isinstance(event, ToolCallStarted) and event.seq > since and event.kind is ToolKind.EXECUTE
    ]
