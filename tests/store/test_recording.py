import subprocess
import sys

import pytest
from msgspec.structs import replace

from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import AssistantMessage, Text, UserMessage
from halocline.store.tasks.recording import Recorder, RecordingDamaged, read_recording

HELLO = UserMessage((Text("hello"),))
REPLY = AssistantMessage((Text("hi"),))
MORE = UserMessage((Text("go on"),))
TOOL = ToolSpec("read_file", "Read.", {"type": "object"})
FIRST = Request(model="m", system="be good", messages=(HELLO,), tools=(TOOL,))
SECOND = Request(model="m", system="be good", messages=(HELLO, REPLY, MORE), tools=(TOOL,))


def step(number):
    return ev.StepStarted(model="m", seq=number, task="t")


def recorded(path, *requests, secrets=()):
    recorder = Recorder(path, {"max_steps": 7}, secrets)
    for number, request in enumerate(requests, start=1):
        recorder.push(step(number))
        recorder.request(request)
    recorder.close()
    return read_recording(path)


def test_a_recording_gives_back_its_events_requests_and_settings(tmp_path):
    recording = recorded(tmp_path / "r", FIRST, SECOND)
    assert recording.events == (step(1), step(2))
    assert recording.requests == {1: FIRST, 2: SECOND}
    assert recording.settings == {"max_steps": 7}


def test_a_request_is_written_as_what_is_new_in_it(tmp_path):
    recorded(tmp_path / "r", FIRST, SECOND)
    assert (tmp_path / "r").read_text().count("hello") == 1
    assert (tmp_path / "r").read_text().count("be good") == 1


@pytest.mark.parametrize(
    "other",
    [
        Request(model="other", system="be good", messages=(HELLO, REPLY), tools=(TOOL,)),
        Request(model="m", system="be better", messages=(HELLO, REPLY), tools=(TOOL,)),
        Request(model="m", system="be good", messages=(HELLO, REPLY)),
        Request(model="m", system="be good", messages=(HELLO, REPLY), tools=(TOOL,), max_tokens=5),
        Request(model="m", system="be good", messages=(REPLY,), tools=(TOOL,)),
        Request(model="m", system="be good", messages=(), tools=(TOOL,)),
    ],
)
def test_a_request_that_does_not_go_on_from_the_last_one_comes_back_whole(tmp_path, other):
    assert recorded(tmp_path / "r", FIRST, other, SECOND).requests == {1: FIRST, 2: other, 3: SECOND}


def test_what_was_only_shown_is_left_out(tmp_path):
    recorder = Recorder(tmp_path / "r", {}, ())
    recorder.push(ev.TextDelta("hel"))
    recorder.close()
    assert read_recording(tmp_path / "r").events == ()


def test_keys_are_blotted_out(tmp_path):
    said = Request(model="m", system="", messages=(UserMessage((Text("my key is sk-1234567890"),)),))
    recording = recorded(tmp_path / "r", said, secrets=("sk-1234567890", ""))
    assert recording.requests[1].messages == (UserMessage((Text("my key is [redacted stored key]"),)),)


KEYS = ("x", "1", "none", "test", "true", "type", "text", "sk-no-key", "k" * 48, "a" + "0123456789abcdef" * 3)


@pytest.mark.parametrize(
    "key", [*KEYS, 'quoted"and\\escaped\tä\n0123', "request_made", "tool_call_ended", "read_file/role"]
)
def test_whatever_the_key_is_a_recording_can_be_read_again(tmp_path, key):
    said = f'{{"type": "text", "x": [1, true, null]}}\n{key}\n\none'
    requests = [replace(one, messages=(*one.messages, UserMessage((Text(said),)))) for one in (FIRST, SECOND)]
    recording = recorded(tmp_path / "r", *requests, secrets=(key,))
    assert set(recording.requests) == {1, 2}
    assert recording.events == (step(1), step(2))
    if len(key) < 12:
        assert recording.requests == dict(enumerate(requests, start=1))
    else:
        assert key not in recording.requests[2].messages[-1].content[0].text


def test_only_its_owner_can_read_a_recording(tmp_path):
    recorded(tmp_path / "r", FIRST)
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o600


def test_a_recording_never_overwrites_a_file(tmp_path):
    (tmp_path / "r").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        Recorder(tmp_path / "r", {}, ())
    assert (tmp_path / "r").read_text() == "mine"


def test_a_recording_where_none_can_be_made_is_refused(tmp_path):
    with pytest.raises(UsageError, match="Cannot write"):
        Recorder(tmp_path / "nowhere" / "r", {}, ())


def test_a_recording_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path):
    recorded(tmp_path / "r", FIRST, SECOND)
    whole = (tmp_path / "r").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-20])
    assert read_recording(tmp_path / "cut").requests == {1: FIRST}


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"type":"turn_ended","reason":"end_turn"}\n', b"\xff\xfe\n"])
def test_a_file_that_is_no_recording_is_refused(tmp_path, content):
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(RecordingDamaged, match="not a recording"):
        read_recording(tmp_path / "r")


def test_a_damaged_line_is_named(tmp_path):
    recorded(tmp_path / "r", FIRST)
    lines = (tmp_path / "r").read_bytes().split(b"\n")
    (tmp_path / "r").write_bytes(b"\n".join([lines[0], b"{broken", *lines[1:]]))
    with pytest.raises(RecordingDamaged, match="line 2"):
        read_recording(tmp_path / "r")


@pytest.mark.process
def test_a_full_disk_ends_the_recording_and_is_told_once(tmp_path):
    program = f"""
import resource, signal
from pathlib import Path
from halocline.protocol import events as ev
from halocline.store.tasks.recording import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = Recorder(Path({str(tmp_path / "r")!r}), {{}}, ())
recorder.tell = print
recorder.push(ev.StepStarted(model="m"))
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
recorder.push(ev.StepStarted(model="m" * 500))
recorder.push(ev.StepStarted(model="m"))
recorder.close()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert "The task continues." in done.stdout
    assert len(read_recording(tmp_path / "r").events) == 1
