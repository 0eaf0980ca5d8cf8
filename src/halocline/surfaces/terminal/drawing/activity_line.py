"""The status line of a screen follows the events: what the agent does now, and how the plan stands."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import COMMAND_TOOL, Todo, ToolKind
from halocline.protocol.state.todo_markdown import at_work, count_done
from halocline.surfaces.figures import describe_lane, format_plural
from halocline.surfaces.rows import kinds as r, words as row_words
from halocline.surfaces.rows.transcript import Transcript
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.call_cards import summarize_looks
from halocline.surfaces.terminal.drawing.status_line import Activity, StatusLine

LEAVE_HINT = "Ctrl-B runs it in the background"
ASK_NOW_HINT = "Ctrl-B retries now"
STOP_HOOK_HINT = "/hooks stop"
KEPT, MOST_LINES = 2000, 4
"""Most characters kept of a running command's output, and most lines shown of it."""
_PREPARING = {
    ToolKind.EXECUTE: "writing a command",
    ToolKind.EDIT: "writing an edit",
    ToolKind.READ: "choosing what to read",
    ToolKind.SEARCH: "choosing what to search",
}
"""Names for a call that is being written."""
LONGEST_STEP = 40
"""Most characters of the current to-do item."""


class ActivityLine:
    """Sets the status line for each event. `can_leave` mentions Ctrl-B."""

    def __init__(self, status: StatusLine, *, can_leave: bool) -> None:
        self._status = status
        self._can_leave = can_leave
        self._output = Output()
        self._previewed = ""
        self._own: dict[str, tuple[Activity, Output]] = {}
        self._hook = ""
        self.is_own: Callable[[str], bool] = lambda client: True
        """True for the name of the client that keys here belong to: they stop none of another's commands."""

    def follow(self, event: ev.Event, transcript: Transcript, looks: Sequence[r.Row]) -> None:
        """Update the line for an event; `looks` are finished reads that are not printed yet."""
        if not self._status.is_live:
            return
        show = partial(self._show, transcript=transcript, looks=looks)
        match event:
            case ev.TurnStarted() | ev.StepStarted():
                show("waiting for the model")
            case ev.StepRetried() if event.model or not event.wait:
                show("waiting for the model")
            case ev.StepRetried():
                self._count_down(event)
            case ev.ToolCallDelta() if event.call != self._previewed:
                show(_PREPARING.get(row_words.tool_kinds().get(event.name, ToolKind.OTHER), f"calling {event.name}"))
            case ev.EditPreviewed():
                self._preview_edit(event)
            case ev.ToolCallStarted():
                title, executes = _first_line(event.title), event.kind is ToolKind.EXECUTE
                text = f"running {title}" if executes else title
                self._show_command(text, can_leave=event.name == COMMAND_TOOL, is_command=executes)
            case ev.ToolCallProgressed(call=run) if run in self._own:
                self._own[run][1].add(event.text)
            case ev.ToolCallProgressed() if not event.call.startswith("!"):
                self._output.add(event.text)
            case ev.HookProgressed():
                self._show_hook(event)
            case ev.HookRan(run=run) if run:
                show("working")
            case ev.OwnCommandStarted():
                self._begin_own(event)
            case ev.OwnCommandEnded(run=run):
                self._end_own(run)
            case SubagentStarted() | SubagentProgressed() | SubagentEnded():
                self._show_lanes(transcript.call(event.call))
            case ev.ApprovalRequested() | ev.QuestionAsked() | ev.TurnEnded():
                self._status.set(None)
            case ev.ToolCallEnded() | ev.ApprovalResolved() | ev.QuestionAnswered() | ev.AssistantMessageCompleted():
                show("working")
        self._settle_own()

    def recall_own(self, running: Sequence[ev.OwnCommandStarted]) -> None:
        """Show commands of people that ran before this was here."""
        if self._status.is_live:
            for event in running:
                self._begin_own(event)
            self._settle_own()

    def _begin_own(self, event: ev.OwnCommandStarted) -> None:
        is_own, text = self.is_own(event.client), f"running !{_first_line(event.command)}"
        activity, output = self._describe_command(text, can_leave=is_own)
        if not is_own:
            place = "another terminal" if event.client[:3] == "cli" else f"halo {event.client.split(' ')[0]}"
            hint = f"/jobs stop {event.run} stops it" if self._can_leave else ""
            activity = replace(activity, stop=f"in {place}", hint=hint)
        self._own[event.run] = activity, output

    def _end_own(self, run: str) -> None:
        ended, _ = self._own.pop(run, (None, None))
        if ended and self._status.activity is ended:
            self._status.set(None)

    def _settle_own(self) -> None:
        """Show the newest command of the person, first those that keys stop: alone, or beside what the agent does."""
        newest = max((activity for activity, _ in self._own.values()), key=_rank_own, default=None)
        if self._status.activity is None and newest:
            self._status.set(newest)
        self._status.beside = newest if newest is not self._status.activity else None

    def _show(self, what: str, transcript: Transcript, looks: Sequence[r.Row]) -> None:
        """Show an activity after the finished reads, and the progress of the plan."""
        calls = [row for row in looks if isinstance(row, r.CallRow)]
        done = f"{summarize_looks(calls, limit=3)} · " if calls else ""
        self._status.set(Activity(done + what + describe_step(transcript.todos)))

    def _show_command(self, text: str, *, can_leave: bool = True, is_command: bool = True) -> None:
        """Show a command with the last line of its output."""
        activity, self._output = self._describe_command(text, can_leave=can_leave, is_command=is_command)
        self._status.set(activity)

    def _describe_command(
        self, text: str, *, can_leave: bool = True, is_command: bool = True
    ) -> tuple[Activity, "Output"]:
        output, hint = Output(), LEAVE_HINT if self._can_leave and can_leave else ""
        began = time.monotonic()
        return Activity(text, output.last, hint=hint, is_command=is_command, output=output.lines, began=began), output

    def _show_hook(self, event: ev.HookProgressed) -> None:
        """Show a hook that takes long, with the last line of its output."""
        if self._hook != event.run:
            self._hook, self._output = event.run, Output()
            hint, output = STOP_HOOK_HINT if self._can_leave else "", self._output
            self._status.set(Activity(f"hook {event.hook} runs", output.last, hint=hint, output=output.lines))
        self._output.add(event.text)

    def _count_down(self, event: ev.StepRetried) -> None:
        hint = ASK_NOW_HINT if self._can_leave else ""
        text = "retrying in" if event.attempt else "waiting for the provider's limit:"
        self._status.set(Activity(text, until=time.monotonic() + event.wait, hint=hint))

    def _show_lanes(self, row: r.CallRow | None) -> None:
        """Show the number of running sub-agents, and below it what each one does."""
        working = [lane for lane in row.lanes if not lane.end] if row else []
        if row and working:
            below = [f"· {lane.name}: {describe_lane(lane)}" for lane in working]
            text = f"{len(working)} of {format_plural(len(row.lanes), 'sub-agent')} running"
            self._status.set(Activity(text, below=below))

    def _preview_edit(self, event: ev.EditPreviewed) -> None:
        """Show an edit while it is being written, until its result is printed."""
        self._previewed = event.call
        name = clean(event.path) or "an edit"
        self._status.set(Activity(f"writing {name}", partial(describe_growth, event), below=event.lines))


