"""The facts of a task's log: changed files, commands since the last edit, errors that were reported.

A fold of durable events, which judges nothing: `findings` does. The facts are of the
world, so a rewind of the conversation does not change them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.command_ends import command_end
from halocline.protocol.events.questions import GoalVerdict
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.kinds import COMMAND_TOOL, FINISHES, CallStatus, ToolKind
from halocline.protocol.messages import AssistantMessage, Note, StopReason, Text, ToolResult
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.evidence.commands import Checked, read_command
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.values import Value

RUNNING = "still running"
LONGEST = 1000
"""Characters kept of a command."""
_PROSE = frozenset({".md", ".markdown", ".rst", ".adoc", ".txt", ".log", ".png", ".jpg", ".gif", ".svg", ".pdf"})
"""Files that no test reads, as a rule; so are those without an extension in capitals (README, LICENSE)."""
_EDITS = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_ALL_ERRORS = compile_later(r"(?:(\d+)|No) errors?\b")
_PROBLEM = compile_later(r"(?m)^(\S.*?):(\d+) \| .*\n  (.*)$")
_FAILED_TEST = compile_later(
    r"(?m)^(?:FAILED (\S+::\S+)|(?:FAIL|ERROR): (\w+) \(|[ \t]*--- FAIL: (\S+)|test (\S+) \.\.\. FAILED"
    r"|not ok \d+ -? ?(.+))"
)
_FOREIGN_END = compile_later(r"(?im)^(?:process exited with |error: )?exit code:? (\d+)")


class Ran(Value, frozen=True, dict=True):
    """A command, and the event that it started with. `end` is how it ended, as in the log: empty if that is unknown.

    `job`: it ran in the background, under this name. `own`: a person ran it. `failures` are the tests that its output
    says failed.
    """

    command: str
    seq: int
    end: str = ""
    job: str = ""
    own: bool = False
    failures: tuple[str, ...] = ()

    @cached_property
    def checked(self) -> Checked:
        """What the command checks: read once, and asked for at each end of a turn until the next edit."""
        return read_command(self.command)


class Found(Value, frozen=True):
    """An error that a language server reported; `seq` is the event with the report."""

    path: str
    line: int
    message: str
    seq: int = 0


class EvidenceState(Value, frozen=True):
    """The facts. An edit is one of a file that tests may read; `ran` are the commands that started after the last one.

    `since` is the first event of the turn, `files` its changed files with their content before and after (blobs; None:
    there was none, empty: unknown); `prose` those that no test reads, with their newest edit. `unseen` are files edited
    after the last command. `checked` is the newest call beside commands that may have run tests: a tool of a server,
    a hook, a sub-agent. `restored` are the restores since the newest edit or command, each with its undo and the facts
    before it.
    """

    since: int = 0
    files: Mapping[str, tuple[str | None, str | None]] = {}
    prose: Mapping[str, int] = {}
    last_edit: int = 0
    last_path: str = ""
    unseen: tuple[str, ...] = ()
    restored: tuple[tuple[str, int, str, tuple[str, ...], Sequence[Ran]], ...] = ()
    has_run: bool = False
    ran: Sequence[Ran] = ()
    running: Mapping[str, Ran] = {}
    checked: int = 0
    errors: tuple[Found, ...] = ()
    gone: tuple[Found, ...] = ()
    message: AssistantMessage | None = None
    report: str = ""
    end: StopReason | None = None
    foreign: bool = False

    @property
    def last_words(self) -> str:
        """The model's last message and report."""
        return "\n".join(filter(None, (self.message.answer if self.message else "", self.report)))


def follow_evidence(evidence: EvidenceState, event: ev.Durable | ev.Transient) -> EvidenceState:
    """Return the facts after an event."""
    step = _STEPS.get(type(event))
    return step(evidence, event) if step else evidence


def gather_evidence(events: Sequence[ev.Durable]) -> EvidenceState:
    """Return the facts of a log."""
    evidence = EvidenceState()
    for event in events:
        evidence = follow_evidence(evidence, event)
    return evidence


def is_prose(path: str) -> bool:
    """True for a file that no test reads, as a rule."""
    name = PurePosixPath(path)
    return name.suffix.lower() in _PROSE or name.name.startswith(".git") or (not name.suffix and name.name.isupper())


