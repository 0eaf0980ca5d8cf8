"""A replay is the same whatever the settings are by then: what steers a run stands in its log."""

import msgspec
import pytest
from tests.journeys.conftest import YOLO, Journey
from tests.samples import choose

from halocline.policy.presets import AutoApprove
from halocline.ports.code import SyntaxRule
from halocline.protocol import events as ev
from halocline.protocol.events.limits import Limits
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.replay import run_replay
from halocline.store.settings.provider_settings import Price, Provider, Timeouts
from halocline.store.settings.sections import (
    CompactionSettings,
    JudgeSettings,
    LanguageServerSettings,
    McpSettings,
    PlanSettings,
    PluginSettings,
    TerminalSettings,
    WebSearchSettings,
)
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording

OTHER = {
    "worktree_setup": "true",
    "model": "ollama/other",
    "fallback_models": ("ollama/other",),
    "profile": "other",
    "profiles": {"other": {"max_steps": 1}},
    "plan": PlanSettings(model="ollama/other", thinking_budget=5),
    "base_url": "http://127.0.0.1:1",
    "text_tools": ("*",),
    "image_models": ("*",),
    "extra_body": {"*": {"temperature": 0.5}},
    "double_check": True,
    "require_completion": True,
    "model_aliases": {"sonnet": "ollama/other"},
    "approval_mode": ApprovalMode.AUTO,
    "allowed_providers": ("ollama",),
    "allowed_models": ("ollama/*",),
    "modes_off": ("yolo",),
    "tools_off": ("*",),
    "web": False,
    "auto_approve": AutoApprove(read=False, edit=False, safe_commands=False, all_commands=False, web=False),
    "judge": JudgeSettings(model="ollama/other", rule="Allow nothing."),
    "max_steps": 1,
    "max_cost": 0.0001,
    "token_limit": 1,
    "time_limit": 0.0001,
    "max_failures": 1,
    "max_tokens": 7,
    "effort": "high",
    "thinking_budget": 7,
    "context_window": 1000,
    "prompt": "compact",
    "system_prompt_file": "nowhere",
    "append_system_prompt": "more",
    "language": "German",
    "checkpoints": False,
    "checkpoints_patience": 1.0,
    "checkpoints_quota": 1.0,
    "keep_deleted": 1,
    "sandbox": "require",
    "sandbox_network": True,
    "sandbox_git_writes": False,
    "traces": True,
    "trace_contents": True,
    "log_format": "json",
    "sandbox_writable": ("/tmp",),
    "sandbox_processes": 1,
    "sandbox_file_size": 1.0,
    "hide_keys": False,
    "syntax_errors": SyntaxRule.REFUSE,
    "partial_edits": True,
    "todo_reminder": 1,
    "memory": True,
    "subagents": "on",
    "subagent_steps": 1,
    "subagent_seconds": 1.0,
    "subagent_depth": 1,
    "subagents_at_once": 1,
    "extra_tools": ("new_task",),
    "words_off": ("*",),
    "web_search": WebSearchSettings(engine="searxng", url="http://127.0.0.1:1"),
    "language_servers": LanguageServerSettings(enabled=False),
    "plugins": PluginSettings(off=("*/tool/*",), registry="elsewhere"),
    "mcp": McpSettings(enabled=False, wait=0.0, share=0.0, sampling="off"),
    "terminal": TerminalSettings(
        title=False,
        progress=False,
        notify="off",
        keys="vi",
        status_line="{model}",
        notify_command="true",
        editor="ed",
    ),
    "encodings": {"*": "latin-1"},
    "formatters": {"*": "true"},
    "compaction": CompactionSettings(automatic=False, at=0.2),
    "connect_timeout": 1.0,
    "first_byte_timeout": 1.0,
    "stall_timeout": 1.0,
    "timeouts": {"ollama": Timeouts(connect=1.0)},
    "proxy": "http://127.0.0.1:1",
    "ca_file": "/nowhere",
    "browser": True,
    "browser_executable": "/bin/true",
    "browser_remote": "127.0.0.1:1",
    "browser_viewport": "360x640",
    "rules": False,
    "rules_excluded": ("*",),
    "add_dirs": ("/tmp",),
    "hooks": False,
    "hook_folders": ("/nowhere",),
    "hook_timeout": 1.0,
    "hook_failures": "continue",
    "prices": {"ollama/other": Price(input=1.0, output=1.0, window=1000)},
    "providers": {"other": Provider(base_url="http://127.0.0.1:1")},
    "pass_environment": ("GH_TOKEN",),
    "quiet_timeout": 1.0,
    "outage_patience": 1.0,
    "requests_per_minute": {"other": 1.0},
    "max_reply": 1.0,
    "catalogue_url": "http://127.0.0.1:1",
}
"""Of each setting a value that is not its default."""
LONG = "word " * 30_000
NOTHING = Turn(calls=(Call("read_file", {"path": "nothing"}),))
BUSY = (
    Turn(calls=(Call("update_todos", {"todos": [{"text": "one", "status": "in_progress"}]}),)),
    NOTHING,
    Turn(calls=(Call("read_file", {"path": "note.py"}),)),
    Turn(calls=(Call("write_to_file", {"path": "note.py", "content": "def broken(:\n"}),)),
    Turn(calls=(Call("execute_command", {"command": "echo $((1 + 1))"}),)),
    Turn(calls=(Call("web_fetch", {"url": "http://127.0.0.1:1/", "prompt": "x"}),)),
    Turn(calls=(Call("web_search", {"query": "x"}),)),
    Turn(text="Done."),
)
FAILING = (NOTHING, Turn(calls=(Call("read_file", {"path": "neither"}),)), Turn(text="Done."))
CROWDED = (Turn(text=LONG), Turn(text="Short."))
TASKS = {
    "of many steps": (BUSY, {}),
    "at its limit of steps": (BUSY, {"max_steps": 3}),
    "at its limit of cost": (BUSY, {"max_cost": 1.0}),
    "at its limit of failures": (FAILING, {"max_failures": 2}),
    "below its limit of failures": (FAILING, {"max_failures": 5}),
    "that is shortened": (CROWDED, {"context_window": 60_000}),
    "that is not shortened": (CROWDED, {"context_window": 60_000, "compaction": CompactionSettings(automatic=False)}),
    "that is shortened early": (CROWDED, {"context_window": 200_000, "compaction": CompactionSettings(at=0.1)}),
}


