import asyncio
import json
import os
from pathlib import Path

import pytest
from tests.pairings import each_with_each

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.events.hooks import HookStatus
from halocline.protocol.kinds import ApprovalMode, Choice, Mode
from halocline.protocol.messages import Note, StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True, trusted=True)
TOUCH = Call("execute_command", {"command": "touch made", "requires_approval": False}, id="c1")
DONE = Turn(text="done")


@pytest.fixture
def journey(journey, tmp_path):
    """A journey with a home folder of the person, in which hooks may be."""
    journey.user = tmp_path / "user"
    journey.user.mkdir()
    journey.env = {"HOME": str(journey.user)}
    return journey


def hook(journey, name: str, script: str, *, own: bool = False) -> Path:
    folder = journey.user / "Documents/Cline/Hooks" if own else journey.workspace / ".clinerules/hooks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


def claude(journey, hooks: dict, *, own: bool = False) -> None:
    folder = (journey.user if own else journey.workspace) / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))


def runs(journey) -> list[ev.HookRan]:
    return [event for event in journey.logged if isinstance(event, ev.HookRan)]


def says(**answer: object) -> str:
    return f"cat > /dev/null; echo '{json.dumps(answer)}'"


def command(script: str, **more: object) -> dict:
    return {"hooks": [{"type": "command", "command": script, **more}]}


def notes(message) -> str:
    return "\n".join(part.text for part in message.content if isinstance(part, Note))


def decide(decision=Choice.ALLOW_ONCE):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=decision)
        return None

    return answer


async def test_a_whole_task_with_a_hook_at_each_moment(journey):
    for moment in ("TaskStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "SessionShutdown"):
        hook(journey, moment, f'cat > "{journey.user}/{moment}.json"')
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO, checkpoints=False)
    assert [type(event).__name__ for event in journey.logged] == [
        "TaskStarted",
        "TurnStarted",
        "HookRan",
        "HookRan",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "HookRan",
        "ToolCallStarted",
        "HookRan",
        "ToolCallEnded",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "HookRan",
        "TurnEnded",
        "HookRan",
    ]
    assert [(run.moment.value, run.call, run.exit_code) for run in runs(journey)] == [
        ("TaskStart", "", 0),
        ("UserPromptSubmit", "", 0),
        ("PreToolUse", "c1", 0),
        ("PostToolUse", "c1", 0),
        ("TaskComplete", "", 0),
        ("SessionShutdown", "", 0),
    ]
    told = json.loads((journey.user / "PreToolUse.json").read_text())
    assert told["hookName"] == told["hook_event_name"] == "PreToolUse"
    assert told["preToolUse"] == {"toolName": "execute_command", "parameters": TOUCH.arguments}
    assert (told["tool_name"], told["tool_input"]["command"]) == ("Bash", "touch made")
    assert told["workspaceRoots"] == [told["cwd"]] == [str(journey.workspace)]
    assert json.loads((journey.user / "UserPromptSubmit.json").read_text())["prompt"] == "go"
    after = json.loads((journey.user / "PostToolUse.json").read_text())
    assert after["postToolUse"]["success"] is True
    assert after["tool_response"] == after["postToolUse"]["result"]


async def test_a_hook_blocks_a_call_and_the_model_reads_why(journey):
    hook(journey, "PreToolUse", says(cancel=True, errorMessage="no touching"))
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="no touching"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]
    assert not (journey.workspace / "made").exists()
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_exit_code_2_blocks_with_what_was_said_on_standard_error(journey):
    claude(journey, {"PreToolUse": [{"matcher": "Bash|Write", **command("echo 'not on fridays' >&2; exit 2")}]})
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="not on fridays"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]


async def test_a_matcher_for_another_tool_leaves_the_call_alone(journey):
    claude(journey, {"PreToolUse": [{"matcher": "Write|Edit", **command("exit 2")}]})
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert (journey.ends, runs(journey)) == ([("c1", "completed")], [])


async def test_context_of_a_hook_stands_in_the_result_of_the_call(journey):
    hook(journey, "PreToolUse", says(contextModification="WORKSPACE_RULES: tabs only"))
    hook(journey, "PostToolUse", says(contextModification="lint: all good"))
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="tabs only"), options=YOLO)
    result = journey.of(ev.ToolCallEnded)[0].result
    assert "tabs only" in notes(result)
    assert "lint: all good" in notes(result)


