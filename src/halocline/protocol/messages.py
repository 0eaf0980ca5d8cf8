"""What is said in a task: parts and messages, in no vendor's words.

Providers translate these at their edge. Binary content is never inline: parts hold references to blobs.
"""

from enum import StrEnum

from halocline.protocol.values import JsonObject, Tagged, Value

FINAL_ANSWER = "final_answer"
"""The phase of the words that answer the prompt."""


PASTED, PIPED, PICTURE = "pasted", "piped", "picture"
"""Sources of notes that are a person's: long texts which they pasted or piped in, and what a picture is."""


class StopReason(StrEnum):
    """Why a turn ended; ACP's words, plus `error`."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    ERROR = "error"


class Effort(StrEnum):
    """How hard a model should think, from not at all to as hard as it can. The order counts."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Text(Tagged, frozen=True):
    """Words of a person, a model or a tool.

    `phase` is what a model's provider said of them (`commentary`, `final_answer`); it goes back to that provider alone.
    """

    text: str
    phase: str = ""

    @property
    def words(self) -> str:
        """What a model reads."""
        return self.text


class Note(Tagged, frozen=True):
    """Words that Halocline adds for the model (environment, reminders); no person typed them and no tool gave them."""

    text: str
    source: str

    @property
    def words(self) -> str:
        """What a model reads: the text in a tag that names its source."""
        return f"<{self.source}>\n{self.text}\n</{self.source}>"


class Image(Tagged, frozen=True):
    """A picture, by reference into the blob store."""

    media_type: str
    blob: str


class Thinking(Tagged, frozen=True):
    """Reasoning. `signature` and `redacted` are replayed verbatim, and only to the provider that made them."""

    text: str = ""
    signature: str = ""
    redacted: str = ""
    provider: str = ""


class ToolCall(Tagged, frozen=True):
    """What the model asked for. When its arguments did not parse, `malformed` holds the text and nothing is run."""

    id: str
    name: str
    arguments: JsonObject = {}
    malformed: str = ""


UserPart = Text | Note | Image
AssistantPart = Text | Thinking | ToolCall
ResultPart = Text | Note | Image


class UserMessage(Tagged, frozen=True):
    """A prompt, or steering sent while a turn ran."""

    content: tuple[UserPart, ...]


class AssistantMessage(Tagged, frozen=True):
    """One reply of a model. `interrupted` says that the reply was cut short by the user or by an error."""

    content: tuple[AssistantPart, ...]
    model: str = ""
    stop_reason: StopReason = StopReason.END_TURN
    interrupted: bool = False

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.content if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def answer(self) -> str:
        """The words that the model marked as its answer; all of them when it marked none."""
        marked = [part.text for part in self.content if isinstance(part, Text) and part.phase == FINAL_ANSWER]
        return "".join(marked) or self.text


class ToolResult(Tagged, frozen=True):
    """What the model hears back for one call: what the tool gave, then what Halocline has to say about it."""

    call: str
    content: tuple[ResultPart, ...]
    is_error: bool = False

    @property
    def text(self) -> str:
        """All of it that is words."""
        return "\n".join(part.words for part in self.content if not isinstance(part, Image))


Message = UserMessage | AssistantMessage | ToolResult


class Usage(Value, frozen=True):
    """Tokens of one request. `input` counts only what was neither read from nor written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Everything the model read and wrote; `reasoning` is already part of `output`."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )
