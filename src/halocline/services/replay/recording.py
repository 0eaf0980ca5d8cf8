"""The model, the rules and the facts of a replay, which answer from a recording.

A request that the recording does not answer was cut short there: they report that they are stuck, and wait to be cut
short too.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import takewhile
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.ports.model import ModelEvent, Request, Terms
from halocline.ports.shell_facts import LoggedFacts, T
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events.limits import Limits
from halocline.protocol.kinds import Grant
from halocline.protocol.messages import AssistantMessage, Text, Thinking
from halocline.protocol.permission_rules import Effect, RuleBook
from halocline.protocol.state.state import COMPACTION_CUT, State
from halocline.services.policy.audit import lost_in, scripts_in
from halocline.services.replay.cuts import FROM_ELSEWHERE, comes_from_elsewhere, is_of_model
from halocline.services.replay.timeline import Course, wait_forever
from halocline.task.governor import Governor
from halocline.task.spending import OF_SPENDING, OverBudget, Spending, Verdict

_OF_NOTHING = FROM_ELSEWHERE | {ev.UsageReported, ev.PicturesLeftOut}
"""Events of a step that do not end it."""
MOST_FOUND = 2_000
"""Answers about calls that are kept."""
_OF_A_CALL = (ev.ApprovalRequested, ev.ApprovalResolved, ev.ToolCallStarted, ev.ToolCallEnded)


class RecordedModel:
    """A model that gives the recorded replies, and compares its requests with the recorded ones."""

    name = "recorded"

    def __init__(self, course: Course, requests: Mapping[int, Request]) -> None:
        self.compared = 0
        self._course = course
        self._requests = requests

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        if self._course.cut:
            await asyncio.sleep(0)  # lets an interrupt right after the step's start arrive
        if request.summary:
            async for event in self._summary():
                yield event
            return
        self._compare(request)
        events = self._answer()
        message = next((event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)), None)
        for recorded in events:
            if isinstance(recorded, ev.UsageReported):
                yield recorded
            elif _refusal_in(recorded):
                yield ev.TextDelta("")  # the answer began here, with whatever
        for delta in _split_deltas(message):
            yield delta
        if error := next(filter(is_of_model, events), None):
            raise _recorded_error(error)
        made = next((event for event in events if isinstance(event, ev.Compacted)), None)
        if refused := self._refused_pictures(events):
            raise refused
        if made and message is None:
            text = f"The recorded request was too long: maximum {made.limit} tokens."
            raise ModelError(ModelErrorKind.CONTEXT_EXCEEDED, text)
        if tool := next((event for event in events if isinstance(event, ev.McpToolRefused)), None):
            raise ModelError(ModelErrorKind.INVALID_REQUEST, tool.why, said=f"the tool {tool.tool}")
        is_cut = message is None or message.interrupted
        if is_cut and (spent := find_limit(self._course)):  # the next attempt did not fit
            raise OverBudget(spent)
        if message is None or is_cut:
            await wait_forever(self._course)
        else:
            yield ev.AssistantMessageCompleted(message=message)
        if self._course.cut:
            await asyncio.sleep(0)  # lets an interrupt right after the reply arrive

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _answer(self) -> list[ev.DurableEvent]:
        """Return the events of the step, without a compaction before the next one."""
        events = [self._course.events[position] for position in self._course.step_ahead()]
        return list(takewhile(lambda event: not isinstance(event, ev.CompactionStarted), events))

    def _refused_pictures(self, events: Sequence[ev.DurableEvent]) -> ModelError | None:
        """Return the error of a request that was sent again without pictures: nothing came of it but the next step."""
        end = self._course.step_ahead().stop
        later = self._course.events[end : end + 1]
        if not (later and isinstance(later[0], ev.StepStarted) and all(type(event) in _OF_NOTHING for event in events)):
            return None
        left_out = (self._course.events[at] for at in range(end, len(self._course.events)))
        return ModelError(ModelErrorKind.PICTURE, next(filter(None, map(_refusal_in, left_out)), ""))

    async def _summary(self) -> AsyncGenerator[ModelEvent, None]:
        """Yield the recorded summary; one that failed then fails now."""
        for position in self._course.step_ahead():
            match event := self._course.events[position]:
                case ev.UsageReported():
                    yield event
                case ev.Compacted():
                    if not event.summary:
                        raise ModelError(ModelErrorKind.EMPTY, "The recorded model gave no summary.")
                    yield ev.AssistantMessageCompleted(message=AssistantMessage((Text(event.summary),)))
                    return
                case ev.ErrorRaised(code="compaction_failed"):
                    raise ModelError(ModelErrorKind.EMPTY, "The recorded model gave no summary.")
                case ev.ErrorRaised(code=code) if code == COMPACTION_CUT:
                    await asyncio.sleep(0)  # between two turns, lets what cuts it short arrive
                    break
        await wait_forever(self._course)

    def _compare(self, request: Request) -> None:
        if recorded := self._requests.get(self._course.steps):
            self.compared += 1
            self._course.compare(f"request of step {self._course.steps}", _as_read(recorded), _as_read(request))


def _as_read(request: Request) -> Request:
    """Return a request as its model reads it: parameters that a tool only accepts are not part of it."""
    tools = tuple(replace(spec, unsaid=()) for spec in request.tools)
    return replace(request, messages=tuple(request.messages), tools=tools)


def find_limit(course: Course) -> Verdict | None:
    """Return the limit that was reached at this point of a recording, or None."""
    ahead = (event for event in course.ahead() if not comes_from_elsewhere(event))
    asked = next(ahead, None)
    if isinstance(asked, ev.TurnEnded) and asked.limit:
        return Verdict(asked.limit, asked.text)
    if not isinstance(asked, ev.QuestionAsked) or asked.call:
        return None
    then = next((event for event in ahead if isinstance(event, ev.LimitExtended | ev.TurnEnded)), None)
    return Verdict(then.limit if then else "", asked.question.removesuffix(" Go on?"))


class RecordedSpending(Spending):
    """Spending that was within its limits until the recording says otherwise: prices and other tasks are not in it."""

    def __init__(self, course: Course) -> None:
        super().__init__(lambda model, read: Terms(), Limits())
        self._course = course

    @property
    def is_limited(self) -> bool:
        """False: what was sent then is answered now."""
        return False

    def verdict(self) -> Verdict | None:
        self.refused, reached = None, find_limit(self._course)
        return reached if reached and reached.limit in (*OF_SPENDING, "") else None  # cut off, a question names none

    @asynccontextmanager
    async def room_for(self, request: Request) -> AsyncIterator[None]:
        if reached := self.verdict():
            raise OverBudget(reached)
        yield


class RecordedGovernor(Governor):
    """The limits of a log that does not tell them, as older ones: they are reached where it says so."""

    def __init__(self, course: Course) -> None:
        super().__init__(RecordedSpending(course), course.seconds)
        self._course = course

    def verdict(self, state: State) -> Verdict | None:
        self.spending.refused = None
        return find_limit(self._course)


class RecordedGrants:
    """Empty rules: rules and grants are in the recording."""

    def book(self) -> RuleBook:
        return RuleBook()

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Do nothing: it was stored then."""

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """Return True: a removal is in the recording."""
        return True


