"""Names of tools that models know from other programs: each is the call of our tool, judged and run as that."""

import pytest
from tests.journeys.test_mcp import servers as servers
from tests.journeys.test_subagents import asks, client_of, log_of, reports

from halocline.context.other_tools import BY_HABIT
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


def test_every_other_name_leads_to_a_tool_and_is_none_of_ours():
    ours = {tool.name for tool in every_tool()}
    assert {theirs.name for theirs in BY_HABIT.values()} <= ours
    assert {name for name in BY_HABIT if name in ours} <= {"apply_patch"}


async def test_no_name_leads_around_in_circles_for_a_sub_agent_with_hardly_any_tool(journey):
    calls = tuple(Call(name, {}, id=f"c{at}") for at, name in enumerate((*BY_HABIT, "use_mcp_tool")))
    client = client_of(journey, (asks("look"), DONE), (Turn(calls=calls), reports("seen")))
    await journey.run(client=client)
    child = log_of(journey, journey.of(SubagentStarted)[0].child)
    ends = [event for event in child if isinstance(event, ev.ToolCallEnded)][: len(calls)]
    said = {call.tool: end.result.text for call, end in zip(calls, ends, strict=True)}
    for name in ("apply_patch", "Write", "insert_line"):
        assert said[name].startswith(f"There is no tool '{name}'. Available tools: ")
