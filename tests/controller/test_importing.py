import json

import pytest

from halocline.controller.importing import Importer, Standing
from halocline.protocol import events as ev
from halocline.protocol.fold import fold
from halocline.store.importing import claude, cline, codex
from halocline.store.importing.making import events
from halocline.store.paths import Home
from halocline.task.log import read

KEY = "sk-" + "a1" * 20


def at(second):
    return f"2026-10-01T12:00:{second:02}.000Z"


def jsonl(*lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def claude_line(kind, second, content, **more):
    role = {"role": kind, "content": content, **more}
    return {"type": kind, "uuid": f"u{second}", "cwd": "/p", "timestamp": at(second), "message": role}


def of_reply(second, block):
    usage = {"input_tokens": 5, "output_tokens": second, "cache_read_input_tokens": 7}
    return claude_line("assistant", second, [block], id="m1", model="claude-opus-4-6", usage=usage)


def result(call, text):
    return [{"type": "tool_result", "tool_use_id": call, "content": text}]


CLAUDE = jsonl(
    {"type": "summary", "summary": "s"},
    claude_line("user", 1, f"Look at a.py {KEY}"),
    of_reply(2, {"type": "thinking", "thinking": "hm", "signature": "x"}),
    of_reply(3, {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}),
    claude_line("user", 4, result("t1", "text of a \x1b[2J")),
    of_reply(5, {"type": "tool_use", "id": "t2", "name": "mcp__x__y", "input": {}}),
    claude_line("user", 6, result("t2", "two")),
    claude_line("assistant", 7, [{"type": "text", "text": "Done."}], id="m2", model="claude-opus-4-6"),
    {**claude_line("assistant", 8, [{"type": "text", "text": "aside"}], id="m3"), "isSidechain": True},
)


def item(second, **payload):
    return {"timestamp": at(second), "type": "response_item", "payload": payload}


def counted(second, total):
    info = {
        "total_token_usage": {"total_tokens": total},
        "last_token_usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 5},
    }
    return {"timestamp": at(second), "type": "event_msg", "payload": {"type": "token_count", "info": info}}


CODEX = jsonl(
    {"timestamp": at(0), "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}},
    {"timestamp": at(0), "type": "turn_context", "payload": {"model": "gpt-5.3-codex"}},
    item(1, type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>x"}]),
    item(1, type="message", role="user", content=[{"type": "input_text", "text": "List them"}]),
    item(2, type="function_call", name="shell", call_id="c1", arguments='{"command": ["bash", "-lc", "ls"]}'),
    counted(3, 105),
    counted(3, 105),
    item(4, type="function_call_output", call_id="c1", output="a.py"),
    item(5, type="message", role="assistant", content=[{"type": "output_text", "text": "a.py"}]),
)
CALL = {"type": "tool_use", "id": "k", "name": "execute_command", "input": {"command": "ls"}}
CONVERSATION = [
    {"role": "user", "content": [{"type": "text", "text": "<task>\nTidy up\n</task>"}], "ts": 1_790_000_000_000},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "I look."}, CALL],
        "metrics": {"tokens": {"prompt": 9, "completion": 2}, "cost": 0.5},
    },
    {"role": "user", "content": [*result("k", "a.py"), {"type": "text", "text": "<environment_details>x"}]},
    {"role": "assistant", "content": "Tidy."},
]
CLINE = json.dumps(CONVERSATION).encode()
NEXT = json.dumps({"version": 1, "sessionId": "s", "messages": CONVERSATION, "system_prompt": "x"}).encode()
READERS = {
    "claude": (CLAUDE, lambda data: claude.read(data.splitlines())),
    "codex": (CODEX, lambda data: codex.read(data.splitlines())),
    "cline": (CLINE, cline.read),
    "cline-next": (NEXT, cline.read),
}


@pytest.fixture
def importer(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLINE_DIR", "CLINE_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    return Importer(Home.of({"HALOCLINE_HOME": str(tmp_path / "halo")}))


def put(tmp_path, data=CLAUDE):
    path = tmp_path / ".claude/projects/-p/one.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def made(name, cut=None):
    data, reader = READERS[name]
    return list(events(reader(data[:cut])))


@pytest.mark.parametrize("name", READERS)
def test_a_transcript_torn_at_any_place_gives_turns_and_calls_that_all_have_their_end(name):
    for cut in range(0, len(READERS[name][0]), 3):
        log = made(name, cut)
        state = fold(log)
        turns = [type(event) for event in log if isinstance(event, ev.TurnStarted | ev.TurnEnded)]
        assert not state.open_calls
        assert turns == [ev.TurnStarted, ev.TurnEnded] * (len(turns) // 2)


def test_a_reply_over_several_lines_is_one_step_with_its_last_usage():
    log = made("claude")
    assert sum(isinstance(event, ev.StepStarted) for event in log) == 2
    state = fold(log)
    assert (state.usage.output, state.usage.cache_read) == (5, 7)
    assert [end.name for end in log if isinstance(end, ev.ToolCallEnded)] == ["read_file", "mcp__x__y"]
    assert KEY not in str(log)


def test_a_repeated_count_of_tokens_counts_once_and_a_command_is_one_line():
    log = made("codex")
    assert fold(log).usage.input == 60
    assert [start.title for start in log if isinstance(start, ev.ToolCallStarted)] == ["ls"]


@pytest.mark.parametrize("name", ["cline", "cline-next"])
def test_both_generations_of_cline_keep_prompt_call_and_cost(name):
    state = fold(made(name))
    assert state.title == "Tidy up"
    assert (state.steps, state.usage.input) == (2, 9)
    assert state.last_end.reason == "end_turn"


def test_what_is_imported_twice_is_here_once_and_the_original_is_as_it_was(importer, tmp_path):
    path = put(tmp_path)
    (there,) = importer.found()
    assert importer.take(there, "", dry=True).turns == 1
    assert importer.standing(there) is Standing.NEW
    taken = importer.take(there, "", dry=False)
    assert importer.take(there, "", dry=False).standing is Standing.SAME
    assert path.read_bytes() == CLAUDE
    log = list(read(tmp_path / "halo/tasks" / taken.task / "events.jsonl"))
    assert (log[0].workspace, log[0].origin.path) == ("/p", str(path))
    assert log[-1].at == there.at + 6


def test_a_transcript_that_grew_takes_the_place_of_its_first_import(importer, tmp_path):
    put(tmp_path, CLAUDE[: CLAUDE.index(b'"u5"')])
    (there,) = importer.found()
    first = importer.take(there, "", dry=False)
    assert first.unread
    put(tmp_path)
    (there,) = importer.found()
    second = importer.take(there, "", dry=False)
    assert (second.task, second.standing) == (first.task, Standing.GROWN)
    assert [folder.name for folder in (tmp_path / "halo/tasks").iterdir()] == [second.task]


def test_numbers_and_depths_that_no_log_can_hold_break_nothing(importer, tmp_path):
    deep = json.loads('{"a":' * 300 + "1" + "}" * 300)
    block = {"type": "tool_use", "id": "t", "name": "x", "input": {"n": 10**30, "deep": deep}}
    line = of_reply(2, block)
    line["message"]["usage"] = {"input_tokens": 10**30}
    put(tmp_path, jsonl({**claude_line("user", 1, "go"), "timestamp": 10**300}, line) + b'{"x": "\\ud800"}\n\xff\n')
    (there,) = importer.found()
    taken = importer.take(there, "", dry=False)
    log = list(read(tmp_path / "halo/tasks" / taken.task / "events.jsonl"))
    assert (taken.turns, len(taken.unread)) == (1, 2)
    assert fold(log).open_calls == ()
