"""Everything that waits: open calls, approvals and questions, and texts that the model has not read yet."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from halocline.protocol.events.approvals import ApprovalRequested, ApprovalResolved
from halocline.protocol.events.context_updates import TurnResumed
from halocline.protocol.events.questions import QuestionAnswered, QuestionAsked
from halocline.protocol.messages import FROM_FILES, AssistantMessage, Note, Text, ToolCall, UserPart
from halocline.protocol.values import Value


class OpenCall(Value, frozen=True):
    """A call that has not ended."""

    call: ToolCall
    started: bool = False


class PendingState(Value, frozen=True):
    """Open calls, approvals and questions. `unheard` is a person's text that no request has included yet,
    `unheard_files` the texts of its commands and skills.

    `gap` (a note on a process that died) and `interjected` (messages sent instead of an answer) reach the model once
    the open calls have ended. `declined` means that a person refused a call of the latest reply and with it the
    rest, `refused` are the calls of it that a person refused, `nobody_answered` that no one could approve one in this
    turn.
    """

    calls: tuple[OpenCall, ...] = ()
    approvals: tuple[ApprovalRequested, ...] = ()
    questions: tuple[QuestionAsked, ...] = ()
    gap: tuple[UserPart, ...] = ()
    interjected: tuple[UserPart, ...] = ()
    unheard: tuple[str, ...] = ()
    unheard_files: tuple[str, ...] = ()
    declined: bool = False
    refused: tuple[str, ...] = ()
    nobody_answered: bool = False

    def was_declined(self, call: str) -> bool:
        """True if a person refused this call, or an earlier one and with it the rest."""
        return self.declined or call in self.refused

    def after_prompt(self, content: tuple[UserPart, ...]) -> "PendingState":
        return replace(self._hear(content), nobody_answered=False)

    def after_steering(self, content: tuple[UserPart, ...]) -> "PendingState":
        """Hold a message back while calls are open, since nothing may come between a call and its result."""
        heard = self._hear(content)
        if not self.calls:
            return heard
        declined = self.declined or bool(self.approvals or self.questions)
        return replace(heard, interjected=(*self.interjected, *content), declined=declined)

    def after_resume(self, event: TurnResumed) -> "PendingState":
        """Return to the state before the question: a call that asked will run again."""
        asking = {asked.call for asked in self.questions}
        opened = tuple(replace(one, started=one.started and one.call.id not in asking) for one in self.calls)
        return replace(self, approvals=(), questions=(), calls=opened, gap=event.content)

    def after_request(self) -> "PendingState":
        return replace(self, unheard=(), unheard_files=()) if self.unheard or self.unheard_files else self

    def after_reply(self, message: AssistantMessage) -> "PendingState":
        return replace(self, declined=False, refused=(), calls=self.calls + tuple(map(OpenCall, message.tool_calls)))

    def after_call_start(self, call: str) -> "PendingState":
        marked = tuple(replace(one, started=True) if one.call.id == call else one for one in self.calls)
        return replace(self, calls=marked)

    def after_call_end(self, call: str) -> "PendingState":
        return replace(self, calls=tuple(one for one in self.calls if one.call.id != call))

    def after_approval(self, event: ApprovalResolved) -> "PendingState":
        by_person = event.by in ("user", "message") and event.decision.refuses
        return replace(
            self,
            approvals=tuple(asked for asked in self.approvals if asked.request != event.request),
            declined=self.declined or (by_person and not event.goes_on),
            refused=(*self.refused, event.call) if by_person else self.refused,
            nobody_answered=self.nobody_answered or event.by == "nobody",
            unheard=(*self.unheard, event.note) if event.note and event.by == "user" else self.unheard,
        )

    def after_answer(self, event: QuestionAnswered) -> "PendingState":
        left = tuple(asked for asked in self.questions if asked.request != event.request)
        return replace(
            self, questions=left, unheard=(*self.unheard, event.answer) if event.by == "user" else self.unheard
        )

    def _hear(self, content: tuple[UserPart, ...]) -> "PendingState":
        files = (part.text for part in content if isinstance(part, Note) and part.source in FROM_FILES)
        return replace(self, unheard=(*self.unheard, *_texts(content)), unheard_files=(*self.unheard_files, *files))

    def find_call(self, call: str) -> ToolCall | None:
        """Return the open call with an id."""
        return next((one.call for one in self.calls if one.call.id == call), None)


def _texts(content: Iterable[UserPart]) -> Iterator[str]:
    return (part.text for part in content if isinstance(part, Text))
