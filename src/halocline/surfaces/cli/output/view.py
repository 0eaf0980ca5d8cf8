"""What a conversation looks like: a screen on a terminal, plain text elsewhere, JSON for programs."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec.structs import asdict

from halocline.protocol import codec, events as ev, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.cli.exit_codes import of_error, of_state
from halocline.surfaces.cli.input.decision import Decision
from halocline.surfaces.cli.output.refusals import Refusals, Refused, describe_refusal
from halocline.surfaces.cli.stderr import print_message

if TYPE_CHECKING:
    from halocline.client import Client
    from halocline.surfaces.cli.input.line_input import Prompt

UNANSWERED = "Something needed an approval, nobody was there to give it, and it was not done."
APPROVE = "Allow more with --approval-mode accept-edits, auto or yolo, or start halo on a terminal."


class Result(Value, frozen=True, omit_defaults=False, tag_field="type", tag="result"):
    """The last object of stream-json, and the only one of json.

    `usage` (tokens), `steps` and `cost` (US dollars, null when unknown) are of the whole task, `duration` (seconds) is
    of this run. `structured_output` is the answer when it had to fit a schema, and does. `refused` are the calls
    of this run that were not allowed, each with the rule and the reason.
    """

    task: str
    stop_reason: str
    text: str
    usage: dict[str, int]
    cost: float | None
    steps: int
    duration: float
    exit_code: int
    limit: str = ""
    error: str = ""
    hint: str = ""
    structured_output: JsonObject | None = None
    refused: tuple[Refused, ...] = ()

    @classmethod
    def of(
        cls, state: State, seconds: float, raised: ev.ErrorRaised | None, refused: Sequence[Refused] = ()
    ) -> "Result":
        """How a turn ended; `raised` says what failed in it."""
        end = state.last_end
        return cls(
            task=state.task,
            stop_reason=end.reason.value if end else "",
            text=final_text(state),
            usage=asdict(state.usage),
            cost=None if state.cost is None else round(state.cost, 6),
            steps=state.steps,
            duration=round(seconds, 3),
            exit_code=int(of_state(state)),
            limit=end.limit if end else "",
            error=raised.text if raised else end.text if end else "",
            hint=raised.hint if raised else "",
            structured_output=state.answer,
            refused=tuple(refused),
        )

    @classmethod
    def broken(cls, task: str, error: HaloclineError, seconds: float) -> "Result":
        """The run ended without an end of a turn, or before one began."""
        return cls(
            task=task,
            stop_reason=StopReason.ERROR.value,
            text="",
            usage=asdict(Usage()),
            cost=None,
            steps=0,
            duration=round(seconds, 3),
            exit_code=int(of_error(error)),
            error=error.text,
            hint=error.hint,
        )


def final_output(state: State) -> str:
    """What a program reads: the answer's words, or its JSON alone when a form was asked for, and nothing else then."""
    if state.output_schema is None:
        return final_text(state)
    return "" if state.answer is None else json_output.encode(state.answer).decode()


class Foreign(Value, frozen=True):
    """How results of MCP servers are shown: as Markdown or as they are, whole or only in their beginning."""

    markdown: bool = True
    collapse: bool = True


class View(Protocol):
    """One way to show a conversation.

    `asks` says that it can put questions to a person, `draws` that it shows what is not finished yet.
    """

    asks: bool
    draws: bool

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def recall(self, past: Sequence[ev.DurableEvent]) -> None:
        """What was said before this run."""

    def begin_anew(self) -> None:
        """What is shown next is of another task."""

    def show_foreign(self, shown: Foreign) -> None:
        """How results of MCP servers are shown from now on."""

    def show(self, event: ev.Event) -> None: ...

    def say(self, text: str) -> None:
        """Answer what the person asked of Halocline itself."""

    def result(self, state: State, seconds: float) -> None:
        """The conversation is over."""

    def fail(self, error: HaloclineError) -> None:
        """The run broke off; what it says to a person is printed elsewhere."""

    async def ask_approval(self, event: ev.ApprovalRequested, client: "Client", task: str) -> Decision: ...

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        """The answer; None when the person would rather stop."""

    async def compose(self, client: "Client", task: str) -> "Prompt | None":
        """The person's next prompt for the task and its mode; None when they leave."""

    def expect_prompt(self) -> None:
        """The person ended the turn: a line that they type from now on is the next prompt."""

    def offer_leave(self, leave: Callable[[], object] | None) -> None:
        """A key does this from now on: let what runs go on without waiting for it. None takes the key away."""