async def test_context_of_a_prompt_hook_reaches_the_model_with_the_prompt(journey):
    claude(journey, {"UserPromptSubmit": [command("echo today is release day")]})
    await journey.run(Turn(text="ok", expect="today is release day"), options=YOLO)
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_refused_prompt_never_reaches_the_model_not_even_later(journey):
    hook(
        journey, "UserPromptSubmit", 'grep -q hunter2 && echo \'{"cancel": true, "errorMessage": "a secret"}\' || true'
    )
    client = journey.client([DONE])
    try:
        await journey.open(client, YOLO)
        await journey.prompt(client, "use hunter2")
        assert journey.state.last_end.reason is StopReason.REFUSAL
        assert "a secret" in journey.state.last_end.text
        assert journey.state.budget.steps == 0
        await journey.prompt(client, "go")
    finally:
        await client.close()
    assert "hunter2" not in str(journey.state.messages)
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_changed_input_runs_and_stands_in_the_log_and_the_model_knows(journey):
    changes = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "touch other"}}}
    claude(journey, {"PreToolUse": [command(says(**changes))]})
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="touch other"), options=YOLO)
    assert (journey.workspace / "other").exists()
    assert not (journey.workspace / "made").exists()
    assert runs(journey)[0].arguments == {"command": "touch other", "requires_approval": False}


async def test_a_changed_input_is_judged_again(journey):
    own_state = str(journey.home.root / "settings.toml")
    read = Call("read_file", {"path": "a.txt"}, id="c1")
    journey.write("a.txt", "hello")
    claude(journey, {"PreToolUse": [command(says(hookSpecificOutput={"updatedInput": {"file_path": own_state}}))]})
    await journey.run(Turn(calls=(read,)), Turn(text="ok", expect="own-state"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]


async def test_a_change_that_the_tool_cannot_take_is_not_run(journey):
    hook(journey, "PreToolUse", says(overrideInput={"command": 7}))
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="A hook changed this call"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]


async def test_a_hook_can_ask_for_a_person_even_in_yolo_mode(journey):
    hook(journey, "PreToolUse", says(review=True, errorMessage="look twice"))
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True, trusted=True)
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=options, answer=decide())
    assert "look twice" in journey.of(ev.ApprovalRequested)[0].reason
    assert journey.ends == [("c1", "completed")]


ALLOW = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


async def test_an_allow_of_the_persons_own_hook_spares_the_question(journey):
    claude(journey, {"PreToolUse": [command(says(**ALLOW))]}, own=True)
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=decide())
    assert (journey.ends, journey.of(ev.ApprovalRequested)) == ([("c1", "completed")], [])


async def test_an_allow_of_the_projects_hook_spares_no_question(journey):
    claude(journey, {"PreToolUse": [command(says(**ALLOW))]})
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=decide())
    assert len(journey.of(ev.ApprovalRequested)) == 1


async def test_no_hook_allows_what_the_gate_denies(journey):
    claude(journey, {"PreToolUse": [command(says(**ALLOW))]}, own=True)
    plan = TaskOptions(mode=Mode.PLAN, attended=True)
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="plan-mode"), options=plan, answer=decide())
    assert (journey.ends, runs(journey)) == ([("c1", "rejected")], [])


async def test_the_persons_own_hook_judges_what_the_projects_hook_made_of_the_input(journey):
    hook(journey, "PreToolUse", says(overrideInput={"command": "touch evil"}))
    hook(journey, "PreToolUse", 'grep -q evil && { echo "evil" >&2; exit 2; }; exit 0', own=True)
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="evil"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]


FAILURES = {
    "a crash": ("exit 7", "exit code 7"),
    "a signal": ("kill -SEGV $$", "signal 11"),
    "a hang": ("sleep 60", "took longer than 0.5 s"),
    "a broken answer": ("echo '{\"cancel\": tru'", "not a JSON object"),
    "an answer of another form": ('echo \'{"cancel": "perhaps"}\'', "has the wrong form"),
    "a flood": ("yes", "printed more than"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_guard_that_fails_blocks_and_says_how(journey, name):
    script, said = FAILURES[name]
    hook(journey, "PreToolUse", script)
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect=said), options=YOLO, hook_timeout=0.5)
    assert journey.ends == [("c1", "rejected")]
    assert said in runs(journey)[0].said


@pytest.mark.parametrize("name", FAILURES)
async def test_a_guard_that_fails_lets_pass_when_the_settings_say_so(journey, name):
    hook(journey, "PreToolUse", FAILURES[name][0])
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO, hook_timeout=0.5, hook_failures="continue")
    assert journey.ends == [("c1", "completed")]
    assert runs(journey)[0].status in (HookStatus.FAILED, HookStatus.TIMED_OUT)


