"""The files of a task: those the model knows, those that changed, and the checkpoints."""

from collections.abc import Sequence

from msgspec.structs import replace

from halocline.protocol.events.rewind import CheckpointTaken
from halocline.protocol.events.tool_calls import FileChanged
from halocline.protocol.state.file_knowledge import Known, note_written
from halocline.protocol.values import Value


class FilesState(Value, frozen=True):
    """Known and changed files by path, and checkpoints, oldest first."""

    known: Known = {}
    changed: frozenset[str] = frozenset()
    checkpoints: Sequence[CheckpointTaken] = ()

    def after_change(self, event: FileChanged) -> "FilesState":
        changed = self.changed if event.path in self.changed else self.changed | {event.path}
        return replace(self, changed=changed, known=note_written(self.known, event.path, event.before, event.after))
