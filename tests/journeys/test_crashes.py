import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from tests.journeys.soundness import assert_sound
from tests.samples import SAMPLED

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import NOT_RUN, UNKNOWN_OUTCOME
from halocline.providers.scripted.script import load_script
from halocline.store.blobs import DiskBlobs
from halocline.surfaces.acp.replay import list_standing
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.kinds import ReplyRow, ThoughtRow

STEP = """
[[turn]]
delay = 0.01
text = "Step {number}."
[[turn.call]]
tool = "write_to_file"
arguments = {{ path = "note.txt", content = "{number}\\n" }}
[[turn.call]]
tool = "execute_command"
arguments = {{ command = "cp note.txt copy.txt; echo {number}", requires_approval = false }}
[[turn.call]]
tool = "read_file"
arguments = {{ path = "copy.txt" }}
"""
FINISH = """
[[turn]]
text = "Finished."
"""
TEXTS = ["Step 1.", "Step 2.", "Step 3.", "Step 4.", "Finished."]
POINTS = (1, 2, 4, 5, 6, 7, 8, 10, 13, 17, 24, 33)
"""Numbers of the events that must be in the log when the process is killed; it may have come a little further."""


@dataclass
class Killed:
    """What a killed process left behind."""

    log: Path
    written: list[bytes]
    shown: list[bytes]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.toml"
    path.write_text("".join(STEP.format(number=number) for number in range(1, 5)) + FINISH)
    return path


def halo(journey, script, *words, **how):
    command = [sys.executable, "-m", "halocline", "run", "-p", "-y", "--output-format", "stream-json"]
    command += ["-m", f"scripted/{script}", "-C", str(journey.workspace), *words]
    environment = {**os.environ, "HALOCLINE_HOME": str(journey.home.root)}
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, **how)


def kill_at(journey, script, tmp_path, count):
    """Run the script in a process of its own, and kill that when `count` events are in its log."""
    with open(tmp_path / "shown", "wb") as shown:
        process = halo(journey, script, "go", stdout=shown)
    deadline = time.monotonic() + 20
    while len(lines_of(journey)) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    (log,) = journey.home.tasks.glob(f"*/{codec.LOG_NAME}")
    journey.task = log.parent.name
    return Killed(log, lines_of(journey), whole_lines((tmp_path / "shown").read_bytes()))


def kill_in_mid_sentence(journey, script, tmp_path):
    """Run a script whose reply comes slowly, and kill that when some of it was shown; return the pieces."""
    with open(tmp_path / "shown", "wb") as shown:
        process = halo(journey, script, "--include-partial-messages", "go", stdout=shown)
    deadline = time.monotonic() + 60
    while len(pieces := pieces_in(tmp_path / "shown")) < 9 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    (log,) = journey.home.tasks.glob(f"*/{codec.LOG_NAME}")
    journey.task = log.parent.name
    assert not any(isinstance(event, ev.AssistantMessageCompleted) for event in journey.logged)
    return pieces_in(tmp_path / "shown") or pieces


def pieces_in(shown):
    lines = [msgspec.json.decode(line) for line in whole_lines(shown.read_bytes())]
    return [(line["type"], line["text"]) for line in lines if line["type"] in {"text_delta", "thinking_delta"}]


def lines_of(journey):
    return [line for log in journey.home.tasks.glob(f"*/{codec.LOG_NAME}") for line in whole_lines(log.read_bytes())]


def whole_lines(data):
    return data.split(b"\n")[:-1]


async def carry_on(journey, script):
    return await journey.run(resume=journey.task, prompt="Go on.", client=journey.client(load_script(script).turns))


def possible_contents(journey):
    """What note.txt may hold by the log: what the last completed edit wrote, or one cut short after it."""
    possible = set()
    edits = {}
    for event in journey.logged:
        match event:
            case ev.AssistantMessageCompleted(message=message):
                edits = {call.id: call.arguments.get("content") for call in message.tool_calls}
            case ev.ToolCallStarted(name="write_to_file", call=call):
                possible.add(edits[call].encode())
            case ev.FileChanged(after=after):
                possible = {DiskBlobs(journey.home.blobs).get(after)}
    return possible


