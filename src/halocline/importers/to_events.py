"""Converts another program's conversation to the events of a task.

What must stay true, whatever the input: each call and each turn has exactly one end, no call id is used twice, and time
does not run backwards.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace

from halocline.context.other_tools import Theirs, place_folder, translate_call
from halocline.importers.tool_names import title_of, todos_in
from halocline.importers.transcript import Answer, Entry, Ground, Plan, Prompt, Reply
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.state import UNKNOWN_OUTCOME

NO_PROMPT = "(The transcript begins without a prompt.)"
CUT = "The transcript ends here."
"""Text of a turn's end that the transcript does not have."""
QUESTION = "ask_followup_question"
_ANSWER = compile_later(r"</?(?:user_)?answer>")
FINAL = {"attempt_completion": "result"}
"""Calls that end a turn, with the argument that is its answer."""

D = TypeVar("D", bound=ev.DurableEvent)


def to_events(
    entries: Iterable[Entry], started: float, theirs: Mapping[str, Theirs], ground: Ground
) -> Iterator[ev.DurableEvent]:
    """Yield the events after `TaskStarted`, each with its time."""
    narrator = _Narrator(theirs, ground, started)
    for each in entries:
        yield from narrator.tell(each)
    yield from narrator.end()


@dataclass(slots=True)
class _Narrator:
    theirs: Mapping[str, Theirs]
    ground: Ground
    now: float
    in_turn: bool = False
    owes_reply: bool = False
    """True if the model has not replied to the last input."""
    is_over: bool = False
    open: dict[str, ToolCall] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)
    """Our latest id for each id of the transcript."""

    def tell(self, entry: Entry) -> Iterator[ev.DurableEvent]:
        self.now = max(self.now, entry.at)
        match entry:
            case Prompt():
                yield from self._prompt(entry)
            case Reply():
                yield from self._reply(entry)
            case Answer():
                yield from self._answer(entry)
            case Plan(todos=todos):
                yield self._at(ev.TodosChanged(todos=todos))

    def end(self) -> Iterator[ev.DurableEvent]:
        if self.in_turn:
            yield from self._end_turn()

    def _at(self, event: D) -> D:
        return replace(event, at=self.now)

    def _prompt(self, entry: Prompt) -> Iterator[ev.DurableEvent]:
        if self.in_turn and self.owes_reply and not self.open:
            yield self._at(ev.SteeringReceived(content=entry.content))
            return
        if self.in_turn:
            yield from self._end_turn()
        yield self._at(ev.TurnStarted(content=entry.content))
        self.in_turn, self.owes_reply, self.is_over = True, True, False

    def _reply(self, entry: Reply) -> Iterator[ev.DurableEvent]:
        if not self.in_turn:
            yield from self._prompt(Prompt((Text(NO_PROMPT),)))
        yield from self._cut_off()
        content = tuple(self._own(part) if isinstance(part, ToolCall) else part for part in entry.content)
        message = AssistantMessage(content=content, model=entry.model)
        yield self._at(ev.StepStarted(model=entry.model))
        if entry.usage is not None:
            yield self._at(ev.UsageReported(usage=entry.usage, cost=entry.cost))
        yield self._at(ev.AssistantMessageCompleted(message=message))
        self.owes_reply, self.is_over = False, False
        for call in message.tool_calls:
            yield from self._call(call)

    def _own(self, call: ToolCall) -> ToolCall:
        """Translate the call, and give it a unique id."""
        name, number = call.id or "call", 2
        while name in self.used:
            name, number = f"{call.id or 'call'}-{number}", number + 1
        self.used.add(name)
        self.named[call.id] = name
        call = replace(call, id=name)
        with suppress(ToolFailure):  # what means nothing here stays as it was
            call = translate_call(call, self.theirs)
        return replace(call, arguments=place_folder(call.arguments, self.ground.folder, ""))

    def _call(self, call: ToolCall) -> Iterator[ev.DurableEvent]:
        title, kind = title_of(call)
        yield self._at(ev.ToolCallStarted(call=call.id, name=call.name, title=title, kind=kind))
        if (todos := todos_in(call)) is not None:
            yield self._at(ev.TodosChanged(todos=todos))
        if field_name := FINAL.get(call.name):
            words = self.ground.text(call.arguments.get(field_name, ""))
            yield self._end_call(call, Answer(call.id, (Text(words),)), ends_turn=True)
            self.is_over = True
        else:
            self.open[call.id] = call

    def _answer(self, entry: Answer) -> Iterator[ev.DurableEvent]:
        if (call := self.open.pop(self.named.get(entry.call, ""), None)) is not None:
            if call.name == QUESTION and not entry.failed:
                yield from self._question(call, entry)
            yield self._end_call(call, entry)
            self.owes_reply = True
        elif entry.call not in self.named:
            self.ground.lost["result without its call"] += 1

    def _question(self, call: ToolCall, entry: Answer) -> Iterator[ev.DurableEvent]:
        """Show what the model asked and the person answered, which the call alone does not."""
        given, request = call.arguments, f"q-{call.id}"
        options = given.get("options")
        words = tuple(filter(None, map(self.ground.text, options))) if isinstance(options, list) else ()
        question = self.ground.text(given.get("question", ""))
        answer = "\n".join(part.text for part in entry.content if isinstance(part, Text))
        yield self._at(ev.QuestionAsked(request, question, words, call.id))
        yield self._at(ev.QuestionAnswered(request, _ANSWER.sub("", answer).strip(), "user"))

    def _end_call(self, call: ToolCall, entry: Answer, *, ends_turn: bool = False) -> ev.ToolCallEnded:
        status = CallStatus.FAILED if entry.failed else CallStatus.COMPLETED
        result = ToolResult(call=call.id, content=entry.content, is_error=entry.failed)
        ended = ev.ToolCallEnded(call=call.id, name=call.name, status=status, result=result, ends_turn=ends_turn)
        return self._at(ended)

    def _cut_off(self) -> Iterator[ev.DurableEvent]:
        """End calls whose result is missing in the transcript."""
        for call in self.open.values():
            result = ToolResult(call=call.id, content=(Text(UNKNOWN_OUTCOME),), is_error=True)
            yield self._at(ev.ToolCallEnded(call=call.id, name=call.name, status=CallStatus.CANCELLED, result=result))
        self.open.clear()

    def _end_turn(self) -> Iterator[ev.DurableEvent]:
        finished = self.is_over or not (self.owes_reply or self.open)
        yield from self._cut_off()
        reason = StopReason.END_TURN if finished else StopReason.CANCELLED
        yield self._at(ev.TurnEnded(reason=reason, text="" if finished else CUT))
        self.in_turn = False
