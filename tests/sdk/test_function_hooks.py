"""Functions as hooks, at the points of the hooks of settings."""

import asyncio

import pytest

import halocline
from halocline.protocol import events as ev
from halocline.protocol.events.hooks import HookPoint, HookStatus
from halocline.testing import Call, Turn, calls_of, replay

WRITE = Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "new\n"}),))


async def test_each_point_gets_what_a_hook_of_settings_reads(scripted, workspace):
    got = {}

    def make(name):
        return lambda given: got.update({name: given})

    hooks = {point: make(point) for point in HookPoint}
    done = await halocline.run(
        "go", folder=workspace, model=scripted(WRITE, "done"), hooks=hooks, approval_mode="accept-edits"
    )
    assert list(got) == [
        "TaskStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "TaskComplete",
        "SessionShutdown",
    ]
    assert got["PreToolUse"]["preToolUse"]["parameters"] == {"path": "a.txt", "content": "new\n"}
    assert got["PreToolUse"]["tool_name"] == "Write"
    assert got["UserPromptSubmit"]["prompt"] == "go"
    assert {one["cwd"] for one in got.values()} == {str(workspace)}
    assert await replay(done.task) == ()


async def async_block(given):
    await asyncio.sleep(0)
    return halocline.HookAnswer(block="not today")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hook", "outcome"),
    [
        (async_block, "not today"),
        (lambda given: halocline.HookAnswer(block="not today"), "not today"),
        (lambda given: {"cancel": True, "errorMessage": "not today"}, "not today"),
        (lambda given: halocline.HookAnswer(ask="look"), "nobody can give it"),
        (lambda given: halocline.HookAnswer(arguments={"path": "b.txt"}), "b.txt"),
        (lambda given: halocline.HookAnswer(context="mind the gap"), "mind the gap"),
        (lambda given: "mind the gap", "mind the gap"),
        (lambda given: None, "a.txt"),
    ],
)
async def test_a_hook_decides_about_a_call(scripted, workspace, hook, outcome):
    done = await halocline.run(
        "go",
        folder=workspace,
        model=scripted(WRITE, "done"),
        hooks={"PreToolUse": hook},
        approval_mode="accept-edits",
    )
    (end,) = [event for event in done.events if isinstance(event, ev.ToolCallEnded)]
    assert outcome in "".join(getattr(part, "text", "") for part in end.result.content)
    assert await replay(done.task) == ()


async def cancels(given):
    raise asyncio.CancelledError


@pytest.mark.slow
@pytest.mark.parametrize("point", ["TaskStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete"])
@pytest.mark.parametrize(
    ("hook", "error", "said"),
    [
        (lambda given: 1 / 0, ZeroDivisionError, "division"),
        (lambda given: 7, halocline.UsageError, "A hook returned int, which is no answer"),
        (lambda given: {"x": object()}, TypeError, "object"),
        (cancels, halocline.UsageError, "was cancelled"),
    ],
)
async def test_what_a_hook_raises_ends_the_turn_and_is_raised(scripted, workspace, point, hook, error, said):
    options = {"model": scripted(WRITE, "done"), "hooks": {point: hook}, "approval_mode": "accept-edits"}
    async with halocline.open(folder=workspace, **options) as task:
        with pytest.raises(error, match=said):
            await task.run("go")
        assert task.result.task == task.id
        assert task.state.turn is None
        assert (workspace / "a.txt").exists() is (point in ("PostToolUse", "TaskComplete"))
    assert await replay(task.id) == ()


async def test_what_a_hook_raises_while_no_run_waits_is_raised_at_the_end(scripted, workspace):
    async def leave(**options):
        async with halocline.open(folder=workspace, model=scripted("done"), **options) as task:
            await task.send("go")
            async for event in task.events():
                if isinstance(event, ev.TurnEnded):
                    break
        return "left"

    for point in ("UserPromptSubmit", "SessionShutdown"):
        with pytest.raises(ZeroDivisionError):
            await leave(hooks={point: lambda given: 1 / 0})
    assert await leave(hooks={"PostToolUse": lambda given: 1 / 0}) == "left"


async def test_what_a_hook_raises_at_the_end_hides_no_error_of_the_program(scripted, workspace):
    hooks = {"SessionShutdown": lambda given: 1 / 0}

    async def fail():
        async with halocline.open(folder=workspace, model=scripted("done"), hooks=hooks) as task:
            await task.run("go")
            raise KeyError

    with pytest.raises(KeyError):
        await fail()


async def test_a_hook_may_be_for_some_tools_only(scripted, workspace):
    seen = []

    def note(given):
        seen.append(given["preToolUse"]["toolName"])

    model = scripted(Turn(calls=(Call("list_files", {"path": "."}),)), WRITE, "done")
    hooks = {"PreToolUse": [halocline.HookMatcher("write_to_file", note)]}
    await halocline.run("go", folder=workspace, model=model, hooks=hooks)
    assert seen == ["write_to_file"]


async def test_a_hook_that_takes_too_long_blocks_what_it_guards(scripted, workspace, halocline_home):
    (halocline_home / "settings.toml").write_text('sandbox = "off"\nhook_timeout = 0.05\n')

    async def hang(given):
        await asyncio.sleep(60)

    done = await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), hooks={"PreToolUse": hang})
    (ran,) = [event for event in done.events if isinstance(event, ev.HookRan)]
    assert ran.status is HookStatus.TIMED_OUT
    assert "it took longer than 0.05 s" in calls_of(done)[0].text


async def test_a_hook_allows_no_more_than_yolo_mode_would(scripted, workspace):
    (workspace / ".haloclineignore").write_text("a.txt\n")
    allow = {"PreToolUse": lambda given: halocline.HookAnswer(allow=True)}
    done = await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), hooks=allow)
    assert "hidden by an ignore file" in calls_of(done)[0].text
    other = Turn(calls=(Call("write_to_file", {"path": "b.txt", "content": "x"}),))
    await halocline.run("go", folder=workspace, model=scripted(other, "done"), hooks=allow)
    assert (workspace / "b.txt").exists()


async def test_functions_and_executables_of_one_point_run_both(scripted, workspace, halocline_home):
    folder = halocline_home / "hooks"
    folder.mkdir()
    (folder / "PreToolUse").write_text('#!/bin/sh\necho \'{"contextModification": "from a script"}\'\n')
    (folder / "PreToolUse").chmod(0o755)
    model = scripted(WRITE, Turn("done", expect=("from a script", "from a function")))
    hooks = {"PreToolUse": lambda given: "from a function"}
    done = await halocline.run("go", folder=workspace, model=model, hooks=hooks, approval_mode="accept-edits")
    assert done.text == "done"