def test_each_setting_has_another_value_here():
    assert {field.name for field in msgspec.structs.fields(Settings)} == set(OTHER)
    assert [name for name, value in OTHER.items() if getattr(Settings(), name) == value] == []


@pytest.mark.parametrize("name", TASKS)
async def test_a_replay_does_not_depend_on_any_setting_of_today(journey: Journey, name: str):
    turns, settings = TASKS[name]
    journey.write("note.py", "x = 1\n")
    client = journey.client(turns, **settings)
    await journey.open(client, YOLO)
    await journey.prompt(client, "first")
    if turns is CROWDED:
        await journey.prompt(client, "second")
    await client.close()
    recording = Recording(tuple(journey.logged))
    different = []
    # A sample has the settings that such a task is about, and some of the others.
    chosen = [one for at, one in enumerate(OTHER.items()) if one[0] in settings or not at % choose(1, 4)]
    for setting, value in chosen:
        today = Assembly(journey.home, msgspec.structs.replace(Settings(), **{setting: value}), {})
        done = await run_replay(recording, today, strict=True)
        different += [] if done.same else [(setting, done.differences)]
    assert different == []


async def test_other_limits_at_a_resume_are_in_the_log(journey: Journey):
    await journey.run(*BUSY, max_steps=3)
    await journey.run(*BUSY[3:], prompt="go on", resume=journey.task, max_steps=2)
    (changed,) = [event for event in journey.logged if isinstance(event, ev.LimitsChanged)]
    assert changed.limits == Limits(steps=2, sandbox="off", checks_failures=True)
    journey.settings = Settings()
    assert (await journey.replay()).same


async def test_the_same_limits_at_a_resume_are_not_said_again(journey: Journey):
    await journey.run(*BUSY, max_steps=3)
    await journey.run(*BUSY[3:], prompt="go on", resume=journey.task, max_steps=3)
    assert [event for event in journey.logged if isinstance(event, ev.LimitsChanged)] == []


async def test_a_log_of_an_older_version_replays_with_the_limits_that_it_reached(journey: Journey):
    await journey.run(*FAILING)
    older = tuple(
        msgspec.structs.replace(event, limits=None) if isinstance(event, ev.TaskStarted) else event
        for event in journey.logged
    )
    for most in (3, 1):
        today = Assembly(journey.home, Settings(max_failures=most), {})
        assert (await run_replay(Recording(older), today, strict=True)).same
