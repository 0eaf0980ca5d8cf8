"""A task with the real loop and recorded input: prompts, decisions, interrupts and crashes come from a recording."""

import asyncio

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.state.state import State
from halocline.services.replay.cuts import FACTS, Cut, comes_from_elsewhere
from halocline.services.replay.timeline import Course, must_wait, wait_forever
from halocline.services.replay.words import with_recorded_words
from halocline.task.calls.goal_checks import GoalChecks
from halocline.task.inbox import InboxRequest, Prompt
from halocline.task.message_queue import MessageQueue
from halocline.task.parts import TaskParts
from halocline.task.task import Task

_FROM_OUTSIDE = frozenset({"user", "judge", "nobody", "withdrawn"})
"""Values of `by` in answers that come from outside the loop."""


class Replayed(Task):
    """A task that is fed from the recording."""

    def __init__(self, parts: TaskParts, course: Course) -> None:
        parts.inbox.queue = self._queue = RecordedQueue()
        super().__init__(parts)
        self.course = course
        self.serving: asyncio.Task[None] | None = None
        self.course.when_stuck = self.stuck
        self.course.when_stopped = self.stop
        self.tool_calls.goal = RecordedChecks(course)

    def emit(self, *events: ev.Event) -> None:
        for event in events:
            if comes_from_elsewhere(event) and event is not self.course.next:
                continue  # live tools start jobs again; only the recorded events of these count
            if isinstance(event, ev.Durable) and (cut := self.course.cut) and cut.died:
                self.cut_short(cut)  # the process had died by then
            Task.emit(self, with_recorded_words(event, self.course.next, self.state))
            if isinstance(event, ev.Durable):
                self.feed()

    def feed(self) -> None:
        """Deliver the external input that is due now."""
        if self.course.over:
            return
        if cut := self.course.cut:
            if not must_wait(self.course, self.state):
                self.cut_short(cut)
            return
        if self.course.next is None:
            self.inbox.close()
        else:
            self._arrives(self.course.next)

    def stuck(self) -> None:
        """Handle a wait for something the recording does not have: the cut that is due, or else a difference."""
        if cut := self.course.cut:
            self.cut_short(cut)
        else:
            self.course.part("waiting for something the recording does not have")

    def cut_short(self, cut: Cut) -> None:
        """Interrupt the turn, or die. Raises CancelledError if the process died."""
        if not cut.died:
            self.inbox.interrupt(cut.limit, cut.raised)
        else:
            self.stop()
            raise asyncio.CancelledError

    def stop(self) -> None:
        if self.serving is not None:
            self.serving.cancel()

    def bury(self) -> None:
        """Write the events with which the next process closed what a dead one left open."""
        if (cut := self.course.cut) and cut.died:
            for event in self.course.events[cut.begin : cut.end]:
                Task.emit(self, event)

    def _arrives(self, event: ev.DurableEvent) -> None:
        match event:
            case _ if comes_from_elsewhere(event):
                self.emit(event)
            case ev.TurnStarted():
                self.inbox.prompt(Prompt(event.content, event.output_schema, event.name, event.messages))
                if cut := self.course.cut_at_once:
                    self.inbox.interrupt(cut.limit, cut.raised)
            case ev.SteeringReceived() if self.state.pending.approvals or self.state.pending.questions:
                self._queue.received = event
                self.inbox.interject(self.course.answering_client)
            case ev.SteeringReceived() if not isinstance(self.course.previous, ev.LimitExtended):
                self._queue.received = event
            case ev.ApprovalResolved() | ev.QuestionAnswered() if event.by in _FROM_OUTSIDE:
                self._answer(event)
            case ev.CompactionStarted(cause=CompactionCause.ASKED, focus=focus):
                self.inbox.queue_request(InboxRequest(focus))
            case ev.ErrorRaised(code="not_compacted"):
                self.inbox.queue_request(InboxRequest())
            case ev.CompactionUndone() | ev.ErrorRaised(code="nothing_to_undo"):
                self.inbox.queue_request(InboxRequest(undo=True))
            case ev.ErrorRaised(code="compaction_cut") if self.state.turn is None:
                self.inbox.interrupt()
            case ev.TodosChanged(by="person") | ev.PicturesLeftOut(cause=""):
                self.emit(event)
            case ev.FileChanged(cause=call) if self.course.was_cut_short(call):
                self.emit(event)
            case _ if type(event) in FACTS and self.state.turn and self.course.fact_was_cut_short():
                self.emit(event)
            case ev.JobStarted(by="person"):
                self.host.tools.shell.leave()
            case ev.ShellMoved() | ev.PageShown() if self.state.turn is None:
                self.emit(event)
            case _ if self._is_of_a_lost_call(event):
                self.emit(event)
            case _ if self.state.turn is None and not self.state.compaction.running:
                self.stuck()

    def _answer(self, event: ev.ApprovalResolved | ev.QuestionAnswered) -> None:
        match event:
            case ev.ApprovalResolved(by="user" | "judge"):
                self.inbox.resolve(_decision_command(event, self.state))
            case ev.QuestionAnswered(by="user"):
                self.inbox.reply(_answer_command(event))
            case ev.QuestionAnswered(by="withdrawn"):
                self.inbox.withdraw(event.request)
            case _:
                self.inbox.end_unanswered(event.request)

    def _is_of_a_lost_call(self, event: ev.DurableEvent) -> bool:
        """True if the event was reported by a call before it was cut short; nothing answers that call here."""
        if type(event) not in FACTS or not any(opened.started for opened in self.state.pending.calls):
            return False
        return self.course.leads_to_cut()


class RecordedChecks(GoalChecks):
    """Checks of the goal: those that ended are in the recording, with what they gave the model; others never end."""

    def __init__(self, course: Course) -> None:
        self._course = course

    async def check(self) -> bool:
        await wait_forever(self._course)


class RecordedQueue(MessageQueue):
    """Delivers messages when the recording did, with what the model read of them."""

    def __init__(self) -> None:
        super().__init__()
        self.received: ev.SteeringReceived | None = None

    @property
    def has_due(self) -> bool:
        return False

    async def deliver_steering(self) -> bool:
        received, self.received = self.received, None
        if received:
            self._emit(ev.SteeringReceived(content=received.content, messages=received.messages))
        return received is not None

    def hold(self) -> None:
        """Do nothing: what was held then is recorded."""


def _answer_command(event: ev.QuestionAnswered) -> cmd.AnswerQuestion:
    return cmd.AnswerQuestion(task=event.task, request=event.request, answer=event.answer, client=event.client)


def _decision_command(event: ev.ApprovalResolved, state: State) -> cmd.ResolveApproval:
    asked = next((asked for asked in state.pending.approvals if asked.request == event.request), None)
    return cmd.ResolveApproval(
        task=event.task,
        request=event.request,
        decision=event.decision,
        note=event.note,
        arguments=event.arguments,
        client=event.client,
        scope=event.scope,
        content=event.content,
        refused=event.refused,
        goes_on=event.goes_on,
        wider=event.grant is not None and asked is not None and event.grant == asked.wider,
    )