BROKEN = {
    "a comma too many": ("{'hooks': {}, }".replace("'", '"') + "}", "cannot be read"),
    "no object in hooks": ('{"hooks": [1]}', "cannot be read"),
    "a matcher that is no pattern": (
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "(", **command("true")}]}}),
        "matcher",
    ),
}


@pytest.mark.parametrize("own", [False, True], ids=["project", "person"])
@pytest.mark.parametrize("name", BROKEN)
async def test_what_may_be_guarded_by_hooks_that_cannot_be_read_does_not_happen(journey, name, own):
    text, said = BROKEN[name]
    claude(journey, {}, own=own)
    ((journey.user if own else journey.workspace) / ".claude/settings.json").write_text(text)
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert not (journey.workspace / "made").exists()
    assert said in runs(journey)[0].said


async def test_a_guard_whose_interpreter_is_not_installed_blocks(journey, monkeypatch):
    hook(journey, "PreToolUse.ps1", "exit 0").chmod(0o644)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert (journey.ends, runs(journey)[0].said) == ([("c1", "rejected")], "its interpreter, pwsh, is not installed")


@pytest.mark.parametrize("text", ["\ufeff%s", "// guards\n%s", "/* %% */%s"], ids=["mark", "comment", "note"])
async def test_a_settings_file_as_editors_save_it_guards(journey, text):
    claude(journey, {"PreToolUse": [command("echo no >&2; exit 2")]})
    file = journey.workspace / ".claude/settings.json"
    file.write_text(text.replace("%s", file.read_text()))
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert journey.ends == [("c1", "rejected")]


async def test_an_entry_says_for_itself_what_its_failure_means(journey):
    claude(journey, {"PreToolUse": [command("exit 7", onFailure="continue")]})
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert journey.ends == [("c1", "completed")]


async def test_noise_around_the_answer_and_noise_alone_are_no_failure(journey):
    hook(journey, "PreToolUse", "echo checking…; echo '{\"cancel\": false}'; echo bye")
    hook(journey, "PostToolUse", "echo formatted 3 files")
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert [run.status.value for run in runs(journey)] == ["completed", "completed"]


async def test_a_hook_after_a_call_that_fails_does_not_touch_its_result(journey):
    hook(journey, "PostToolUse", "exit 7")
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    assert journey.ends == [("c1", "completed")]


async def test_an_objection_after_a_call_is_told_to_the_model(journey):
    claude(journey, {"PostToolUse": [command("echo 'lint: line 3' >&2; exit 2")]})
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="lint: line 3"), options=YOLO)
    assert journey.ends == [("c1", "completed")]


async def test_a_failed_call_is_told_of_as_a_failure(journey):
    seen = journey.user / "seen"
    claude(journey, {"PostToolUse": [command(f"touch {seen}-good")], "PostToolUseFailure": [command(f"cat > {seen}")]})
    missing = Call("read_file", {"path": "nowhere"}, id="c1")
    await journey.run(Turn(calls=(missing,)), DONE, options=YOLO)
    assert journey.ends == [("c1", "failed")]
    assert "nowhere" in json.loads(seen.read_text())["error"]
    assert not Path(f"{seen}-good").exists()


async def test_a_stop_hook_sends_the_model_back_to_work_a_few_times_only(journey):
    claude(journey, {"Stop": [command(says(decision="block", reason="the tests are red"))]})
    again = Turn(text="again", expect="the tests are red")
    await journey.run(DONE, again, again, again, options=YOLO)
    assert journey.state.budget.steps == 4
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_an_error_and_an_interrupt_have_their_moments(journey):
    hook(journey, "TaskError", "cat > /dev/null")
    hook(journey, "TaskCancel", "cat > /dev/null")
    await journey.run(options=YOLO)
    assert [run.moment.value for run in runs(journey)] == ["TaskError"]

    def interrupt(event):
        return cmd.Interrupt(task=event.task) if isinstance(event, ev.ToolCallStarted) else None

    slow = Call("execute_command", {"command": "sleep 30", "requires_approval": False}, id="c2")
    await journey.run(Turn(calls=(slow,)), options=YOLO, answer=interrupt)
    assert [run.moment.value for run in runs(journey)] == ["TaskCancel"]


