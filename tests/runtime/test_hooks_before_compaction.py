import json
from pathlib import Path

import pytest

from halocline.ports.hooks import Shortening
from halocline.protocol.events.hooks import HookPoint, HookStatus
from halocline.protocol.messages import AssistantMessage, Note, Text, ToolCall, ToolResult, Usage, UserMessage
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.prompt import ModelState
from halocline.protocol.state.state import State
from halocline.runtime.rules.hooks import FolderHooks
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

pytestmark = pytest.mark.process

MESSAGES = (
    UserMessage((Text("mend it"),)),
    AssistantMessage((Text("I look."), ToolCall("c1", "read_file", {"path": "a.py"}))),
    ToolResult("c1", (Text("x = 1"),)),
)
CROWDED = Shortening("auto-condense", MESSAGES, tokens=90_000, first=1, last=3)
STATE = State(
    task="t1",
    workspace="/w",
    model=ModelState(name="anthropic/claude"),
    budget=BudgetState(steps=4, last_usage=Usage(1, 2, 3, 4)),
)


COPY = """python3 -c 'import json, shutil, sys
event = json.load(sys.stdin)["preCompact"]
shutil.copy(event["contextJsonPath"], "c.json"); shutil.copy(event["contextRawPath"], "c.txt")'"""


class Hooked:
    """A folder with hooks, and a task's hooks made of them."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "w"
        self.task = folder / "task"
        self.home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
        self.runs = []
        for made in (self.workspace / ".clinerules/hooks", self.workspace / ".claude", self.task):
            made.mkdir(parents=True)

    def script(self, text: str) -> None:
        path = self.workspace / ".clinerules/hooks/PreCompact"
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def listed(self, command: str, matcher: str = "") -> None:
        entry = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
        (self.workspace / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreCompact": [entry]}}))

    async def before(self, what: Shortening):
        folder = FolderHooks(self.workspace, self.home, Settings(), {})
        hooks = folder.live(self.task / "log.jsonl", frozenset(), str, trusted=True)
        hooks.attach(self.runs.append, lambda: STATE)
        return await hooks.before_compaction(what)


@pytest.fixture
def hooked(tmp_path):
    return Hooked(tmp_path)


async def test_a_hook_is_told_what_is_to_leave_in_the_words_of_both_forms(hooked):
    hooked.script("cat > told.json")
    await hooked.before(CROWDED)
    told = json.loads((hooked.workspace / "told.json").read_text())
    event = told["preCompact"]
    assert {event.pop("contextJsonPath") != "", event.pop("contextRawPath") != ""} == {True}
    assert event == {
        "taskId": "t1",
        "ulid": "t1",
        "contextSize": 3,
        "contextTokens": 90_000,
        "compactionStrategy": "auto-condense",
        "previousApiReqIndex": 3,
        "tokensIn": 1,
        "tokensOut": 2,
        "tokensInCache": 4,
        "tokensOutCache": 3,
        "deletedRangeStart": 1,
        "deletedRangeEnd": 3,
    }
    assert (told["hook_event_name"], told["trigger"], told["custom_instructions"]) == ("PreCompact", "auto", "")


async def test_the_conversation_lies_in_two_files_while_the_hook_runs(hooked):
    hooked.script(COPY)
    await hooked.before(CROWDED)
    kept = json.loads((hooked.workspace / "c.json").read_text())
    assert [(message["role"], [part["type"] for part in message["content"]]) for message in kept] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
    ]
    text = (hooked.workspace / "c.txt").read_text()
    assert text == 'user:\nmend it\n\nassistant:\nI look.\n[read_file {"path":"a.py"}]\n\ntool:\nx = 1'
    assert list(hooked.task.iterdir()) == []


async def test_a_hook_may_forbid_it(hooked):
    hooked.listed("echo 'keep it all' >&2; exit 2")
    assert "keep it all" in (await hooked.before(CROWDED)).blocked


async def test_a_hook_that_fails_forbids_nothing(hooked):
    hooked.script("exit 1")
    assert (await hooked.before(CROWDED)).blocked == ""
    assert [(run.moment, run.status) for run in hooked.runs] == [(HookPoint.PRE_COMPACT, HookStatus.FAILED)]


@pytest.mark.parametrize(("asked", "runs"), [(True, 1), (False, 0)])
async def test_a_matcher_is_held_against_who_wants_it(hooked, asked, runs):
    hooked.listed("cat > told.json", "manual")
    what = Shortening("auto-condense", MESSAGES, tokens=9, asked=asked, focus="the tests")
    await hooked.before(what)
    assert len(hooked.runs) == runs
    assert not asked or json.loads((hooked.workspace / "told.json").read_text())["custom_instructions"] == "the tests"


async def test_words_of_a_hook_are_for_the_model(hooked):
    hooked.script('echo \'{"contextModification": "the deadline is Friday"}\'')
    outcome = await hooked.before(CROWDED)
    (note,) = hooked.runs[0].content
    assert isinstance(note, Note)
    assert "Friday" in note.text
    assert outcome.blocked == ""


async def test_where_the_disk_takes_no_copy_the_hook_still_runs(hooked):
    hooked.script("cat > told.json")
    hooked.task.rmdir()
    await hooked.before(CROWDED)
    assert json.loads((hooked.workspace / "told.json").read_text())["preCompact"]["contextJsonPath"] == ""