class RecordedFacts(LocalShellFacts):
    """Facts about commands from the recording: from the running call, or the next one to be judged.

    Without `live` tools nothing here changes a file, so that what was asked before has the same answer.
    """

    def __init__(self, course: Course, env: Mapping[str, str], *, live: bool) -> None:
        super().__init__(env)
        self._course = course
        self._live = live
        self._ground: object = None
        self._found: dict[Hashable, object] = {}

    def find_once(self, ground: object, question: Hashable, find: Callable[[], T]) -> T:
        event = self._of_the_call
        if self._live or isinstance(event, ev.ApprovalRequested):
            return find()
        if ground != self._ground or len(self._found) >= MOST_FOUND:
            self._ground, self._found = ground, {}
        asked = (question, scripts_in(event) if event else ())
        if asked not in self._found:
            self._found[asked] = find()
        return cast(T, self._found[asked])

    def is_overwritten(self, path: str) -> bool:
        """True if the recorded request says that a file is overwritten. The disk cannot tell: the command has run."""
        asked = self._of_the_call
        if not isinstance(asked, ev.ApprovalRequested):
            return False
        targets = {target for part in asked.parts if part.effect is Effect.DESTRUCTIVE for target in part.targets}
        return bool(targets & {path, os.path.relpath(path, os.path.realpath(self._workspace))})

    @property
    def _workspace(self) -> str:
        started = self._course.events[0]
        return started.workspace if isinstance(started, ev.TaskStarted) else ""

    @property
    def _of_the_call(self) -> ev.DurableEvent | None:
        ahead = (self._course.events[position] for position in self._course.step_ahead())
        event = next(filter(_is_of_a_call, self._course.behind()), None)
        return event if isinstance(event, ev.ToolCallStarted) else next(filter(_is_of_a_call, ahead), None)

    @property
    def has_checkpoints(self) -> bool:
        return self._logged.has_checkpoints

    def find_unkept(self, paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
        return self._logged.find_unkept(paths, roots)

    def fingerprint(self, path: str, script: str) -> str:
        return self._logged.fingerprint(path, script)

    @property
    def _logged(self) -> LoggedFacts:
        event = self._of_the_call
        return LoggedFacts(*((scripts_in(event), self._workspace, lost_in(event)) if event else ((), self._workspace)))


def _refusal_in(event: ev.DurableEvent) -> str:
    """Return why a server refused pictures; empty for other events."""
    return event.cause if isinstance(event, ev.PicturesLeftOut) else ""


def _split_deltas(message: AssistantMessage | None) -> list[ev.TextDelta | ev.ThinkingDelta]:
    parts = message.content if message else ()
    texts = [part for part in parts if isinstance(part, Text | Thinking) and part.text]
    return [(ev.TextDelta if isinstance(part, Text) else ev.ThinkingDelta)(part.text) for part in texts]


def _recorded_error(raised: ev.ErrorRaised) -> ModelError:
    name = raised.code.removeprefix("model_")
    kind = ModelErrorKind(name) if name in set(ModelErrorKind) else ModelErrorKind.SERVER
    return ModelError(kind, raised.text, raised.hint, said=raised.code)


def _is_of_a_call(event: ev.DurableEvent) -> bool:
    return isinstance(event, _OF_A_CALL) and not comes_from_elsewhere(event)
