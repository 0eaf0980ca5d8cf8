"""Messages of a task and their parts, independent of any vendor.

Each provider translates them to its own format. Binary content is never inline: parts hold references to blobs.
"""

from enum import StrEnum

from halocline.protocol.values import JsonObject, Tagged, Value

FINAL_ANSWER = "final_answer"
"""Phase of the text that answers the prompt."""


PASTED, PIPED, PICTURE = "pasted", "piped", "picture"
"""Sources of notes that come from a person: long text that they pasted or piped in, and captions of images."""
CONTINUE = "continue"
"""Source of a note in place of a prompt: a person pressed a button that continues, and typed nothing."""
FILE, FOLDER = "file", "folder"
"""Sources of notes with what a person mentioned."""


class StopReason(StrEnum):
    """Reason why a turn ended; ACP's values, plus `error`."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    ERROR = "error"


class Effort(StrEnum):
    """Reasoning effort, from none to the maximum. The order matters."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Text(Tagged, frozen=True):
    """Text of a person, a model or a tool.

    `phase` is a label from the model's provider (`commentary`, `final_answer`), sent back only to that provider.
    """

    text: str
    phase: str = ""

    @property
    def words(self) -> str:
        """The text as the model reads it."""
        return self.text


FROM_FILES = frozenset({"workflow", "command", "skill"})
"""Sources of notes with the text of a file that a person named by its slash command."""


class Note(Tagged, frozen=True):
    """Text that Halocline adds for the model (environment, reminders); it comes from neither a person nor a tool."""

    text: str
    source: str

    @property
    def words(self) -> str:
        """The text as the model reads it, in a tag that names its source."""
        return f"<{self.source}>\n{self.text}\n</{self.source}>"


class Image(Tagged, frozen=True):
    """An image, as a reference to the blob store."""

    media_type: str
    blob: str


class Thinking(Tagged, frozen=True):
    """Reasoning. `signature` and `redacted` are sent back verbatim, and only to the provider that made them."""

    text: str = ""
    signature: str = ""
    redacted: str = ""
    provider: str = ""


PRINTED, QUOTED = "printed: ", "quoted: "
"""Begin the `malformed` text of a call that the model may only have shown, and of one that it has read."""


class ToolCall(Tagged, frozen=True):
    """A tool call of the model. If its arguments did not parse, `malformed` holds their text and nothing runs."""

    id: str
    name: str
    arguments: JsonObject = {}
    malformed: str = ""


UserPart = Text | Note | Image
AssistantPart = Text | Thinking | ToolCall
ResultPart = Text | Note | Image


class UserMessage(Tagged, frozen=True):
    """A prompt, or a message sent during a turn."""

    content: tuple[UserPart, ...]


class AssistantMessage(Tagged, frozen=True):
    """One reply of a model. `interrupted` means that the user or an error cut it short.

    `refusal` says why the server refused, in one sentence for people; empty when it gave no reason.
    """

    content: tuple[AssistantPart, ...]
    model: str = ""
    stop_reason: StopReason = StopReason.END_TURN
    interrupted: bool = False
    refusal: str = ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.content if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def answer(self) -> str:
        """The text that the model marked as its answer; all text if it marked none."""
        marked = [part.text for part in self.content if isinstance(part, Text) and part.phase == FINAL_ANSWER]
        return "".join(marked) or self.text


class ToolResult(Tagged, frozen=True):
    """Result of one call for the model: the tool's output, then Halocline's notes."""

    call: str
    content: tuple[ResultPart, ...]
    is_error: bool = False

    @property
    def text(self) -> str:
        """All text of the result."""
        return "\n".join(part.words for part in self.content if not isinstance(part, Image))


Message = UserMessage | AssistantMessage | ToolResult


class Usage(Value, frozen=True):
    """Tokens of one request. `input` counts only tokens neither read from nor written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All tokens read and written; `reasoning` is already part of `output`."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )
