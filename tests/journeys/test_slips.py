import pytest
from tests.servers.model_server import Call, ModelServer, Turn

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, ToolKind
from halocline.protocol.state.final_answer import final_text
from halocline.providers.scripted import model as script
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

EDITS = TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS)
ESCAPED, PLAIN = "if (a &lt; b &amp;&amp; c) {}\n", "if (a < b && c) {}\n"
WRITES = Turn(calls=(Call("write_to_file", {"file_path": "a.ts", "content": ESCAPED}),))
FINISHES = Turn(calls=(Call("attempt_completion", {"response": "All good."}),))


async def play(journey, model):
    async with ModelServer([WRITES, FINISHES]) as server:
        settings = Settings(base_url=server.url("openai"))
        client = Client(Controller(Assembly(journey.home, settings, {})), "test")
        options = TaskOptions(model=model, approval_mode=ApprovalMode.YOLO)
        await journey.run(client=client, options=options)
    return server.requests


@pytest.mark.parametrize(("model", "written"), [("deepseek/deepseek-chat", PLAIN), ("deepseek/other", ESCAPED)])
async def test_the_file_is_mended_for_a_listed_family_alone(journey, model, written):
    await play(journey, model)
    assert (journey.workspace / "a.ts").read_text() == written


async def test_the_log_and_the_next_request_hold_what_the_model_said(journey):
    requests = await play(journey, "deepseek/deepseek-chat")
    said = next(event for event in journey.logged if isinstance(event, ev.AssistantMessageCompleted))
    assert said.message.tool_calls[0].arguments == {"file_path": "a.ts", "content": ESCAPED}
    assert b"&lt;" in requests[1].raw


async def test_a_report_under_another_name_is_the_answer(journey):
    await play(journey, "deepseek/deepseek-chat")
    assert final_text(journey.state) == "All good."


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
HEREDOC = f"apply_patch <<'EOF'\n{PATCH}EOF"
FINISHED = script.Turn(text="done")


def shell(command: str) -> script.Turn:
    return script.Turn(calls=(script.Call("execute_command", {"command": command}, id="c1"),))


@pytest.mark.parametrize("command", [HEREDOC, f'bash -lc "{HEREDOC}"'])
async def test_a_patch_that_is_given_to_a_shell_is_an_edit(journey, command):
    journey.write("a.py", "x = 1\n")
    await journey.run(shell(command), FINISHED, options=EDITS)
    assert (journey.workspace / "a.py").read_text() == "x = 2\n"
    (started,), (ended,) = journey.of(ev.ToolCallStarted), journey.of(ev.ToolCallEnded)
    assert (started.name, started.kind, started.title) == ("apply_patch", ToolKind.EDIT, "Edit a.py")
    assert (ended.name, ended.diffs[0].path) == ("apply_patch", "a.py")
    assert [event.path for event in journey.of(ev.FileChanged)] == ["a.py"]


async def test_a_patch_that_is_given_to_a_shell_is_judged_by_the_paths_it_changes(journey):
    outside = journey.workspace.parent / "a.py"
    outside.write_text("x = 1\n")
    await journey.run(shell(HEREDOC.replace("a.py", "../a.py")), FINISHED, options=EDITS)
    assert "is outside the workspace" in journey.results[0]
    assert outside.read_text() == "x = 1\n"


async def test_a_patch_that_is_given_to_a_shell_begins_where_the_shell_stands(journey):
    journey.write("src/deep/a.py", "x = 1\n")
    await journey.run(shell("cd src"), shell(f"cd deep && {HEREDOC}"), FINISHED)
    assert (journey.workspace / "src/deep/a.py").read_text() == "x = 2\n"
    assert [event.path for event in journey.of(ev.FileChanged)] == ["src/deep/a.py"]


async def test_the_log_holds_the_command_that_the_model_wrote(journey):
    journey.write("a.py", "x = 1\n")
    await journey.run(shell(HEREDOC), FINISHED)
    said = journey.of(ev.AssistantMessageCompleted)[0].message.tool_calls[0]
    assert (said.name, said.arguments) == ("execute_command", {"command": HEREDOC})
