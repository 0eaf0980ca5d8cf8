"""Names of tools that models know from other programs: each is the call of our tool, judged and run as that."""

import pytest
from tests.journeys.test_mcp import servers as servers
from tests.journeys.test_subagents import asks, client_of, log_of, reports

from halocline.context.other_tools import BY_HABIT
from halocline.ports.tool import FOLDERS
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentStarted
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.tools.toolset import every_tool

DONE = Turn(text="done")
OURS = [
    ("Read", {"file_path": "a.txt"}, "read_file", "1 | one"),
    ("Read", {"file_path": "a.txt", "offset": 2, "limit": 1}, "read_file", "2 | two"),
    ("view", {"path": "a.txt"}, "read_file", "1 | one"),
    ("Write", {"file_path": "new.txt", "content": "x\n"}, "write_to_file", "Created new.txt"),
    ("write_file", {"path": "new.txt", "content": "x\n"}, "write_to_file", "Created new.txt"),
    ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "1"}, "replace_in_file", "Edited a.txt"),
    ("Bash", {"command": "echo hello", "description": "Say hello", "timeout": 20000}, "execute_command", "hello"),
    ("bash", {"command": "echo hello"}, "execute_command", "hello"),
    ("shell", {"command": ["bash", "-lc", "echo hello"]}, "execute_command", "hello"),
    ("Grep", {"pattern": "TWO", "-i": True, "output_mode": "content"}, "search_files", "two"),
    ("Glob", {"pattern": "src/**/*.py"}, "list_files", "inner.py"),
    ("Glob", {"pattern": "*.txt"}, "list_files", "a.txt"),
    ("Glob", {"pattern": "inner.py"}, "list_files", "src/inner.py"),
    ("LS", {"path": "src", "ignore": []}, "list_files", "inner.py"),
    ("TodoWrite", {"todos": [{"content": "x", "status": "pending"}]}, "update_todos", "0 of 1 done."),
    ("insert_line", {"path": "a.txt", "line": 2, "content": "between"}, "replace_in_file", "Edited a.txt"),
    ("insert_content", {"path": "a.txt", "line": 0, "content": "last\n"}, "replace_in_file", "Edited a.txt"),
    ("act_mode_respond", {"response": "Now the tests."}, "plan_mode_respond", "Continue with the work"),
]


@pytest.fixture
def files(journey):
    journey.write("a.txt", "one\ntwo\n")
    journey.write("src/inner.py", "x = 1\n")
    return journey


@pytest.mark.parametrize(("name", "arguments", "ours", "said"), OURS)
async def test_a_tool_of_another_program_is_the_one_of_ours(files, name, arguments, ours, said):
    await files.run(Turn(calls=(Call(name, arguments, id="c1"),)), DONE)
    (ended,) = files.of(ev.ToolCallEnded)
    assert (ended.name, ended.status) == (ours, CallStatus.COMPLETED), files.results
    assert said in files.results[0]


async def test_lines_are_inserted_before_a_line_and_at_the_end(files):
    first = Call("insert_line", {"path": "a.txt", "line": 2, "content": "between"}, id="c1")
    last = Call("insert_content", {"path": "a.txt", "line": 0, "content": "last\n"}, id="c2")
    wrong = Call("insert_line", {"path": "a.txt", "line": 9, "content": "x"}, id="c3")
    await files.run(Turn(calls=(first,)), Turn(calls=(last,)), Turn(calls=(wrong,)), DONE)
    assert (files.workspace / "a.txt").read_text() == "one\nbetween\ntwo\nlast\n"
    assert files.results[2] == "a.txt has no line 9: it has 4. Nothing changed."


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("read_files", {"files": [{"path": "a.txt", "start_line": 2}, {"path": "gone.txt"}, {"path": "src/inner.py"}]}),
        ("read_files", {"paths": ["a.txt", "gone.txt", "src/inner.py"]}),
        ("read_file", {"files": ["a.txt", "gone.txt", "src/inner.py"]}),
    ],
)
async def test_several_files_are_read_at_once_and_one_that_is_missing_costs_itself(files, name, given):
    await files.run(Turn(calls=(Call(name, given, id="c1"),)), DONE)
    (ended,) = files.of(ev.ToolCallEnded)
    said = "\n".join(part.text for part in ended.result.content)
    assert [
        words for words in ("a.txt:", "2 | two", "gone.txt:", "src/inner.py:", "1 | x = 1") if words not in said
    ] == []
    assert [file.path for file in ended.seen] == ["a.txt", "src/inner.py"]


