"""Ten small tasks by a real model of 1.5 thousand million parameters. What it makes of them is not judged here, but in
`benchmarks/`; what Halocline makes of its replies is."""

import asyncio
import re
import shutil

import pytest
from benchmarks.small_model import FORMS, MOST_SECONDS, Run, compare
from benchmarks.small_tasks import TASKS
from tests.real_server import fetch_model, set_up

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import PRINTED, StopReason

pytestmark = pytest.mark.timeout(len(TASKS) * MOST_SECONDS)
"""The first test plays all tasks."""
EDITS = ("replace_in_file", "write_to_file", "apply_patch")
TOOLS = (*EDITS, "read_file", "list_files", "search_files", "execute_command", "attempt_completion")
PRINTED_CALL = re.compile(
    rf'"(?:name|tool)"\s*:\s*"(?:{"|".join(TOOLS)})"\s*,\s*"(?:arguments|parameters)"|<(?:{"|".join(TOOLS)})>'
)
FAILED = re.compile(r"\[(?:exit code [1-9]\d*(?!: )\b|killed by|stopped: it was still running)")

Events = list[ev.Durable]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Return one run of each task; skips where there is no server, no model or no bubblewrap."""
    if not set_up.is_there():
        pytest.skip(set_up.MISSING)
    if not fetch_model.is_there():
        pytest.skip(fetch_model.MISSING)
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    return asyncio.run(compare([FORMS["halo"]], TASKS))


@pytest.fixture(scope="module")
def logs(runs: list[Run]) -> dict[str, Events]:
    return {run.task: events_of(run.log) for run in runs}


def events_of(printed: str) -> Events:
    """The log in what a run printed; its last line is the result, unless the run took too long."""
    lines = [line for line in printed.splitlines() if not line.startswith('{"type":"result"')]
    return [codec.decode(line.encode()) for line in lines]


def test_every_task_ends_with_a_reason(logs: dict[str, Events]) -> None:
    ends = {task: events[-1] for task, events in logs.items()}
    assert {task for task, end in ends.items() if not isinstance(end, ev.TurnEnded)} == set()
    assert len(ends) == len(TASKS)
    assert {task for task, end in ends.items() if end.reason is StopReason.ERROR} == set()


def test_every_printed_call_is_a_call_or_gets_a_clear_note(logs: dict[str, Events]) -> None:
    left = []
    for task, events in logs.items():
        results = {event.call: event.result.text for event in events if isinstance(event, ev.ToolCallEnded)}
        for message in (event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)):
            if not message.tool_calls and PRINTED_CALL.search(message.text):
                left.append((task, message.text))
            broken = [call for call in message.tool_calls if call.malformed]
            left += [(task, call.malformed) for call in broken if not results[call.id].split(".")[0].strip()]
            left += [(task, results[call.id]) for call in broken if PRINTED in results[call.id]]
    assert left == []


def test_no_file_is_edited_whose_content_was_not_read(logs: dict[str, Events]) -> None:
    blind = []
    for task, events in logs.items():
        known: set[str] = set()
        heard = ""
        for event in events:
            match event:
                case ev.ToolCallEnded():
                    heard += event.result.text
                    known |= {seen.path.rpartition("/")[2] for seen in event.seen}
                case ev.FileChanged():
                    name = event.path.rpartition("/")[2]
                    if event.before is not None and name not in known and not _was_printed(heard, task, name):
                        blind.append((task, event.path))
                    known.add(name)
    assert blind == []


def _was_printed(heard: str, task: str, name: str) -> bool:
    """True if a command printed the file's lines."""
    files = next(one.files for one in TASKS if one.name == task)
    lines = [line for line in files.get(name, "").splitlines() if line.strip()]
    return bool(lines) and all(line in heard for line in lines)


def test_nothing_is_called_done_over_a_failed_edit_or_command(logs: dict[str, Events]) -> None:
    silent = []
    for task, events in logs.items():
        ends = [event for event in events if isinstance(event, ev.ToolCallEnded)]
        edits = [end.status for end in ends if end.name in EDITS]
        commands = [end.result.text.rpartition("\n")[2] for end in ends if end.name == "execute_command"]
        failed = edits[-1:] == ["failed"] or any(FAILED.match(line) for line in commands[-1:])
        last = events[-1]
        assert isinstance(last, ev.TurnEnded)
        if failed and last.reason is StopReason.END_TURN and not last.failed:
            silent.append(task)
    assert silent == []


def test_the_server_need_not_read_an_earlier_request_again(runs: list[Run]) -> None:
    assert {run.task: run.reuse for run in runs if run.reuse < 0.95} == {}
