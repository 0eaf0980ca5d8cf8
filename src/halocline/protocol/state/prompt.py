"""The model, and what it is given besides the messages."""

from collections.abc import Mapping

from msgspec.structs import replace

from halocline.protocol.events.compaction import PicturesLeftOut
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.events.instructions import ActiveInstruction
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.events.settings_changes import ModelChanged
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Effort
from halocline.protocol.values import Value


class ModelState(Value, frozen=True):
    """The model, with its reasoning effort: a level, or tokens. Neither: as in the settings.

    `window` is its context window in tokens; `limit` is the size that its server turned out to accept. None: unknown.
    `by_mode` has the person's choice for each mode, if they differ. `server` is the address that was given for its
    provider; empty: its own. `left_out` has the pictures that a model does not read, and under no name those that none
    reads.
    """

    name: str = ""
    effort: Effort | None = None
    thinking_budget: int | None = None
    window: int | None = None
    limit: int | None = None
    by_mode: Mapping[Mode, str] = {}
    server: str = ""
    left_out: Mapping[str, frozenset[str]] = {}

    @property
    def hidden_pictures(self) -> frozenset[str]:
        """The blobs of the pictures that this model does not read."""
        if not self.left_out:
            return frozenset()
        return self.left_out.get("", frozenset()) | self.left_out.get(self.name, frozenset())

    def without_pictures(self, event: PicturesLeftOut) -> "ModelState":
        """Return the state with more pictures left out."""
        known = self.left_out.get(event.model, frozenset())
        return replace(self, left_out={**self.left_out, event.model: known | set(event.blobs)})

    def after_change(self, event: ModelChanged) -> "ModelState":
        """Return the state with another model, whose limit is unknown."""
        return replace(
            self, name=event.model, window=event.window, limit=None, by_mode=event.by_mode, server=event.server
        )


class PromptState(Value, frozen=True):
    """The system prompt, the names of the offered tools, and the rules from files that are in force.

    `custom_tools` are those that the program brings which runs the task, and those of its `plugins`.
    """

    system: str = ""
    compact: bool = False
    tools: frozenset[str] = frozenset()
    instructions: tuple[ActiveInstruction, ...] = ()
    custom_tools: tuple[CustomTool, ...] = ()
    plugins: tuple[Plugin, ...] = ()