def _edit(e: EvidenceState, path: str, content: tuple[str | None, str | None], seq: int) -> EvidenceState:
    if content[0] == content[1] != "":  # written as it was
        return e
    before = e.files.get(path, content)[0]
    e = replace(e, files={**e.files, path: (before, content[1])})
    if is_prose(path):
        return replace(e, prose={**e.prose, path: seq})
    unseen = e.unseen if path in e.unseen else (*e.unseen, path)
    return replace(e, last_edit=seq, last_path=path, unseen=unseen, ran=(), restored=())


def _file_changed(e: EvidenceState, event: ev.FileChanged) -> EvidenceState:
    return _edit(e, event.path, (event.before, event.after), event.seq)


def _changed_by_command(e: EvidenceState, event: ev.FilesChangedOutside) -> EvidenceState:
    """Add what the task's own commands changed. That is no edit: a test may write files, too."""
    by_task = {one.path: (e.files.get(one.path, ("",))[0], one.content) for one in event.files if one.by}
    return replace(e, files={**e.files, **by_task}) if by_task else e


def _restored(e: EvidenceState, event: ev.CheckpointRestored) -> EvidenceState:
    """Note the restored files as edited, unless this undoes an earlier restore: then all is as it was before that."""
    for at, (undo, last_edit, last_path, unseen, ran) in enumerate(e.restored):
        if undo and undo == event.checkpoint:
            earlier = e.restored[:at]
            return replace(e, last_edit=last_edit, last_path=last_path, unseen=unseen, ran=ran, restored=earlier)
    paths = [path for path in event.changed if not is_prose(path)]
    if not paths:
        return e
    unseen = tuple(dict.fromkeys((*e.unseen, *paths)))
    restored = (*e.restored, (event.undo, e.last_edit, e.last_path, e.unseen, e.ran))
    return replace(e, last_edit=event.seq, last_path=paths[-1], unseen=unseen, ran=(), restored=restored)


def _call_started(e: EvidenceState, event: ev.ToolCallStarted) -> EvidenceState:
    if event.name == COMMAND_TOOL:
        return _start(e, event.call, Ran(event.title[:LONGEST], event.seq))
    if e.foreign and event.kind in _EDITS:  # an import has no FileChanged
        return replace(e, running={**e.running, event.call: Ran(event.title, 0)})
    return replace(e, checked=event.seq) if event.kind is ToolKind.EXECUTE else e


def _start(e: EvidenceState, call: str, ran: Ran) -> EvidenceState:
    return replace(e, running={**e.running, call: ran}, unseen=(), has_run=True)


def _call_ended(e: EvidenceState, event: ev.ToolCallEnded) -> EvidenceState:
    e = _note_errors(e, event.result.content, event.seq)
    if event.name == FINISHES and event.status is CallStatus.COMPLETED:
        e = replace(e, report=_first_text(event.result))
    if event.call not in e.running:
        return e
    ran = e.running[event.call]
    e = replace(e, running={call: one for call, one in e.running.items() if call != event.call})
    if event.name != COMMAND_TOOL:
        path = ran.command.partition(" ")[2]
        return _edit(e, path, ("", ""), event.seq) if event.status is CallStatus.COMPLETED and path else e
    output = _first_text(event.result)
    end = _read_end(event.status, output, foreign=e.foreign) or (RUNNING if ran.job else "")
    return _end(e, replace(ran, end=end, failures=_failed_tests(output) if end != "exit 0" else ()))


def _read_end(status: CallStatus, output: str, *, foreign: bool) -> str:
    if status is CallStatus.CANCELLED:
        return "interrupted"
    if foreign:
        code = _FOREIGN_END.search(output)
        return f"exit {code[1]}" if code else "failed" if status is CallStatus.FAILED else ""
    return command_end(output) if status is CallStatus.COMPLETED else "not run"


def _end(e: EvidenceState, ran: Ran) -> EvidenceState:
    return replace(e, ran=grow_series(e.ran, ran)) if ran.seq > e.last_edit else e


def _own_started(e: EvidenceState, event: ev.OwnCommandStarted) -> EvidenceState:
    return _start(e, event.run, Ran(event.command[:LONGEST], event.seq, own=True))


