"""Tools of MCP servers through whole tasks: real processes, and each task is replayed without them."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from halocline.client.editor import EditorParts
from halocline.client.mcp import read_given_servers
from halocline.mcp.tool_names import name_for
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Mode, Scope
from halocline.protocol.messages import Note, StopReason, Text, UserMessage
from halocline.protocol.traces.context import header_for_call
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import McpSettings

SERVER = str(Path(__file__).parent.parent / "mcp" / "server.py")
ATTENDED = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
DONE = Turn(text="done")


def echo(text="hi", name="test__echo", id="c1"):
    return Turn(calls=(Call(name, {"text": text}, id=id),))


@pytest.fixture
def servers(journey):
    """Sets servers up, by name, each with how it behaves."""
    journey.env = {"HOME": str(journey.workspace.parent / "person"), "PATH": os.environ["PATH"]}

    def write(file=None, **hows):
        entries = {}
        for name, how in hows.items():
            words, more = (how, {}) if isinstance(how, str) else how
            entries[name] = {"command": sys.executable, "args": [SERVER, *words.split()], **more}
        file = file or journey.home.mcp
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": entries}))

    return write


def choosing(decision, asked=None, **more):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            if asked is not None:
                asked.append(event)
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=decision, **more)
        return None

    return answer


def told(journey) -> str:
    notes = [part for message in journey.state.messages if isinstance(message, UserMessage) for part in message.content]
    return "\n".join(part.text for part in notes if isinstance(part, Note) and part.source == "mcp")


async def test_a_tool_of_a_server_is_called_as_any_other(journey, servers):
    servers(test="")
    await journey.run(echo("over there"), DONE)
    assert journey.results == ["over there"]
    assert journey.of(ev.ToolCallStarted)[0].title == 'test/echo {"text":"over there"}'


async def test_a_server_gets_the_place_of_its_call_in_the_trace(journey, servers, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    servers(test="traced")
    await journey.run(echo(id="c1"), DONE, traces=True)
    started = journey.logged[0]
    assert journey.results == [header_for_call(journey.task, started.trace, "c1")]


async def test_without_traces_a_server_gets_none(journey, servers):
    servers(test="traced")
    await journey.run(echo(), DONE)
    assert journey.results == ["None"]


async def test_tools_of_one_name_are_offered_once_and_the_person_hears_of_the_others(journey, servers):
    servers(test="twice", other="twice many", plain="")
    await journey.run(echo("over there"), DONE)
    assert journey.results == ["over there"]
    offered = [tool for server in journey.state.mcp.servers for tool in server.tools]
    assert len({tool.name for tool in offered}) == len(offered)
    assert [tool.description for tool in offered if tool.name == "test__echo"] == ["Says it back."]
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    assert sorted(one for one in said if "lists tools twice" in one) == [
        f"The MCP server {name} lists tools twice; only the first of each name is used: echo, look"
        for name in ("other", "test")
    ]


async def test_a_person_is_asked_with_all_arguments_and_always_is_for_this_tool(journey, servers):
    servers(test="")
    asked = []
    answer = choosing(Choice.ALLOW_ALWAYS, asked)
    await journey.run(echo(), echo("again", id="c2"), DONE, options=ATTENDED, answer=answer)
    assert journey.results == ["hi", "again"]
    (request,) = asked
    assert '"text": "hi"' in request.detail
    assert (request.grant.mcp, request.wider.mcp) == ("test/echo", "test/*")


async def test_always_in_this_project_is_kept_in_a_task_with_servers_too(journey, servers):
    servers(test="")
    asked = []
    answer = choosing(Choice.ALLOW_ALWAYS, asked, scope=Scope.PROJECT)
    await journey.run(echo(), DONE, options=ATTENDED, answer=answer)
    await journey.run(echo(), DONE, options=ATTENDED, answer=answer)
    assert (journey.results, len(asked)) == (["hi"], 1)
    assert journey.state.last_end.reason is StopReason.END_TURN


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, "rejected"),
        ({"autoApprove": ["echo"]}, "completed"),
        ({"autoApprove": ["*"]}, "completed"),
        ({"autoApprove": ["look"]}, "rejected"),
        ({"autoApproveReadOnly": True}, "rejected"),
    ],
)
async def test_without_a_person_only_what_the_settings_allow_runs(journey, servers, settings, status):
    servers(test=("", settings))
    await journey.run(echo(), DONE, options=TaskOptions(approval_mode=ApprovalMode.AUTO))
    assert journey.ends == [("c1", status)]


async def test_a_server_that_is_believed_may_read_in_plan_mode_and_nothing_else(journey, servers):
    servers(test=("", {"autoApproveReadOnly": True}))
    both = Turn(calls=(Call("test__look", {}, id="c1"), Call("test__echo", {"text": "x"}, id="c2")))
    options = TaskOptions(approval_mode=ApprovalMode.ASK, mode=Mode.PLAN)
    await journey.run(both, DONE, options=options)
    assert journey.ends == [("c1", "completed"), ("c2", "rejected")]


async def test_a_server_gets_only_the_environment_that_it_declares(journey, servers):
    servers(test=("", {"env": {"TOKEN": "${GIVEN}-${NOT_SET:-x}", "PLAIN": "1"}}))
    journey.env |= {"GIVEN": "abc", "OPENAI_API_KEY": "sk-secret"}
    await journey.run(Turn(calls=(Call("test__look", {}, id="c1"),)), DONE)
    seen = json.loads(journey.results[0])
    assert (seen["TOKEN"], seen["PLAIN"]) == ("abc-x", "1")
    assert not seen.keys() & {"OPENAI_API_KEY", "GIVEN"}


async def test_a_projects_servers_run_only_in_a_trusted_folder(journey, servers):
    servers(file=journey.workspace / ".mcp.json", test="")
    await journey.run(echo(), DONE)
    assert journey.ends == [("c1", "failed")]
    assert told(journey) == ""
    assert [event for event in journey.of(ev.Noticed) if "MCP" in event.text] == []
    assert not (journey.home.logs / "mcp").exists()


async def test_a_folder_may_be_trusted_for_one_run(journey, servers):
    servers(file=journey.workspace / ".mcp.json", test="")
    await journey.run(echo(), DONE, options=TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True))
    assert journey.results == ["hi"]


async def test_a_tool_that_was_redefined_is_asked_about_again_and_shows_the_difference(journey, servers):
    settings = {"autoApprove": ["echo"]}
    servers(test=("", settings))
    await journey.run(echo(), DONE)
    servers(test=("changed", settings))
    asked = []
    answer = choosing(Choice.ALLOW_ONCE, asked)
    turns = echo(id="c2"), echo(id="c3"), DONE
    await journey.run(*turns, options=ATTENDED, answer=answer)
    (request,) = asked
    assert request.rule == "mcp-changed"
    assert "+Says it back, and to others." in request.diffs[0].text
    assert journey.results == ["hi", "hi"]


async def test_a_tool_that_changes_while_it_is_used_is_not_run_as_something_else(journey, servers):
    servers(test="changes")
    await journey.run(echo(), echo(id="c2"), echo(id="c3"), DONE, options=ATTENDED, answer=choosing(Choice.ALLOW_ONCE))
    assert journey.ends[0] == ("c1", "completed")
    offers = journey.of(ev.McpOffered)
    assert [offer.server.tools[0].description for offer in offers][:2] == ["Says it back.", "Says something else."]
    assert offers[1].server.tools[0].changed


async def test_a_tool_that_runs_only_as_a_task_is_run_as_one(journey, servers):
    servers(test="tasks")
    await journey.run(Turn(calls=(Call("test__research", {}, id="c1"),)), echo(id="c2"), DONE)
    assert journey.results == ["found it", "hi"]


async def test_a_task_of_a_server_that_takes_too_long_is_called_off(journey, servers):
    servers(test=("tasks unending", {"timeout": 1}))
    await journey.run(Turn(calls=(Call("test__research", {}, id="c1"),)), DONE)
    assert journey.results == ["test/research failed: it did not answer within 1 s"]
    assert "the task is called off" in (journey.home.logs / "mcp" / "test__log.log").read_text()


async def test_tools_that_are_too_many_are_found_and_then_called(journey, servers):
    servers(test="many")
    text = '{"text": "y"}'
    find = Turn(calls=(Call("find_tools", {"query": "tool 77"}, id="c1"),))
    call = Turn(calls=(Call("call_mcp_tool", {"tool": "test__tool_77", "arguments": {"text": "x"}}, id="c2"),))
    again = Turn(calls=(Call("call_mcp_tool", {"tool": "test__tool_78", "arguments": text}, id="c3"),))
    wrong = Turn(calls=(Call("call_mcp_tool", {"tool": "test__tool_78", "arguments": "{"}, id="c4"),))
    await journey.run(find, call, again, wrong, DONE, mcp=McpSettings(wait=20.0, share=0.01))
    assert "test__tool_77: [test] Number 77." in journey.results[0]
    assert '"required":["text"]' in journey.results[0]
    assert "[Call one of them with call_mcp_tool. 144 more match;" in journey.results[0]
    assert journey.results[1:3] == ["x", "y"]
    assert "arguments is not a JSON object." in journey.results[3]
    assert journey.of(ev.ToolCallStarted)[1].name == "test__tool_77"
    assert "look them up with find_tools" in told(journey)


async def test_resources_are_listed_and_read(journey, servers):
    servers(test="")
    one = Turn(calls=(Call("access_mcp_resource", {}, id="c1"),))
    two = Turn(calls=(Call("access_mcp_resource", {"server_name": "test", "uri": "test://one"}, id="c2"),))
    await journey.run(one, two, DONE)
    assert "test://one  one" in journey.results[0]
    assert journey.results[1] == "[resource test://one]\ninside"


async def test_servers_that_hang_cost_the_first_request_the_set_wait_and_no_more(journey, servers):
    servers(test="", **{f"good_{n}": "" for n in range(6)}, one="never", two="never", three="never")
    began = asyncio.get_running_loop().time()
    await journey.run(echo(), DONE, mcp=McpSettings(wait=0.8))
    assert journey.results == ["hi"]
    started = journey.of(ev.StepStarted)[0].at - journey.of(ev.TurnStarted)[0].at
    assert started < 6
    assert "The MCP server one is not available: it is still starting" in told(journey)
    assert asyncio.get_running_loop().time() - began < 15


async def test_a_server_that_let_a_task_wait_in_vain_is_not_waited_for_by_the_next(journey, servers):
    servers(test="never")
    await journey.run(DONE, mcp=McpSettings(wait=2.0))
    first = journey.of(ev.StepStarted)[0].at - journey.of(ev.TurnStarted)[0].at
    await journey.run(DONE, mcp=McpSettings(wait=2.0))
    then = journey.of(ev.StepStarted)[0].at - journey.of(ev.TurnStarted)[0].at
    assert then < 1.5 < first


async def test_a_server_that_is_ready_late_joins_with_the_next_request_and_the_model_is_told(journey, servers):
    servers(test="late")
    go = "touch go; while [ ! -e listed ]; do sleep 0.05; done; sleep 0.5"
    start = Turn(calls=(Call("execute_command", {"command": go}, id="c1"),))
    await journey.run(start, echo(id="c2"), DONE, mcp=McpSettings(wait=0.1))
    assert journey.results[1] == "hi"
    assert "test is not available: it is still starting" in told(journey)
    assert "The MCP server test is ready. Its tools: test__echo, test__look." in told(journey)


def test_a_task_waits_two_seconds_for_servers_unless_its_settings_say_otherwise():
    assert McpSettings().wait == 2


async def test_what_is_known_of_a_server_is_offered_without_starting_it(journey, servers):
    servers(test="")
    await journey.run(echo(), DONE)
    log = journey.home.logs / "mcp" / "test__log.log"
    before = log.read_text()
    await journey.run(Turn(text="No tool needed."))
    assert journey.of(ev.McpOffered)[0].server.tools[0].tool == "echo"
    assert log.read_text() == before


async def test_an_error_of_a_tool_is_a_failed_call_with_its_words(journey, servers):
    servers(test="fails")
    await journey.run(echo(), DONE)
    assert journey.ends == [("c1", "failed")]
    assert journey.results == ["test/echo failed: the disk is full"]


async def test_a_crash_in_a_call_ends_the_call_with_the_last_words_and_the_server_comes_back(journey, servers):
    servers(test="crash")
    await journey.run(echo(), echo(id="c2"), DONE)
    assert journey.ends == [("c1", "failed"), ("c2", "failed")]
    for result in journey.results:
        assert "it exited with code 3" in result
        assert "I cannot go on." in result


@pytest.mark.parametrize(("how", "why"), [("flood", "64 MB unasked"), ("endless", "a message larger than")])
async def test_a_flood_ends_the_server_and_not_the_task(journey, servers, how, why):
    servers(test=how)
    journey.longest = 60
    await journey.run(echo(), DONE)
    assert journey.ends == [("c1", "failed")]
    assert why in journey.results[0]


async def test_a_call_that_takes_too_long_is_given_up(journey, servers):
    servers(test=("hang", {"timeout": 1}))
    await journey.run(echo(), DONE)
    assert journey.results == ["test/echo failed: it did not answer within 1 s"]


async def test_progress_is_shown_and_gives_a_call_its_time_anew(journey, servers):
    servers(test=("slow", {"timeout": 1}))
    await journey.run(echo("late"), DONE)
    assert journey.results == ["late"]
    assert "1 of 4 working\n" in [event.text for event in journey.of(ev.ToolCallProgressed)]


async def test_noise_on_standard_output_is_survived_and_kept(journey, servers):
    servers(test="noise")
    await journey.run(echo(), DONE)
    assert journey.results == ["hi"]
    assert "(stdout) Welcome to the server!" in (journey.home.logs / "mcp" / "test__log.log").read_text()


@pytest.mark.parametrize(
    ("how", "why"),
    [("dies", "no key was given"), ("version", "1999-01-01")],
)
async def test_why_a_server_cannot_be_used_is_told(journey, servers, how, why):
    servers(test=how)
    await journey.run(DONE)
    assert why in told(journey)


async def test_a_server_that_ends_at_a_question_of_the_new_protocol_gets_the_old_handshake(journey, servers):
    servers(test="old")
    await journey.run(echo(), DONE)
    assert journey.results == ["hi"]


async def test_cyclic_and_giant_schemas_and_strange_names_can_be_offered(journey, servers):
    servers(test="cyclic giant strange")
    await journey.run(DONE, mcp=McpSettings(wait=20.0, share=1))
    tools = {tool.tool: tool for tool in journey.of(ev.McpOffered)[0].server.tools}
    assert "$ref" not in json.dumps(tools["cyclic"].schema)
    assert len(json.dumps(tools["giant"].schema)) < 15_000
    (strange,) = [tool for name, tool in tools.items() if name.startswith("a tool/with")]
    assert len(strange.name) == 64
    assert strange.description == "hidden"


async def test_a_picture_is_a_picture_for_a_model_that_sees_and_a_note_for_one_that_does_not(journey, servers):
    servers(test="picture")
    await journey.run(echo(), DONE)
    assert journey.results[0].startswith("[an image, image/png, stored as sha256:")


async def test_a_character_that_a_server_cut_in_two_is_read(journey, servers):
    servers(test="cuts")
    await journey.run(echo(), DONE)
    assert "cut \ufffd" in journey.results[0]


async def test_what_a_server_asks_is_put_to_the_person(journey, servers):
    servers(test="asks")

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            assert event.options == ("red", "blue", "Decline")
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="blue")
        return choosing(Choice.ALLOW_ONCE)(event)

    await journey.run(echo(), DONE, options=ATTENDED, answer=answer)
    assert json.loads(journey.results[0]) == {"action": "accept", "content": {"colour": "blue"}}


async def test_no_process_of_a_server_outlives_its_task(journey, servers):
    servers(test="child")
    await journey.run(echo(), DONE)
    left = [Path(p, "cmdline") for p in Path("/proc").iterdir() if p.name.isdigit()]
    assert b"sleep\x00987\x00" not in [cmdline.read_bytes() for cmdline in left if cmdline.exists()]


async def test_nothing_waits_for_news_of_a_server_that_was_ended(journey, servers):
    servers(test="")
    before = asyncio.all_tasks()
    await journey.run(echo(), DONE)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_server_that_is_added_while_a_task_is_open_is_offered_in_the_next_step(journey, servers):
    servers(first="")
    client = journey.client([DONE, DONE, echo(name="second__echo"), DONE])
    await journey.open(client)
    await journey.prompt(client)
    servers(first="", second="")
    await asyncio.sleep(2)
    async with asyncio.timeout(15):
        while "second" not in [server.name for server in client.state(journey.task).mcp.servers]:
            await journey.prompt(client)
            break
    await client.close()
    assert journey.of(ev.McpOffered)[0].server.name == "second"


async def test_a_prompt_of_a_server_is_filled_in_with_what_a_person_typed(journey, servers):
    servers(test="")
    client = journey.client([DONE])
    await journey.open(client)
    (said,) = await client.mcp_prompt(journey.task, "/mcp:test:greet the world")
    assert [prompt.command for prompt in client.mcp_prompts(journey.task)] == ["mcp:test:greet"]
    with pytest.raises(UsageError, match="needs who"):
        await client.mcp_prompt(journey.task, "/mcp:test:greet")
    with pytest.raises(UsageError, match="no prompt /mcp:test:greets"):
        await client.mcp_prompt(journey.task, "/mcp:test:greets the world")
    await client.close()
    assert said.source == "mcp_prompt"
    assert said.text.endswith("Greet the world.")


async def test_a_prompt_of_a_server_steers_a_running_turn_and_an_unknown_one_is_told_and_not_sent(journey, servers):
    servers(test="slow")
    typed = ["/mcp:test:greet the world", "/mcp:test:great"]

    def steering(event):
        if isinstance(event, ev.ToolCallProgressed) and typed:
            return cmd.Steer(task=journey.task, content=(Text(typed.pop(0)),))
        return None

    await journey.run(echo(), DONE, answer=steering)
    (steered,) = journey.of(ev.SteeringReceived)
    assert [part.text.splitlines()[-1] for part in steered.content] == ["Greet the world.", "/mcp:test:greet the world"]
    (told,) = [event.text for event in journey.of(ev.Noticed)]
    assert told.startswith("There is no prompt /mcp:test:great. The message was not sent.")


async def test_a_prompt_of_a_server_comes_through_the_door_as_any_other_word(journey, servers):
    servers(test="")
    client, guest = journey.client([DONE]), journey.client([])
    await journey.open(client)
    after = client.state(journey.task).seq
    async with asyncio.timeout(20):
        await guest.join(journey.task, ATTENDED)
        await guest.pass_on(cmd.SubmitPrompt(task=journey.task, content=(Text("/mcp:test:greet the world"),)))
        async for event in client.events(journey.task, after):
            if isinstance(event, ev.TurnStarted):
                break
    assert event.content[0].text.endswith("Greet the world.")
    await guest.close()
    await client.close()


async def test_how_it_stands_with_each_server_is_told(journey, servers):
    servers(dead="dies", off=("", {"disabled": True}), test="")
    client = journey.client([DONE])
    await journey.open(client)
    await journey.prompt(client)
    found = {each.name: (each.state, each.tools) for each in client.mcp_standings(journey.task)}
    await client.close()
    assert found == {"dead": ("failed", 0), "off": ("off", 0), "test": ("ready", 2)}


async def test_an_interrupt_ends_a_call_that_hangs_and_the_server_is_told(journey, servers):
    servers(test="waits")
    client = journey.client([echo(), DONE])
    await journey.open(client)

    def interrupting(event):
        return cmd.Interrupt(task=journey.task) if isinstance(event, ev.ToolCallProgressed) else None

    await journey.prompt(client, answer=interrupting)
    assert journey.ends == [("c1", "cancelled")]
    log = journey.home.logs / "mcp" / "test__log.log"
    async with asyncio.timeout(10):
        while "called off" not in log.read_text():
            await asyncio.sleep(0.05)
    await client.close()


def starts(journey, name="test") -> int:
    return (journey.home.logs / "mcp" / f"{name}__log.log").read_text().count("starting: ")


async def test_only_a_server_whose_settings_changed_in_essence_is_started_again(journey, servers):
    servers(test="", other="")
    client = journey.client([DONE, echo(), DONE])
    await journey.open(client)
    await journey.prompt(client)
    servers(test=("", {"autoApprove": ["echo"], "timeout": 5}), other=("", {"env": {"A": "1"}}))
    async with asyncio.timeout(15):
        while starts(journey, "other") < 2:
            await asyncio.sleep(0.1)
    await journey.prompt(client)
    await client.close()
    assert journey.results == ["hi"]
    assert starts(journey) == 1


async def test_a_change_of_a_watched_file_starts_the_server_again(journey, servers):
    built = journey.write("built.js", "1")
    servers(test=("", {"watch": ["built.js"]}))
    client = journey.client([DONE, echo(), DONE])
    await journey.open(client)
    await journey.prompt(client)
    await asyncio.sleep(1.5)
    built.write_text("22")
    async with asyncio.timeout(15):
        while starts(journey) < 2:
            await asyncio.sleep(0.1)
    await journey.prompt(client)
    await client.close()
    assert journey.results == ["hi"]


async def test_a_broken_file_keeps_the_servers_and_is_told_once(journey, servers):
    servers(test="")
    client = journey.client([DONE, echo(), echo(id="c2"), DONE])
    await journey.open(client)
    await journey.prompt(client)
    journey.home.mcp.write_text("{")
    await asyncio.sleep(1.5)
    await journey.prompt(client)
    await client.close()
    assert journey.results == ["hi", "hi"]
    (notice,) = [event.text for event in journey.of(ev.Noticed) if "mcp.json" in event.text]
    assert "Cannot read" in notice


async def test_a_program_that_is_not_there_is_named(journey):
    journey.env = {"PATH": os.environ["PATH"]}
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"test": {"command": "no-such-program"}}}))
    await journey.run(DONE)
    assert "program not found: no-such-program; install it" in told(journey)


NAMES = ("github.com/owner/repo", "github.com/owner_repo", "with space", "with.dot", "a/b", "a_b", "9", "ümlaut")


async def test_servers_of_any_name_have_tools_with_legal_names_of_their_own(journey, servers):
    servers(**dict.fromkeys(NAMES, ""))
    call = echo(name=name_for("github.com/owner/repo", "echo"))
    await journey.run(call, DONE, options=TaskOptions(approval_mode=ApprovalMode.YOLO))
    tools = [tool for event in journey.of(ev.McpOffered) for tool in event.server.tools if tool.tool == "echo"]
    assert {tool.server for tool in tools} == set(NAMES)
    assert len({tool.name for tool in tools}) == len(NAMES)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", tool.name) for tool in tools)
    assert journey.of(ev.ToolCallEnded)[0].status is CallStatus.COMPLETED


@pytest.mark.parametrize(("name", "denied"), [("a/b", True), ("a", False)])
async def test_a_rule_for_a_server_with_a_slash_binds_it_and_no_other(journey, servers, name, denied):
    servers(**{"a/b": "", "a": ""})
    journey.home.policy.write_text('[[rule]]\ndecision = "deny"\nmcp = "a/b/*"\nreason = "no"\n')
    call = echo(name=name_for(name, "echo"))
    await journey.run(call, DONE, options=TaskOptions(approval_mode=ApprovalMode.YOLO))
    assert (journey.of(ev.ToolCallEnded)[0].status is not CallStatus.COMPLETED) == denied


async def test_a_prompt_of_a_server_with_a_slash_in_its_name_is_found(journey, servers):
    servers(**{"github.com/owner/repo": ""})
    client = journey.client([DONE])
    await journey.open(client)
    (said,) = await client.mcp_prompt(journey.task, "/mcp:github.com/owner/repo:greet the world")
    await client.close()
    assert said.text.endswith("Greet the world.")


async def test_a_bad_element_of_a_list_costs_itself_and_is_named_to_the_person(journey, servers):
    servers(test="crooked pages")
    await journey.run(echo("over there"), DONE)
    assert journey.results == ["over there"]
    (server,) = journey.state.mcp.servers
    assert [tool.tool for tool in server.tools] == ["echo", "look", "output", "php", "nothing", "typed"]
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    assert said == [
        "Some of what the MCP server test offers is not valid MCP and was left out: "
        + "; ".join(
            [
                "the tool unsaid (it has no inputSchema)",
                "the outputSchema of the tool output",
                "the properties of the tool php (they are not an object)",
                "tool number 8 (it has no name)",
                "tool number 9 (it has no name)",
                "the rest of its tools (listing them failed)",
                "its prompts (they are not a list).",
            ]
        )
    ]


@pytest.mark.parametrize(
    ("what", "read"),
    [
        ("kind", ["[a part of the kind video was left out: it is not known here, or not valid]", "after"]),
        ("field", ["after"]),
        ("string", ["after"]),
        ("strings", ["after", "3"]),
        ("object", ["after"]),
        ("picture", ["[a part of the kind image was left out: it is not known here, or not valid]", "after"]),
        ("null", ['{"said":"after"}']),
        ("none", ['{"said":"after"}']),
        ("list", ['["after"]']),
        ("error", ["after"]),
        ("bare list", ["after", "2"]),
        ("bare text", ["after"]),
        ("resource", ["[a part of the kind resource was left out: it is not known here, or not valid]", "after"]),
    ],
)
async def test_a_bad_part_of_a_result_costs_itself(journey, servers, what, read):
    servers(test="new crooked")
    await journey.run(Turn(calls=(Call("test__output", {"text": what}, id="c1"),)), DONE)
    (ended,) = journey.of(ev.ToolCallEnded)
    assert ended.status is CallStatus.COMPLETED
    assert [part.text for part in ended.result.content if isinstance(part, Text)] == read


async def test_a_resource_without_a_type_is_said_to_be_of_none(journey, servers):
    servers(test="new crooked")
    await journey.run(Turn(calls=(Call("test__output", {"text": "blob"}, id="c1"),)), DONE)
    assert journey.results[0].startswith("[resource x://2, unknown type, 3 bytes, saved as ")


async def test_a_failure_is_one_in_whatever_type_it_is_told(journey, servers):
    servers(test="new crooked")
    await journey.run(Turn(calls=(Call("test__output", {"text": "failure"}, id="c1"),)), DONE)
    (ended,) = journey.of(ev.ToolCallEnded)
    assert (ended.status, journey.results) == (CallStatus.FAILED, ["test/output failed: after"])


@pytest.mark.parametrize("found", [False, True], ids=["listed", "found"])
async def test_a_call_is_sent_as_the_schema_wants_it_under_the_servers_names(journey, servers, found):
    servers(test="many typing" if found else "typing")
    given = {"filter_0c097d": "x", "count": "3", "list": "[1]", "none": None}
    call = Call("call_mcp_tool", {"tool": "test__typed", "arguments": given}, id="c1")
    call = call if found else Call("test__typed", given, id="c1")
    await journey.run(Turn(calls=(call,)), DONE, mcp=McpSettings(wait=20.0, share=0.01 if found else 0.1))
    assert journey.state.mcp.servers[0].searched is found
    sent = {"$filter": "x", "count": 3, "list": [1]}
    assert json.loads(journey.results[0]) == sent
    assert journey.of(ev.ToolCallStarted)[0].title == f"test/typed {json.dumps(sent, separators=(',', ':'))}"


WAYS_TO_DIE = [
    ({"command": "no-such-program-anywhere"}, "program not found: no-such-program-anywhere"),
    ({"command": "false"}, "it exited with code 1"),
    ({"command": sys.executable, "args": [SERVER, "dies"]}, "it exited with code 4; its last output: no key was given"),
    ({"command": sys.executable, "args": [SERVER, "never"], "startTimeout": 1}, "it did not start within 1 s"),
    ({"command": "true"}, "it exited with code 0"),
    ({"command": "."}, "program not found"),
    ({"url": "http://127.0.0.1:9/mcp", "type": "http"}, "it cannot be reached"),
]


@pytest.mark.parametrize("given", [False, True], ids=["settings", "command line"])
@pytest.mark.parametrize(("entry", "why"), WAYS_TO_DIE, ids=lambda one: one if isinstance(one, str) else "")
async def test_a_server_that_never_works_is_told_of_once_to_the_person_and_to_the_model(
    journey, servers, entry, why, given
):
    servers(fine="")
    listed = json.loads(journey.home.mcp.read_text())
    if not given:
        listed["mcpServers"]["test"] = entry
        journey.home.mcp.write_text(json.dumps(listed))
    parts = EditorParts(servers=read_given_servers(json.dumps({"mcpServers": {"test": entry}}))) if given else None
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, editor=parts)
    wait = McpSettings(wait=0.0 if given else 20.0)
    await journey.run(Turn(calls=(Call("list_files", {"path": "."}),)), DONE, options=options, mcp=wait)
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed) and " test " in event.text]
    late, said = [one for one in said if "still starting" in one], [one for one in said if "still starting" not in one]
    assert len(late) <= 1
    if "did not start" in why and given:
        return
    (one,) = said
    assert f"The MCP server test is not available: {why}" in one
    assert told(journey).count(f"The MCP server test is not available: {why}") == 1


async def test_a_server_that_dies_for_good_during_the_task_is_told_of_with_its_last_words(journey, servers):
    servers(test="crash once")
    look = Turn(calls=(Call("list_files", {"path": "."}),), delay=2.0)
    await journey.run(echo(), look, look, DONE)
    said = [event.text for event in journey.events if isinstance(event, ev.Noticed)]
    assert [one for one in said if "it exited with code 3; its last output: I cannot go on." in one]
    assert [one for one in said if "it exited with code 6; its last output: never again" in one]
    assert len(said) == len(set(said))