async def test_a_task_that_is_opened_again_is_resumed(journey):
    hook(journey, "TaskResume", says(contextModification="since then main has moved"))
    await journey.run(DONE, options=YOLO)
    await journey.run(Turn(text="ok", expect="main has moved"), options=YOLO, resume=journey.task)
    assert [run.moment.value for run in runs(journey)] == ["TaskResume"]


async def test_somebody_who_is_waited_for_is_notified_and_nobody_waits_for_that(journey):
    hook(journey, "Notification", f'cat > "{journey.user}/told"; sleep 0.3')
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=decide())
    assert json.loads((journey.user / "told").read_text())["notification"]["waitingForUserInput"] is True
    assert [run.status.value for run in runs(journey)] == ["completed"]


@pytest.mark.parametrize("moment", ["PreToolUse", "UserPromptSubmit", "PostToolUse"])
async def test_an_interrupt_ends_a_hook_and_nothing_of_it_is_left(journey, moment):
    left = journey.user / "left"
    hook(journey, moment, f"(sleep 1; touch {left}) & touch {journey.user}/begun; sleep 60")
    client = journey.client([Turn(calls=(TOUCH,)), DONE])
    try:
        await journey.open(client, YOLO)
        turn = asyncio.create_task(journey.prompt(client))
        while not (journey.user / "begun").exists():
            await asyncio.sleep(0.02)
        client.send(cmd.Interrupt(task=journey.task))
        await turn
    finally:
        await client.close()
    assert journey.state.last_end.reason is StopReason.CANCELLED
    assert [run.status.value for run in runs(journey)] == ["cancelled"]
    if moment == "PostToolUse":
        assert journey.ends == [("c1", "completed")]
    await asyncio.sleep(1.2)
    assert not left.exists()


async def test_hooks_do_not_see_keys(journey, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    hook(journey, "PreToolUse", f"env > {journey.user}/env")
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO)
    seen = (journey.user / "env").read_text()
    assert f"CLAUDE_PROJECT_DIR={journey.workspace}" in seen
    assert "sk-secret" not in seen


async def test_hooks_of_a_folder_that_nobody_trusts_do_not_run(journey):
    hook(journey, "PreToolUse", "exit 2")
    await journey.run(Turn(calls=(TOUCH,)), DONE)
    assert (journey.ends, runs(journey)) == ([("c1", "completed")], [])


async def test_hooks_of_a_trusted_folder_run_until_they_change(journey):
    script = hook(journey, "PreToolUse", "exit 2")
    journey.client([]).hooks_of(journey.workspace).say(trusted=True)
    await journey.run(Turn(calls=(TOUCH,)), DONE)
    assert journey.ends == [("c1", "rejected")]
    script.write_text("#!/bin/sh\nexit 0\n")
    await journey.run(Turn(calls=(TOUCH,)), DONE)
    assert (journey.ends, runs(journey)) == ([("c1", "completed")], [])


WRITERS = {
    "jq -c .tool_input >> log.jsonl": "log.jsonl",
    "python3 check.py b1.txt": "b1.txt",
    "cat > /dev/null; scripts/run.sh": "scripts/log.txt",
}


@pytest.mark.parametrize(("script", "moment"), each_with_each(list(WRITERS), ["PreToolUse", "PostToolUse"]))
async def test_a_hook_that_writes_a_file_goes_on_running(journey, script, moment):
    (journey.workspace / "check.py").write_text("import sys\nopen(sys.argv[1], 'a').write('seen\\n')\n")
    (journey.workspace / "b1.txt").write_text("x\n")
    (journey.workspace / "scripts").mkdir()
    run = journey.workspace / "scripts/run.sh"
    run.write_text('#!/bin/sh\necho seen >> "$(dirname "$0")/log.txt"\n')
    run.chmod(0o755)
    claude(journey, {moment: [command(script)]})
    journey.client([]).hooks_of(journey.workspace).say(trusted=True)
    calls = [Turn(calls=(Call("execute_command", TOUCH.arguments, id=f"c{number}"),)) for number in range(3)]
    options = TaskOptions(approval_mode=ApprovalMode.YOLO)
    for _ in range(2):
        await journey.run(*calls, DONE, options=options)
        assert [run.status for run in runs(journey)] == [HookStatus.COMPLETED] * 3
        assert {status for _, status in journey.ends} == {"completed"}
    written = (journey.workspace / WRITERS[script]).read_text()
    assert len(written.splitlines()) >= 6