def _own_ended(e: EvidenceState, event: ev.OwnCommandEnded) -> EvidenceState:
    ran = e.running.get(event.run)
    if ran is None:
        return e
    e = replace(e, running={run: one for run, one in e.running.items() if run != event.run})
    known = command_end(f"[{event.said}") or (RUNNING if event.job else "")
    end = "interrupted" if event.stopped else known or _code_end(event.exit_code)
    return _end(e, replace(ran, end=end, job=event.job, failures=_failed_tests(event.output)))


def _goal_checked(e: EvidenceState, event: ev.GoalChecked) -> EvidenceState:
    """Add the command of a goal, which ran from its beginning to its end before the event."""
    if not event.command or event.verdict is GoalVerdict.REFUSED:
        return e
    ran = Ran(event.command[:LONGEST], event.seq, event.end, failures=_failed_tests(event.output))
    return _end(replace(e, unseen=(), restored=(), has_run=True), ran)


def _job_started(e: EvidenceState, event: ev.JobStarted) -> EvidenceState:
    ran = e.running.get(event.call)
    return replace(e, running={**e.running, event.call: replace(ran, job=event.job)}) if ran else e


def _job_ended(e: EvidenceState, event: ev.JobEnded) -> EvidenceState:
    end = "stopped" if event.stopped else _code_end(event.exit_code)
    ran = tuple(replace(one, end=end) if one.job == event.job and one.end == RUNNING else one for one in e.ran)
    return replace(e, ran=ran)


def _code_end(code: int | None) -> str:
    if code is None:
        return ""
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def _failed_tests(output: str) -> tuple[str, ...]:
    found = ("".join(one) for one in _FAILED_TEST.findall(output))
    return tuple(dict.fromkeys(name.strip() for name in found))


def _note_errors(e: EvidenceState, content: Sequence[Any], seq: int) -> EvidenceState:
    """Add the errors of a note on new ones. A list that has as many as it says is of all: the others are gone."""
    for note in content:
        if not isinstance(note, Note) or note.source not in ("diagnostics", "problems"):
            continue
        found = tuple(Found(path, int(line), said, seq) for path, line, said in _PROBLEM.findall(note.text))
        if note.source == "diagnostics":
            e = replace(e, errors=(*e.errors, *found))
        elif (count := _ALL_ERRORS.match(note.text)) and len(found) == int(count[1] or 0):
            now = {(one.path, one.message) for one in found}
            gone = tuple(one for one in e.errors if (one.path, one.message) not in now)
            kept = tuple(one for one in e.errors if one not in gone)
            e = replace(e, errors=kept, gone=(*e.gone, *(replace(one, seq=seq) for one in gone)))
    return e


def _on_content(e: EvidenceState, event: ev.DiagnosticsReported | ev.MentionsResolved) -> EvidenceState:
    return _note_errors(e, event.content, event.seq)


def _first_text(result: ToolResult) -> str:
    """Return the tool's own output, without the notes behind it."""
    return next((part.text for part in result.content if isinstance(part, Text)), "")


_STEPS: dict[type, Callable[[EvidenceState, Any], EvidenceState]] = {
    ev.TaskStarted: lambda e, event: replace(e, foreign=event.origin is not None),
    ev.TaskAdopted: lambda e, event: replace(e, foreign=False),
    ev.TurnStarted: lambda e, event: replace(
        e, since=event.seq, files={}, prose={}, message=None, report="", end=None, gone=()
    ),
    ev.TurnEnded: lambda e, event: replace(e, end=event.reason),
    ev.AssistantMessageCompleted: lambda e, event: replace(e, message=event.message, report=""),
    ev.ToolCallStarted: _call_started,
    ev.ToolCallEnded: _call_ended,
    ev.FileChanged: _file_changed,
    ev.FilesChangedOutside: _changed_by_command,
    ev.CheckpointRestored: _restored,
    ev.OwnCommandStarted: _own_started,
    ev.OwnCommandEnded: _own_ended,
    ev.GoalChecked: _goal_checked,
    ev.JobStarted: _job_started,
    ev.JobEnded: _job_ended,
    ev.HookRan: lambda e, event: e if e.end else replace(e, checked=event.seq),
    SubagentEnded: lambda e, event: replace(e, checked=event.seq),
    ev.DiagnosticsReported: _on_content,
    ev.MentionsResolved: _on_content,
}