def note(journey):
    path = journey.workspace / "note.txt"
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("count", POINTS[1::2] if SAMPLED else POINTS)
async def test_a_killed_task_loses_nothing_that_was_shown_and_goes_on_where_it_was(journey, script, tmp_path, count):
    killed = await asyncio.to_thread(kill_at, journey, script, tmp_path, count)
    before = fold_events(journey.logged)
    assert len(killed.written) >= count
    assert killed.shown == killed.written[: len(killed.shown)]
    assert note(journey) in possible_contents(journey) | (set() if before.files.changed else {None})

    await carry_on(journey, script)
    assert [codec.encode(event) for event in journey.logged][: len(killed.written)] == killed.written
    told = {event.call: event.result.text for event in journey.logged if isinstance(event, ev.ToolCallEnded)}
    for open_call in before.pending.calls:
        assert told[open_call.call.id].startswith(UNKNOWN_OUTCOME if open_call.started else NOT_RUN)
    replies = [event.message.text for event in journey.logged if isinstance(event, ev.AssistantMessageCompleted)]
    assert replies == TEXTS
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert note(journey) in possible_contents(journey)
    assert journey.of(ev.Noticed) == []
    assert_sound(journey.logged)


SLOW = """
[[turn]]
thinking = "First I think about it."
text = "Then I begin a long answer that nobody hears to its end: {long}"
pace = 0.05
chunk = 8
[[turn]]
text = "I go on."
"""


async def read_by(journey, reader, *words):
    """Run a command line that reads the task, and return what it prints."""
    command = [sys.executable, "-m", "halocline", *reader, journey.task, *words]
    environment = {**os.environ, "HALOCLINE_HOME": str(journey.home.root)}
    done = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("first", ["tasks show", "export", "resume"])
async def test_what_was_shown_of_a_reply_is_there_after_a_kill_wherever_the_task_is_read(
    journey, tmp_path, script, first
):
    script.write_text(SLOW.format(long="and so on, " * 400))
    pieces = await asyncio.to_thread(kill_in_mid_sentence, journey, script, tmp_path)
    thought = "".join(text for kind, text in pieces if kind == "thinking_delta")
    said = "".join(text for kind, text in pieces if kind == "text_delta")
    assert (thought, said[:12]) == ("First I think about it.", "Then I begin")

    if first == "resume":
        await carry_on(journey, script)
        assert journey.state.last_end.reason is StopReason.END_TURN
        assert (await journey.replay()).differences == ()
    else:
        assert said in unwrapped(await read_by(journey, first.split()))
    cut = next(event.message for event in journey.logged if isinstance(event, ev.AssistantMessageCompleted))
    assert (cut.interrupted, cut.stop_reason, cut.content[0].text) == (True, StopReason.CANCELLED, thought)
    assert cut.text.startswith(said)
    for reader in ("tasks show", "export"):
        assert unwrapped(await read_by(journey, reader.split())).count("Then I begin a long answer") == 1
    rows = rows_of(list_standing(journey.client(()).past(journey.task)))
    assert [row.text for row in rows if isinstance(row, ReplyRow | ThoughtRow)][:2] == [thought, cut.text]


def unwrapped(text):
    return " ".join(text.split()) + " "


async def test_a_torn_last_line_is_cut_and_reported_when_the_task_goes_on(journey, script, tmp_path):
    killed = await asyncio.to_thread(kill_at, journey, script, tmp_path, 9)
    with open(killed.log, "ab") as log:
        log.write(b'{"type":"tool_call_ended","ca')
    await carry_on(journey, script)
    (repaired,) = [event for event in journey.logged if isinstance(event, ev.LogRepaired)]
    assert repaired.bytes_cut == 29
    assert_sound(journey.logged)


async def test_the_command_line_continues_a_killed_task_without_being_told_which(journey, script, tmp_path):
    killed = await asyncio.to_thread(kill_at, journey, script, tmp_path, 12)
    process = await asyncio.to_thread(halo, journey, script, "-c", stdout=subprocess.PIPE)
    shown, _ = await asyncio.to_thread(process.communicate, timeout=20)
    assert process.returncode == 0
    assert killed.log.read_bytes().startswith(b"".join(line + b"\n" for line in killed.written))
    assert whole_lines(shown)[-1].startswith(b'{"type":"result"')
    assert_sound(journey.logged)


async def test_a_patch_that_was_cut_short_is_taken_back_before_the_task_goes_on(journey, script, tmp_path):
    await asyncio.to_thread(kill_at, journey, script, tmp_path, 9)
    old, journals = journey.write("patched.txt", "new\n"), journey.home.edits
    (journey.workspace / ".halo-1.old").write_text("old\n")
    journals.mkdir()
    entry = {
        "path": str(old),
        "new": ".halo-1.tmp",
        "old": ".halo-1.old",
        "before": digest("old\n"),
        "after": digest("new\n"),
    }
    (journals / "1.journal").write_bytes(msgspec.json.encode({"entries": [entry]}) + b"\nstaged\n")
    await carry_on(journey, script)
    assert old.read_text() == "old\n"
    assert [path.name for path in journals.iterdir()] == ["lock"]
    assert not (journey.workspace / ".halo-1.old").exists()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()