async def test_several_files_are_each_judged(files):
    files.write(".env", "KEY=canaryvalue77\n")
    options = TaskOptions(approval_mode=ApprovalMode.ASK)
    await files.run(Turn(calls=(Call("read_files", {"paths": ["a.txt", ".env"]}, id="c1"),)), DONE, options=options)
    (ended,) = files.of(ev.ToolCallEnded)
    assert ended.status is CallStatus.REJECTED
    assert "canaryvalue77" not in files.results[0]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Write", {"file_path": "new.txt", "content": "x"}),
        ("Bash", {"command": "touch new.txt"}),
        ("insert_line", {"path": "a.txt", "line": 1, "content": "x"}),
    ],
)
async def test_another_name_is_no_way_around_plan_mode(files, name, arguments):
    options = TaskOptions(mode=Mode.PLAN, approval_mode=ApprovalMode.YOLO)
    await files.run(Turn(calls=(Call(name, arguments, id="c1"),)), DONE, options=options)
    assert files.of(ev.ToolCallEnded)[0].status is CallStatus.REJECTED
    assert not (files.workspace / "new.txt").exists()
    assert (files.workspace / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("arguments", ['{"text": "over there"}', {"text": "over there"}])
async def test_a_tool_of_a_server_is_called_by_clines_name_for_that(journey, servers, arguments):
    servers(test="")
    given = {"server_name": "test", "tool_name": "echo", "arguments": arguments}
    await journey.run(Turn(calls=(Call("use_mcp_tool", given, id="c1"),)), DONE)
    assert journey.results == ["over there"]
    assert journey.of(ev.ToolCallStarted)[0].title == 'test/echo {"text":"over there"}'


@pytest.mark.parametrize("name", ["mcp__test__echo", "test.echo", "test/echo", "test:echo", "echo"])
async def test_a_tool_of_a_server_is_found_under_the_names_that_other_programs_give_it(journey, servers, name):
    servers(test="")
    await journey.run(Turn(calls=(Call(name, {"text": "over there"}, id="c1"),)), DONE)
    assert journey.results == ["over there"]
    assert journey.of(ev.ToolCallStarted)[0].title == 'test/echo {"text":"over there"}'


async def test_a_name_that_two_servers_have_is_the_tool_of_neither(journey, servers):
    servers(test="", other="")
    await journey.run(Turn(calls=(Call("echo", {"text": "x"}, id="c1"),)), DONE)
    assert journey.results[0].startswith("There is no tool 'echo'")


@pytest.mark.parametrize(
    "given", [{}, {"server_name": "test", "tool_name": "none"}, {"server_name": 3, "tool_name": [], "arguments": "{"}]
)
async def test_a_tool_that_no_server_has_is_unknown(journey, servers, given):
    servers(test="")
    await journey.run(Turn(calls=(Call("use_mcp_tool", given, id="c1"),)), DONE)
    assert journey.results[0].startswith("There is no tool 'use_mcp_tool'")


@pytest.mark.parametrize("folder", ["src", "workspace"])
@pytest.mark.parametrize("command", ["pwd", "false || pwd", "true; pwd # here", "cat <<E\n$(pwd)\nE"])
async def test_a_command_runs_in_its_folder_and_leaves_the_shell_where_it_is(files, command, folder):
    place = str(files.workspace / "src") if folder == "src" else str(files.workspace)
    call = Call("exec_command", {"cmd": command, "workdir": place}, id="c1")
    await files.run(Turn(calls=(call,)), Turn(calls=(Call("execute_command", {"command": "pwd"}, id="c2"),)), DONE)
    assert files.results[0].startswith(f"{place}\n[")
    assert files.results[1].startswith(f"{files.workspace}\n[")


@pytest.mark.parametrize(("name", "key"), [("shell", "workdir"), ("run_shell_command", "dir_path"), ("bash", "cwd")])
async def test_a_command_is_judged_in_the_folder_that_it_runs_in(files, tmp_path, name, key):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.txt").write_text("canaryvalue77\n")
    call = Call(name, {"command": "cat notes.txt", key: str(outside)}, id="c1")
    await files.run(Turn(calls=(call,)), DONE, options=TaskOptions(approval_mode=ApprovalMode.AUTO))
    (ended,) = files.of(ev.ToolCallEnded)
    assert ended.status is CallStatus.REJECTED
    assert f"{outside} is outside the workspace" in files.results[0]
    assert "canaryvalue77" not in files.results[0]


async def test_a_folder_that_does_not_exist_stops_the_command(files):
    call = Call("exec_command", {"cmd": "touch made; true", "workdir": "gone"}, id="c1")
    await files.run(Turn(calls=(call,)), DONE)
    assert not (files.workspace / "made").exists()


@pytest.mark.parametrize("key", ["folder", *FOLDERS])
async def test_our_own_tool_for_commands_takes_a_folder_by_habit(files, key):
    await files.run(Turn(calls=(Call("execute_command", {"command": "ls", key: "src"}, id="c1"),)), DONE)
    assert files.results[0].startswith("inner.py\n")


async def test_a_patch_that_is_piped_in_a_folder_changes_the_files_there(files):
    patch = "apply_patch <<'E'\n*** Begin Patch\n*** Update File: inner.py\n@@\n-x = 1\n+x = 2\n*** End Patch\nE"
    await files.run(Turn(calls=(Call("exec_command", {"cmd": patch, "workdir": "src"}, id="c1"),)), DONE)
    assert (files.workspace / "src/inner.py").read_text() == "x = 2\n"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("insert_line", {"line": 2, "content": "new"}, "one\nnew\ntwo\n"),
        ("str_replace_editor", {"command": "insert", "insert_line": 0, "new_str": "new\n"}, "new\none\ntwo\n"),
        ("str_replace_editor", {"command": "insert", "insert_line": 1, "new_str": "new\n"}, "one\nnew\ntwo\n"),
        ("str_replace_editor", {"command": "insert", "insert_line": 2, "new_str": "new\n"}, "one\ntwo\nnew\n"),
        ("editor", {"insert_line": 1, "new_text": "new"}, "new\none\ntwo\n"),
        ("editor", {"insert_line": 3, "new_text": "new\n"}, "one\ntwo\nnew\n"),
        ("editor", {"old_text": "two", "new_text": "new"}, "one\nnew\n"),
        ("editor", {"new_text": "all new"}, "one\ntwo\n"),
        ("str_replace_editor", {"command": "str_replace", "old_str": "two\n"}, "one\n"),
    ],
)
async def test_edits_of_other_programs_leave_the_file_that_they_would(files, name, given, expected):
    await files.run(Turn(calls=(Call(name, {"path": "a.txt"} | given, id="c1"),)), DONE)
    assert (files.workspace / "a.txt").read_text() == expected, files.results