class Silent:
    """The start of every view without a person: what a person should know goes to standard error."""

    asks = False
    draws = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def recall(self, past: Sequence[ev.DurableEvent]) -> None:
        return None

    def begin_anew(self) -> None:
        return None

    def show_foreign(self, shown: Foreign) -> None:
        return None

    def show(self, event: ev.Event) -> None:
        match event:
            case ev.Noticed():
                print_message(event.text)
            case ev.StepRetried():
                from halocline.surfaces.figures import describe_retry

                print_message(describe_retry(event))

    def say(self, text: str) -> None:
        print_message(text)

    def fail(self, error: HaloclineError) -> None:
        return None

    async def ask_approval(self, event: ev.ApprovalRequested, client: "Client", task: str) -> Decision:
        raise RuntimeError("nobody is here to ask")

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        raise RuntimeError("nobody is here to ask")

    async def compose(self, client: "Client", task: str) -> "Prompt | None":
        return None

    def expect_prompt(self) -> None:
        return None

    def offer_leave(self, leave: Callable[[], object] | None) -> None:
        return None


class Answer(Silent):
    """`-p`: only the final text on standard output; what went wrong goes to standard error."""

    def __init__(self) -> None:
        self._refusals = Refusals()

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if refused := self._refusals.take(event):
            print_message(describe_refusal(refused))
        if isinstance(event, ev.AnswerRefused):
            print_message("The answer does not fit the schema.", " ".join(event.problems))
        if isinstance(event, ev.ErrorRaised):
            print_message(event.text, event.hint)

    def result(self, state: State, seconds: float) -> None:
        if text := final_output(state):
            print(text, flush=True)
        end = state.last_end
        if end and end.limit:
            print_message(end.text, f"Go on with: halo -r {state.task}")
        elif end and end.reason is StopReason.MAX_TOKENS:
            print_message("The reply was cut off by the output limit.", f"Go on with: halo -r {state.task}")
        elif end and end.reason is StopReason.CANCELLED:
            print_message("Interrupted.", f"Go on with: halo -r {state.task}")
        elif end and end.reason is StopReason.REFUSAL:
            print_message(end.text or "The model refused to answer.")
        elif state.nobody_answered:
            print_message(UNANSWERED, APPROVE)


class Json(Silent):
    """`--output-format json`: one result object."""

    def __init__(self) -> None:
        self._task = ""
        self._raised: ev.ErrorRaised | None = None
        self._refusals = Refusals()
        self._began = time.monotonic()

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if isinstance(event, ev.Durable):
            self._task = event.task
        self._refusals.take(event)
        if isinstance(event, ev.ErrorRaised):
            self._raised = event

    def result(self, state: State, seconds: float) -> None:
        _write_line(json_output.encode(Result.of(state, seconds, self._raised, self._refusals.all)))

    def fail(self, error: HaloclineError) -> None:
        _write_line(json_output.encode(Result.broken(self._task, error, time.monotonic() - self._began)))


class StreamJson(Json):
    """`--output-format stream-json`: the event log itself, one line an event, and the result object last."""

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if isinstance(event, ev.Durable):
            _write_line(codec.encode(event))


def make_view(arguments: argparse.Namespace, *, attended: bool) -> View:
    """The view that the flags and the terminal call for."""
    match arguments.output_format:
        case "json":
            return Json()
        case "stream-json":
            return StreamJson()
    if arguments.print or (arguments.output_schema is not None and not attended):
        return Answer()
    from halocline.surfaces.cli.output.line_mode import LineMode

    return LineMode(attended=attended)


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
