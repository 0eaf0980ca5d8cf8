"""Views without a person: the final answer for scripts (`-p`); those for programs are in `json_results`."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from halocline.protocol import events as ev, json_output
from halocline.protocol.kinds import Diff
from halocline.protocol.messages import StopReason
from halocline.protocol.state import evidence
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.state import State
from halocline.surfaces.cli.plain.refusals import Refusals, describe_refusal
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.terminal.view import APPROVE, UNANSWERED, View

if TYPE_CHECKING:
    from halocline.client.tasks import Client
    from halocline.surfaces.terminal.asking.decision import Decision
    from halocline.surfaces.terminal.composing.prompt import Prompt


def final_output(state: State) -> str:
    """Output for a program: the answer's text, or with a schema only its JSON, empty when there is none."""
    if state.answer.schema is None:
        return final_text(state)
    accepted = state.answer.accepted
    return "" if accepted is None else json_output.encode(accepted).decode()


class Silent(View):
    """Base of views without a person: notices go to standard error, and most else is not shown."""

    asks = False
    draws = False
    on_signal: Callable[[int], None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def show(self, event: ev.Event) -> None:
        match event:
            case ev.Noticed() | ev.CheckpointFailed():
                print_message(event.text)
            case ev.StepRetried():
                from halocline.surfaces.figures import describe_retry

                print_message(describe_retry(event))

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        print_message(text)

    def show_reply(self, text: str) -> None:
        print_message(text)

    def copy_text(self, text: str) -> str:
        return ""

    async def ask_approval(self, event: ev.ApprovalRequested, client: "Client", task: str) -> "Decision":
        raise RuntimeError("no person to ask")

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        raise RuntimeError("no person to ask")

    async def compose(self, client: "Client", task: str) -> "Prompt | None":
        return None


class Answer(Silent):
    """`-p`: only the final text on standard output; problems go to standard error."""

    def __init__(self) -> None:
        self._refusals = Refusals()

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if refused := self._refusals.take(event):
            print_message(describe_refusal(refused))
        if isinstance(event, ev.AnswerRefused):
            print_message("The answer does not match the schema.", " ".join(event.problems))
        if isinstance(event, ev.ErrorRaised):
            print_message(event.text, event.hint)

    def result(self, state: State, seconds: float) -> None:
        if text := final_output(state):
            print_raw(text, flush=True)
        end = state.last_end
        if end and end.limit:
            print_message(end.text, f"To continue: halo -r {state.task}")
        elif end and end.reason is StopReason.MAX_TOKENS:
            print_message("The reply reached the model's output limit.", f"To continue: halo -r {state.task}")
        elif end and end.reason is StopReason.CANCELLED:
            print_message("Interrupted.", f"To continue: halo -r {state.task}")
        elif end and end.reason is StopReason.REFUSAL:
            print_message(end.text or "The model refused to answer.")
        elif end and end.failed:
            print_message(end.remark)
        elif (found := evidence.findings.find_evidence(state.evidence)).not_confirmed:
            print_message(f"{found.doubt[0].upper()}{found.doubt[1:]}.")
        elif state.pending.nobody_answered:
            print_message(UNANSWERED, APPROVE)
