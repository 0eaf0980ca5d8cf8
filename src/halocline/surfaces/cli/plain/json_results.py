"""Views for programs: one JSON object, or the events as they come and that object last."""

import sys
import time
from collections.abc import Sequence

from msgspec.structs import asdict

from halocline.protocol import codec, events as ev, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.state.evidence.findings import Evidence, find_evidence
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.goal import GoalState
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.cli.exit_codes import of_error, of_state
from halocline.surfaces.cli.plain.headless import Silent
from halocline.surfaces.cli.plain.refusals import Refusals, Refused
from halocline.surfaces.cli.stderr import as_shown


class GoalResult(Value, frozen=True, omit_defaults=False):
    """The goal of the task: its `command` or `text`, whether it is `met`, and how often it was checked."""

    met: bool
    checks: int
    command: str = ""
    text: str = ""

    @classmethod
    def of(cls, goal: GoalState) -> "GoalResult":
        return cls(goal.is_met, goal.checks, goal.command, goal.text)


class Result(Value, frozen=True, omit_defaults=False, tag_field="type", tag="result"):
    """The last object of stream-json, and the only one of json.

    `usage` (tokens), `steps` and `cost` (US dollars, null when unknown) are of the whole task, `duration` (seconds) of
    this run. `structured_output` is the answer if it had to match a schema, and does. `refused` are the calls of this
    run that were not allowed, with rule and reason. `evidence` is what the log proves about the turn's work. `goal` is
    null if there is none.
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
    failed: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    structured_output: JsonObject | None = None
    refused: tuple[Refused, ...] = ()
    evidence: Evidence | None = None
    goal: GoalResult | None = None

    @classmethod
    def of(
        cls, state: State, seconds: float, raised: ev.ErrorRaised | None, refused: Sequence[Refused] = ()
    ) -> "Result":
        """Result of a turn; `raised` is its error, if any."""
        end = state.last_end
        return cls(
            task=state.task,
            stop_reason=end.reason.value if end else "",
            text=final_text(state),
            usage=asdict(state.budget.usage),
            cost=None if state.budget.known_cost is None else round(state.budget.known_cost, 6),
            steps=state.budget.steps,
            duration=round(seconds, 3),
            exit_code=int(of_state(state)),
            limit=end.limit if end else "",
            failed=end.failed if end else (),
            error=raised.text if raised else end.text if end else "",
            hint=raised.hint if raised else "",
            structured_output=state.answer.accepted,
            refused=tuple(refused),
            evidence=find_evidence(state.evidence),
            goal=GoalResult.of(state.goal) if state.goal.is_set else None,
        )

    @classmethod
    def broken(cls, task: str, error: HaloclineError, seconds: float) -> "Result":
        """Result of a run that broke before a turn started or ended."""
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

    def begin_turn(self) -> None:
        """Leave out of the next result what the last one reported."""
        self._raised, self._refusals = None, Refusals()

    def result(self, state: State, seconds: float) -> None:
        write_line(json_output.encode(Result.of(state, seconds, self._raised, self._refusals.all)))

    def fail(self, error: HaloclineError) -> None:
        write_line(json_output.encode(Result.broken(self._task, error, time.monotonic() - self._began)))


class StreamJson(Json):
    """`--output-format stream-json`: the event log, one line per event, and the result object last.

    `with_deltas` also prints events that are not logged, such as pieces of a reply.
    """

    def __init__(self, *, with_deltas: bool = False) -> None:
        super().__init__()
        self._with_deltas = with_deltas

    def show(self, event: ev.Event) -> None:
        super().show(event)
        if self._with_deltas or isinstance(event, ev.Durable):
            write_line(codec.encode(event))


def write_line(line: bytes) -> None:
    """Print a line of JSON at once; on a terminal with hidden characters shown."""
    sys.stdout.buffer.write(as_shown(line.decode(), sys.stdout).encode() + b"\n")
    sys.stdout.buffer.flush()
