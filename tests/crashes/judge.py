"""What must hold after a crash, and what must hold when the story came to its end."""

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec.structs import replace
from tests.crashes.fates import describe_fates
from tests.crashes.story import COMMANDS, EDITED, EDITS, PROJECT, TURNS
from tests.journeys.soundness import assert_sound

from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage, Text, Thinking
from halocline.protocol.state.draft import DRAFT_ENDS
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import Value
from halocline.task.log import read_log, read_past
from halocline.task.running_reply import has_reply

DRAFT_BOUNDS = tuple(f'{{"type":"{end.__struct_config__.tag}"'.encode() for end in DRAFT_ENDS)
"""How the lines of events begin between two replies."""


def assert_nothing_shown_is_lost(log: bytes, shown: bytes) -> None:
    """Every event that a client was shown stands in the log, byte for byte; a line cut in two was never shown."""
    written = set(log.split(b"\n")[:-1])
    seen = [line for line in shown.split(b"\n")[:-1] if line != b"restoring" and not _piece_of(line)]
    assert [line for line in seen if line not in written] == []


def assert_every_text_shown_is_kept(log: Path, shown: bytes) -> None:
    """Every text that a client was sent of a reply, complete or not, stands in what readers of the log are shown.

    A copy is read: the log itself is for the process that goes on with the task.
    """
    with TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(log.parent, Path(folder, log.parent.name), ignore=shutil.ignore_patterns("door")))
        events = list(read_past(copied, copied.name))
        assert not has_reply(copied)
    replies = [event.message.content for event in events if isinstance(event, ev.AssistantMessageCompleted)]
    kept = [part.text for content in replies for part in content if isinstance(part, Text | Thinking)]
    assert [text for text in _texts_of(shown) if not any(whole.startswith(text) for whole in kept)] == []


def _texts_of(shown: bytes) -> list[str]:
    """Join the pieces of each text; a checkpoint may come between two of them."""
    texts, last = list[str](), None
    for line in shown.split(b"\n")[:-1]:
        piece = _piece_of(line)
        if piece and last == piece.type:
            texts[-1] += piece.text
        elif piece:
            texts.append(piece.text)
            last = piece.type
        elif line.startswith(DRAFT_BOUNDS):
            last = None
    return texts


class Piece(Value, frozen=True):
    """A piece of a reply as it was shown."""

    type: str
    text: str = ""


def _piece_of(line: bytes) -> Piece | None:
    is_piece = line.startswith((b'{"type":"text_delta"', b'{"type":"thinking_delta"', b'{"type":"step_retried"'))
    return msgspec.json.decode(line, type=Piece) if is_piece else None


def assert_files_fit(events: Sequence[ev.DurableEvent], folder: Path, *, restored: bool) -> None:
    """Every edited file is as the last completed edit left it, or one that was cut short after it."""
    possible = possible_contents(events)
    if restored:  # a restore that the log has not heard of may have put back anything there was
        possible = {path: {PROJECT.get(path), *made} for path, made in possible.items()}
    found = {path: content(folder / "project" / path) for path in EDITED}
    misfits = {path: text for path, text in found.items() if text not in possible[path]}
    assert misfits == {}, describe_fates(folder, events)


def possible_contents(events: Sequence[ev.DurableEvent]) -> dict[str, set[str | None]]:
    possible: dict[str, set[str | None]] = {path: {PROJECT.get(path)} for path in EDITED}
    ever: dict[str, set[str | None]] = {path: {PROJECT.get(path)} for path in EDITED}
    for event in events:
        match event:
            case ev.ToolCallStarted(call=call) if call in EDITS:
                for path, made in EDITS[call].items():
                    possible[path].add(made)
                    ever[path].add(made)
            case ev.ToolCallEnded(call=call, status=CallStatus.COMPLETED) if call in EDITS:
                possible.update({path: {made} for path, made in EDITS[call].items()})
            case ev.CheckpointRestored():
                possible = {path: set(made) for path, made in ever.items()}
    return possible


def assert_patches_are_whole(events: Sequence[ev.DurableEvent], folder: Path) -> None:
    """All files of the patch are as before it, or all as after it, but for those that a restore says it left alone.

    A disk that takes nothing takes no note of who changed a file either; a restore leaves such a file.
    """
    left = {path for event in events if isinstance(event, ev.CheckpointRestored) for path in _list_left(event)}
    made = {path: text for path, text in EDITS["p1"].items() if path not in left}
    found = {path: content(folder / "project" / path) for path in made}
    assert found in ({path: PROJECT.get(path) for path in made}, made), describe_fates(folder, events)


def _list_left(event: ev.CheckpointRestored) -> tuple[str, ...]:
    """All files that a restore names as left; another task's have its name behind them."""
    others = (one.partition(" (")[0] for one in event.others)
    named = (*event.yours, *event.doubtful, *event.conflicts, *event.kept, *others)
    return (*named, *(one.path for one in event.left_out))


def assert_commands_ran_at_most_once(events: Sequence[ev.DurableEvent], folder: Path) -> None:
    ran = (content(folder / "ran") or "").split()
    assert len(ran) == len(set(ran))
    completed = {event.call for event in events if isinstance(event, ev.ToolCallEnded) and event.status == "completed"}
    assert completed & COMMANDS <= set(ran)


def assert_came_to_its_end(events: Sequence[ev.DurableEvent]) -> None:
    assert_sound(events)
    state = fold_events(events)
    replies = [message for message in state.messages if isinstance(message, AssistantMessage)]
    assert [message.text for message in replies if not message.interrupted] == [turn.text for turn in TURNS]
    assert state.turn is None


def assert_nothing_is_left_behind(folder: Path) -> None:
    """No half-written file beside another one, no journal, no process of a job."""
    litter = [path.name for path in (folder / "project").rglob(".halo-*")]
    litter += [path.name for path in (folder / "home" / "edits").glob("*") if path.name != "lock"]
    assert litter == []
    assert_no_job_runs(folder)


def assert_no_job_runs(folder: Path) -> None:
    pid = (content(folder / "project" / "job.pid") or "").strip()
    until = time.monotonic() + 10
    while pid and _find_job(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not (pid and _find_job(pid))


def _find_job(pid: str) -> str:
    """Return the state and words of a process if it is the job: its number may be another one's by now."""
    words = ["ps", "-o", "stat=,args=", "-p", pid]
    found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return found if re.search(r"sleep 600|job\.pid", found) and not found.startswith("Z") else ""


def content(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def logs_of(folder: Path) -> list[Path]:
    return [log for log in _list_logs(folder) if not is_fork(log)]


def forks_of(folder: Path) -> list[Path]:
    return [log for log in _list_logs(folder) if is_fork(log)]


def is_fork(log: Path) -> bool:
    started = next(iter(read_log(log)), None)
    return isinstance(started, ev.TaskStarted) and bool(started.forked_from)


def _list_logs(folder: Path) -> list[Path]:
    return list((folder / "home" / "tasks").glob(f"*/{codec.LOG_NAME}"))


def assert_forks_are_whole(folder: Path, events: Sequence[ev.DurableEvent]) -> None:
    """A fork is there with all of its past, or not at all."""
    points = {event.to: event.point for event in events if isinstance(event, ev.TaskForked)}
    for log in forks_of(folder):
        past, point = list(read_log(log)), points[log.parent.name]
        assert_sound(past)
        assert [replace(event, task="") for event in past[1:point]] == [
            replace(event, task="") for event in events[1:point]
        ]