async def test_an_editor_without_an_old_text_creates_a_file(files):
    await files.run(Turn(calls=(Call("editor", {"path": "new.txt", "new_text": "x\n"}, id="c1"),)), DONE)
    assert (files.workspace / "new.txt").read_text() == "x\n"


@pytest.mark.parametrize("name", ["update_todos", "TodoWrite", "update_plan"])
async def test_a_to_do_list_under_any_name_may_stand_beside_the_end(files, name):
    rows = {"todos": [{"text": "x", "content": "x", "status": "completed"}]} if name != "update_plan" else {"plan": []}
    ends = Call("attempt_completion", {"result": "Done."}, id="c2")
    await files.run(Turn(calls=(Call(name, rows, id="c1"), ends)))
    assert [status for _, status in files.ends] == ["completed", "completed"], files.results


async def test_an_argument_that_means_nothing_here_costs_its_own_call_only(files):
    lost = Call("exec_command", {"cmd": "cat a.txt", "environment": "x"}, id="c1")
    await files.run(Turn(calls=(lost, Call("Read", {"file_path": "a.txt"}, id="c2"))), DONE)
    assert [status for _, status in files.ends] == ["failed", "completed"]
    assert files.results[0].startswith("exec_command is execute_command here, which has no argument environment.")


def test_every_other_name_leads_to_a_tool_and_is_none_of_ours():
    ours = {tool.name for tool in every_tool()}
    assert {theirs.name for theirs in BY_HABIT.values()} <= ours
    assert {name for name in BY_HABIT if name in ours} <= {"apply_patch"}


async def test_no_name_leads_around_in_circles_for_a_sub_agent_with_hardly_any_tool(journey):
    calls = tuple(Call(name, {}, id=f"c{at}") for at, name in enumerate((*BY_HABIT, "use_mcp_tool", "apply_patch")))
    client = client_of(journey, (asks("look"), DONE), (Turn(calls=calls), reports("seen")))
    await journey.run(client=client)
    child = log_of(journey, journey.of(SubagentStarted)[0].child)
    ends = [event for event in child if isinstance(event, ev.ToolCallEnded)][: len(calls)]
    said = {call.tool: end.result.text for call, end in zip(calls, ends, strict=True)}
    for name in ("apply_patch", "Write"):
        assert said[name].startswith(f"There is no tool '{name}'. Available tools: ")


@pytest.mark.parametrize(("second", "status"), [("src", "completed"), (".", "failed")])
async def test_two_names_of_one_argument_have_to_agree(files, second, status):
    given = {"command": "touch made", "cwd": "src", "workdir": second}
    await files.run(Turn(calls=(Call("execute_command", given, id="c1"),)), DONE)
    assert [ended for _, ended in files.ends] == [status], files.results
    assert not (files.workspace / "made").exists()
