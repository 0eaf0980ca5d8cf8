"""Resume a task that another process left: close what is lost, ask again, and report what is known of the rest.

Nothing that changes anything is rerun automatically; a call that only waited for a person waits again.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.context.notes.idle import taken_up_after
from halocline.context.notes.jobs import begun_anew
from halocline.files.opening import open_resolved, require_regular
from halocline.files.regular import read_from
from halocline.ports.blobs import blob_reference
from halocline.protocol import events as ev
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import CallStatus, Choice, ToolKind
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED, State, loose_ends, lost_calls
from halocline.task.log_reading import read_log
from halocline.task.task import Task

GONE = "its process was killed"
"""Reason for the end of a job that a resumed task had."""
SOURCE = "crash"
EDITING = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)


def resume_task(task: Task, past: Sequence[ev.DurableEvent], *, asks_again: bool) -> None:
    """Close what is lost. A turn that waits for a person continues with `asks_again`; any other turn ends."""
    past = [*past, *_lanes_ended(task)]
    state, lost = task.state, begun_anew(task.state)
    notes = (lost,) if lost else ()
    if asks_again and state.is_asking:
        gap = taken_up_after(time.time() - state.last_at)
        ends = _with_what_is_known(lost_calls(state), past, state)
        task.emit(*ends, ev.TurnResumed(content=(gap, *notes)), *_events_of_death(state))
        task.inbox.go_on()
        return
    task.emit(*_with_what_is_known(loose_ends(state), past, state))
    if state.turn is not None:
        task.emit(ev.TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED))
    task.inbox.queue.hold()
    task.emit(*_events_of_death(state), *([ev.JobsReported(content=notes)] if notes else []))


def _lanes_ended(task: Task) -> tuple[SubagentEnded, ...]:
    """Close the logs of sub-agents whose process died, before the call that started them."""
    asked = [one for one in task.state.pending.approvals if one.agent]
    task.emit(*(ev.ApprovalResolved(o.request, o.call, Choice.REJECT_ONCE, "interrupt", agent=o.agent) for o in asked))
    if not task.state.subagents.running:
        return ()
    from halocline.runtime.subagents.monitor import close_lost_lanes

    ended = close_lost_lanes(task.home, task.state.subagents.running)
    task.emit(*ended)
    return ended


def _events_of_death(state: State) -> list[ev.DurableEvent]:
    """Return events for what ended with the process: requests, browser, jobs, the shell's folder and exports."""
    gone: list[ev.DurableEvent] = [*state.budget.settle_all(), *([ev.PageShown()] if state.host.page else [])]
    gone += [
        ev.OwnCommandEnded(run=own.run, command=own.command, said="its process was killed", stopped=True)
        for own in state.user_commands.running
    ]
    gone += [ev.JobEnded(job=job.job, command=job.command, stopped=GONE) for job in state.jobs.running]
    return gone + ([ev.ShellMoved()] if state.host.shell.cwd or state.host.shell.exported else [])


def edits_cut_short(past: Iterable[ev.DurableEvent], workspace: Path) -> list[Path]:
    """Return the files of edits whose outcome is unknown, now or when the task was last resumed."""
    began: dict[str, ev.ToolCallStarted] = {}
    for event in past:
        match event:
            case ev.ToolCallStarted():
                began[event.call] = event
            case ev.ToolCallEnded() if event.status is not CallStatus.CANCELLED:
                began.pop(event.call, None)
    return [workspace / place.path for event in began.values() if event.kind in EDITING for place in event.locations]


def list_cut_edits(
    tasks: Path, past: Iterable[ev.DurableEvent], workspace: Path, lanes: Iterable[SubagentStarted]
) -> list[Path]:
    """Return the files of edits that were cut short in a task, and in its sub-agents (`lanes`) that died with it."""
    found = edits_cut_short(past, workspace)
    for lane in lanes:
        with suppress(HaloclineError, OSError):
            below = list(read_log(tasks / lane.child / LOG_NAME))
            state = fold_events(below)
            found += list_cut_edits(tasks, below, Path(state.workspace), state.subagents.running)
    return found


def _with_what_is_known(
    ends: Iterable[ev.DurableEvent], past: Sequence[ev.DurableEvent], state: State
) -> tuple[ev.DurableEvent, ...]:
    started = {event.call: event for event in past if isinstance(event, ev.ToolCallStarted)}
    lost = {opened.call.id for opened in state.pending.calls if opened.started}
    known = {call: _describe_known(started[call], past, state) for call in lost if call in started}
    return tuple(_with_note(end, known) if isinstance(end, ev.ToolCallEnded) else end for end in ends)


def _with_note(end: ev.ToolCallEnded, known: dict[str, str]) -> ev.ToolCallEnded:
    text = known.get(end.call)
    if not text:
        return end
    return replace(end, result=replace(end.result, content=(*end.result.content, Note(text, SOURCE))))


def _describe_known(started: ev.ToolCallStarted, past: Sequence[ev.DurableEvent], state: State) -> str:
    """Describe what the log and the disk show of an interrupted edit or sub-agents; empty for other calls."""
    since = (event for event in past if isinstance(event, SubagentEnded) and not 0 < event.seq < started.seq)
    if lanes := [event for event in since if event.call == started.call]:
        known = (
            "Their results so far:"
            if any(lane.review for lane in lanes)
            else "Sub-agents only read. Their results so far:"
        )
        return "\n".join([known, *map(_lane_report, lanes)])
    if started.kind not in EDITING or not started.locations:
        return ""
    written = {event.path for event in past if isinstance(event, ev.FileChanged) and event.cause == started.call}
    paths = dict.fromkeys(place.path for place in started.locations)
    return "Now: " + "; ".join(f"{make_printable(path)} {_describe_file(path, written, state)}" for path in paths) + "."


def _lane_report(lane: SubagentEnded) -> str:
    return f"- {lane.name}: {lane.report or lane.problem or lane.end}{f' {lane.review}' if lane.review else ''}"


def _describe_file(path: str, written: Collection[str], state: State) -> str:
    if path in written:
        return "was written by this call"
    try:
        with open_resolved(Path(state.workspace, path)) as (fd, place, found):
            require_regular(found, place)
            data = read_from(fd, found.st_size)
    except OSError:
        return "does not exist"
    if path not in state.files.known:
        return "exists; read it"
    same = state.files.known[path].content == blob_reference(data)
    return "is the same as before this call" if same else "has changed since before this call"
