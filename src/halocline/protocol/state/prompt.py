"""The model, and what it is given besides the messages."""

from halocline.protocol.events.instructions import ActiveInstruction
from halocline.protocol.messages import Effort
from halocline.protocol.values import Value


class ModelState(Value, frozen=True):
    """The model, with its reasoning effort: a level, or tokens. Neither: as in the settings.

    `window` is its context window in tokens; `limit` is the size that its server turned out to accept. None: unknown.
    """

    name: str = ""
    effort: Effort | None = None
    thinking_budget: int | None = None
    window: int | None = None
    limit: int | None = None


class PromptState(Value, frozen=True):
    """The system prompt, the names of the offered tools, and the rules from files that are in force."""

    system: str = ""
    compact: bool = False
    tools: frozenset[str] = frozenset()
    instructions: tuple[ActiveInstruction, ...] = ()