async def test_a_hook_that_was_stopped_is_named_at_once_with_what_changed(journey):
    script = hook(journey, "PostToolUse", "exit 0")
    edit = Call("execute_command", {"command": f"echo exit 1 >> {script}", "requires_approval": False}, id="c1")
    again = Call("execute_command", {"command": "touch made", "requires_approval": False}, id="c2")
    last = Turn(text="ok", expect="halo trust add")
    await journey.run(Turn(calls=(edit,)), Turn(calls=(again,)), last, options=YOLO)
    (stopped, _) = runs(journey)
    assert stopped.status is HookStatus.FAILED
    assert ".clinerules/hooks/PostToolUse changed" in stopped.said
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    assert [one for one in said if "PostToolUse changed" in one and "halo trust add" in one]


async def test_an_agent_that_changes_a_guard_is_not_rid_of_it(journey):
    guard = hook(journey, "PreToolUse", "exit 0")
    edit = Call("execute_command", {"command": f"echo 'exit 0' >> {guard}", "requires_approval": False}, id="c1")
    again = Call("execute_command", {"command": "touch made", "requires_approval": False}, id="c2")
    last = Turn(text="ok", expect="halo trust add")
    await journey.run(Turn(calls=(edit,)), Turn(calls=(again,)), last, options=YOLO)
    assert journey.ends == [("c1", "completed"), ("c2", "rejected")]


async def test_hooks_are_off_when_the_settings_say_so(journey):
    hook(journey, "PreToolUse", "exit 2", own=True)
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO, hooks=False)
    assert journey.ends == [("c1", "completed")]


async def test_a_hook_in_a_folder_with_spaces_and_in_python_works(journey):
    hook(journey, "PreToolUse.py", "", own=True).chmod(0o644)
    path = journey.user / "Documents/Cline/Hooks/PreToolUse.py"
    answer = '{"cancel": True, "errorMessage": told["preToolUse"]["toolName"]}'
    path.write_text(f"import json, sys\ntold = json.load(sys.stdin)\nprint(json.dumps({answer}))\n")
    assert os.access(path, os.X_OK) is False
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="execute_command"), options=YOLO)
    assert journey.ends == [("c1", "rejected")]


LONG = "echo 'looks for secrets' >&2; echo '{\"cancel\": true}'; while true; do sleep 0.05; done"
GUARD_STOPPED = "The user stopped the hook .clinerules/hooks/PreToolUse, which must pass before this can continue."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "end", "calls"),
    [
        ("UserPromptSubmit", StopReason.REFUSAL, []),
        ("PreToolUse", StopReason.END_TURN, [("c1", "rejected")]),
        ("PostToolUse", StopReason.END_TURN, [("c1", "completed")]),
        ("TaskComplete", StopReason.END_TURN, [("c1", "completed")]),
    ],
)
async def test_a_person_stops_one_hook_and_what_it_guards_does_not_happen(journey, moment, end, calls):
    hook(journey, moment, LONG)
    shown = []

    def stop_when_shown(event):
        if not isinstance(event, ev.HookProgressed):
            return None
        shown.append(event)
        return cmd.StopHook(task=journey.task, run=event.run)

    await journey.run(Turn(calls=(TOUCH,)), DONE, options=YOLO, answer=stop_when_shown)
    (run,) = runs(journey)
    assert (run.status, run.run, run.moment.value) == (HookStatus.STOPPED, shown[0].run, moment)
    assert [event.text for event in shown] == ["looks for secrets\n"]
    assert journey.state.last_end.reason is end
    assert journey.ends == calls
    assert (journey.workspace / "made").exists() == (calls == [("c1", "completed")])
    if moment == "PreToolUse":
        assert GUARD_STOPPED in journey.results[0]


@pytest.mark.slow
async def test_a_stop_of_all_hooks_spares_those_that_are_not_shown_yet(journey):
    hook(journey, "PreToolUse", "sleep 0.5")
    client = journey.client([Turn(calls=(TOUCH,)), DONE])
    try:
        await journey.open(client, YOLO)
        assert not client.send(cmd.StopHook(task=journey.task))
        turn = asyncio.create_task(journey.prompt(client))
        while not any(isinstance(event, ev.AssistantMessageCompleted) for event in journey.logged):
            await asyncio.sleep(0.02)
        assert not client.send(cmd.StopHook(task=journey.task))
        await turn
    finally:
        await client.close()
    assert [(run.status.value, run.run) for run in runs(journey)] == [("completed", "")]