class Output:
    """The end of what a command printed."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> None:
        """Take in new output."""
        self._text = (self._text + text)[-KEPT:]

    def last(self) -> str:
        """The newest line."""
        return self.lines()[-1] if self._text.strip() else ""

    def lines(self) -> Sequence[str]:
        """The newest lines; of one that a command wrote again and again, such as its progress, what it wrote last."""
        lines = self._text.rstrip().split("\n")[-MOST_LINES:]
        return [line.rstrip("\r").rpartition("\r")[2] for line in lines] if self._text.strip() else []


def _rank_own(activity: Activity) -> tuple[bool, float]:
    return not activity.stop, activity.began or 0.0


def _first_line(text: str) -> str:
    return clean(text).split("\n", 1)[0]


def describe_step(todos: Sequence[Todo]) -> str:
    """` · 2/5 Fix the parser`: progress of the plan and its current item; empty when nothing is open."""
    current = at_work(todos)
    if current is None:
        return ""
    text = " ".join(current.text.split())
    return f" · {count_done(todos)}/{len(todos)} {text if len(text) <= LONGEST_STEP else text[:LONGEST_STEP] + '…'}"


def describe_growth(event: ev.EditPreviewed) -> str:
    """`edit 2 at line 41 · +3 −1`."""
    place = f"edit {event.number}" if event.number else ""
    place += f" at line {event.line}" if event.line else ""
    return " · ".join(filter(None, [place, f"+{event.added} −{event.removed}"]))
