"""What a conversation looks like: a screen on a terminal, plain text elsewhere, JSON for programs."""

import argparse
import sys
from types import TracebackType
from typing import Protocol, Self

import msgspec

from halocline.controller.client import Client
from halocline.protocol import codec
from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.state import State
from halocline.protocol.values import Value
from halocline.surfaces.cli.decision import Decision
from halocline.surfaces.cli.exit_codes import of_state


class Result(Value, frozen=True, omit_defaults=False, tag_field="type", tag="result"):
    """The last object of stream-json, and the only one of json. `duration` is in seconds, `cost` in US dollars."""

    task: str
    stop_reason: str
    text: str
    usage: Usage
    cost: float | None
    steps: int
    duration: float
    exit_code: int
    limit: str = ""
    error: str = ""

    @classmethod
    def of(cls, state: State, seconds: float, error: str) -> "Result":
        end = state.last_end
        return cls(
            task=state.task,
            stop_reason=end.reason.value if end else "",
            text=final_text(state),
            usage=state.usage,
            cost=None if state.cost is None else round(state.cost, 6),
            steps=state.steps,
            duration=round(seconds, 3),
            exit_code=int(of_state(state)),
            limit=end.limit if end else "",
            error=error or (end.text if end else ""),
        )


def final_text(state: State) -> str:
    """The answer: the report of attempt_completion, or the words of the last reply."""
    try:
        message = state.last_message
    except LookupError:
        return ""
    report = [call.arguments.get("result", "") for call in message.tool_calls if call.name == "attempt_completion"]
    return str(report[-1]) if report else message.text


class View(Protocol):
    """One way to show a conversation. `asks` says that it can put questions to a person."""

    asks: bool

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, event: ev.Event) -> None: ...

    def result(self, state: State, seconds: float) -> None:
        """The conversation is over."""

    async def ask_approval(self, event: ev.ApprovalRequested) -> Decision: ...

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        """The answer; None when the person would rather stop."""

    async def compose(self) -> str | None:
        """The person's next prompt; None when they leave."""


class Silent:
    """The start of every view without a person."""

    asks = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def ask_approval(self, event: ev.ApprovalRequested) -> Decision:
        raise RuntimeError("nobody is here to ask")

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        raise RuntimeError("nobody is here to ask")

    async def compose(self) -> str | None:
        return None


class Answer(Silent):
    """`-p`: only the final text on standard output; what went wrong goes to standard error."""

    def show(self, event: ev.Event) -> None:
        if isinstance(event, ev.ErrorRaised):
            print(f"halo: {event.text}\n      {event.hint}".rstrip(), file=sys.stderr)

    def result(self, state: State, seconds: float) -> None:
        if text := final_text(state):
            print(text)
        end = state.last_end
        if end and end.limit:
            print(f"halo: {end.text}\n      Go on with: halo -r {state.task}", file=sys.stderr)
        elif end and end.reason is StopReason.MAX_TOKENS:
            print(f"halo: The reply was cut off by the output limit. Go on with: halo -r {state.task}", file=sys.stderr)
        if state.nobody_answered:
            print("halo: Something needed an approval and was not done. See --approval-mode.", file=sys.stderr)


class Json(Silent):
    """`--output-format json`: one result object."""

    def __init__(self) -> None:
        self._error = ""

    def show(self, event: ev.Event) -> None:
        if isinstance(event, ev.ErrorRaised):
            self._error = event.text

    def result(self, state: State, seconds: float) -> None:
        _write(msgspec.json.encode(Result.of(state, seconds, self._error)))


class StreamJson(Json):
    """`--output-format stream-json`: the event log itself, one line an event, and the result object last."""

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if isinstance(event, ev.Durable):
            _write(codec.encode(event))


def make_view(arguments: argparse.Namespace, client: Client, *, attended: bool) -> View:
    """The view that the flags and the terminal call for."""
    match arguments.output_format:
        case "json":
            return Json()
        case "stream-json":
            return StreamJson()
    if arguments.print:
        return Answer()
    from halocline.surfaces.cli.line_mode import LineMode

    return LineMode(client.home.prompt_history, attended=attended)


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
