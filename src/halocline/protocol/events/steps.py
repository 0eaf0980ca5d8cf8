"""One step: a request to the model, and its reply while it grows and when it is complete."""

from halocline.protocol.events.durable import Durable, Transient
from halocline.protocol.messages import AssistantMessage, Usage


class StepStarted(Durable, frozen=True):
    """A model request was sent."""

    model: str


class StepRetried(Transient, frozen=True):
    """The request failed and will be retried in `wait` seconds, with `model` if set; discard what was streamed.

    This is retry number `attempt`, out of `most` for this kind of failure (0: unknown). With attempt 0 nothing failed:
    the request waits for its place among those of other tasks. `unbilled`: the server did not take the request that
    failed.
    """

    attempt: int
    wait: float
    cause: str
    model: str = ""
    most: int = 0
    unbilled: bool = False


class UsageReported(Durable, frozen=True):
    """Tokens and cost of the step. `cost` is in US dollars; None if the price is unknown (never 0 for that).

    `first_token` is the time in seconds from the request to the first output of this attempt; None if there was none.
    """

    usage: Usage
    cost: float | None = None
    window: int | None = None
    first_token: float | None = None


class SideQuestionAnswered(Durable, frozen=True):
    """A model answered beside the conversation, which has neither question nor answer: the user, or for an approval.

    `cost` is in US dollars; None if the price is unknown.
    """

    model: str
    usage: Usage = Usage()
    cost: float | None = None


class TextDelta(Transient, frozen=True):
    """New text of a reply. `apart` starts a separate message instead of continuing the last one."""

    text: str
    apart: bool = False


class ThinkingDelta(Transient, frozen=True):
    """New reasoning of a reply."""

    text: str


class AssistantMessageCompleted(Durable, frozen=True):
    """The complete reply of one step."""

    message: AssistantMessage
