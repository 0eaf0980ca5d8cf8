"""Whole tasks that send their spans to a real receiver."""

import asyncio
import threading

import pytest
from tests.journeys.conftest import Journey
from tests.journeys.test_subagents import DONE, asks, client_of, reports
from tests.servers.trace_collector import TraceCollector, attributes_of

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import StopReason, Text
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.traces.context import header_for_call, read_context
from halocline.protocol.traces.spans import Span, list_spans
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.runtime.traces import TraceSender
from halocline.store.secrets.store import SecretStore

CI = f"00-{'c1' * 16}-{'d2' * 8}-01"
ASKS = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)


@pytest.fixture
def collector(monkeypatch):
    with TraceCollector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
        monkeypatch.delenv("TRACEPARENT", raising=False)
        yield collector


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)


def run_command(command):
    return Turn(calls=(Call("execute_command", {"command": command, "requires_approval": False}, id="run"),))


def named(collector):
    return {span.name: span for span in collector.spans}


async def test_a_turn_its_requests_and_its_calls_are_one_trace(journey, collector):
    journey.write("a.py", "A = 1\n")
    read = Turn(calls=(Call("read_file", {"path": "a.py"}),), cost=0.25)
    await journey.run(read, Turn(text="Done."), traces=True)
    spans = named(collector)
    assert {*spans} >= {"invoke_agent halocline", "chat script", "execute_tool read_file", "checkpoint"}
    assert len({span.trace_id for span in collector.spans}) == 1
    assert {span.parent_span_id for span in collector.spans} == {b"", spans["invoke_agent halocline"].span_id}
    chat = next(attributes_of(span) for span in collector.spans if span.name == "chat script")
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.provider.name"] == "scripted"
    assert chat["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert chat["gen_ai.conversation.id"] == journey.task
    assert chat["halocline.cost_usd"] == 0.25
    assert chat["gen_ai.usage.input_tokens"] > 0
    assert attributes_of(spans["execute_tool read_file"])["gen_ai.tool.name"] == "read_file"


async def test_variables_of_opentelemetry_are_heeded(journey, collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    await journey.run(Turn(text="Done."), traces=True)
    assert collector.resource["service.name"] == "nightly"
    assert collector.headers["x-team"] == "blue"


async def test_without_the_setting_nothing_is_sent(journey, collector):
    await journey.run(Turn(text="Done."))
    assert collector.requests == []
    assert journey.logged[0].trace == ""


@pytest.mark.parametrize("name", ["OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"])
async def test_a_variable_turns_it_off(journey, collector, monkeypatch, name):
    monkeypatch.setenv(*name.split("="))
    await journey.run(Turn(text="Done."), traces=True)
    assert collector.requests == []


async def test_no_word_of_a_prompt_leaves_without_the_setting_for_it(journey, collector):
    await journey.run(run_command("echo zebra"), Turn(text="A zebra."), prompt="say zebra", traces=True)
    assert "zebra" not in str(collector.requests)


async def test_contents_are_sent_without_keys_where_the_setting_says_so(journey, collector):
    key = "sk-ant-api03-" + "Zq9" * 31
    turns = (run_command("echo zebra"), Turn(text="A zebra."))
    await journey.run(*turns, prompt=f"zebra {key}", traces=True, trace_contents=True, hide_keys=False)
    told = str(collector.requests)
    assert "zebra" in told
    assert key not in told
    call = attributes_of(named(collector)["execute_tool execute_command"])
    assert call["halocline.title"] == "echo zebra"


async def test_the_wait_for_a_person_is_a_span(journey, collector):
    def allow(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    write = Turn(calls=(Call("write_to_file", {"path": "b.txt", "content": "b\n"}),))
    await journey.run(write, Turn(text="Done."), options=ASKS, answer=allow, traces=True)
    waited = attributes_of(named(collector)["approval write_to_file"])
    assert (waited["halocline.decision"], waited["halocline.decided_by"]) == ("allow_once", "user")


async def test_a_failed_call_is_an_error(journey, collector):
    await journey.run(Turn(calls=(Call("read_file", {"path": "gone"}),)), Turn(text="Done."), traces=True)
    failed = named(collector)["execute_tool read_file"]
    assert (failed.status.code, attributes_of(failed)["error.type"]) == (2, "tool_error")


@pytest.mark.process
async def test_a_task_joins_the_trace_that_it_was_started_in_and_commands_join_its_own(journey, collector, monkeypatch):
    monkeypatch.setenv("TRACEPARENT", CI)
    await journey.run(run_command("echo $TRACEPARENT"), Turn(text="Done."), traces=True)
    spans = named(collector)
    assert spans["invoke_agent halocline"].trace_id.hex() == "c1" * 16
    assert spans["invoke_agent halocline"].parent_span_id.hex() == "d2" * 8
    (result,) = [event.result.text for event in journey.logged if isinstance(event, ev.ToolCallEnded)]
    told = read_context(result.split("\n")[0])
    assert (told.trace, told.span) == ("c1" * 16, spans["execute_tool execute_command"].span_id.hex())


async def test_a_trace_that_is_not_recorded_is_not_sent(journey, collector, monkeypatch):
    monkeypatch.setenv("TRACEPARENT", CI[:-1] + "0")
    await journey.run(Turn(text="Done."), traces=True)
    assert collector.requests == []


async def test_sub_agents_are_under_the_call_that_started_them(journey, collector):
    client = client_of(journey, (asks("what?"), DONE), (reports("nothing"),), traces=True)
    await journey.run(client=client)
    call = named(collector)["execute_tool use_subagents"]
    agents = [span for span in collector.spans if span.parent_span_id == call.span_id]
    assert [span.name.split()[0] for span in agents] == ["invoke_agent"]
    assert len({span.trace_id for span in collector.spans}) == 1


async def test_a_name_that_the_model_invents_is_in_no_span(journey, collector):
    invented = Turn(calls=(Call("delete_ann_smith", {}),))
    client = client_of(journey, (invented, asks("ann smith?"), DONE), (reports("nothing"),), traces=True)
    await journey.run(client=client)
    assert named(collector)["execute_tool unknown"]
    assert "invoke_agent subagent" in named(collector)
    assert "smith" not in str(collector.requests)


def test_a_command_of_the_person_ends_with_its_own_end_and_not_with_a_turn():
    log = (
        ev.TurnStarted((Text("go"),), seq=1, at=1.0, task="t"),
        ev.OwnCommandStarted("run", "sleep 9", seq=2, at=2.0, task="t"),
        ev.TurnEnded(StopReason.END_TURN, seq=3, at=3.0, task="t"),
        ev.OwnCommandEnded("run", 0, seq=4, at=9.0, task="t"),
    )
    found = {span.name: span for span in list_spans(log)}
    assert (found["command"].end, found["command"].error) == (9.0, "")


async def test_an_export_afterwards_has_the_spans_that_were_sent_live(journey, collector):
    client = client_of(journey, (asks("what?"), DONE), (reports("nothing"),), traces=True)
    await journey.run(client=client)
    sent = {span.span_id: (span.name, span.parent_span_id, span.end_time_unix_nano) for span in collector.spans}
    collector.requests.clear()
    client = journey.client(())
    await asyncio.to_thread(client.send_spans, journey.task)
    again = {span.span_id: (span.name, span.parent_span_id, span.end_time_unix_nano) for span in collector.spans}
    assert again == sent
    await client.close()


async def test_a_collector_that_is_not_there_does_not_hold_a_task_up(journey, monkeypatch, caplog):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    await journey.run(Turn(text="Done."), traces=True)
    assert journey.state.last_end.reason == "end_turn"


async def test_a_key_that_is_stored_while_a_task_is_open_is_not_sent(journey, collector):
    word = "quiet-orchard-93"
    turns = (run_command("echo one"), run_command(f"echo {word}"), Turn(text="Done."))
    client = journey.client(turns, traces=True, trace_contents=True, hide_keys=False)

    def store(event):
        if isinstance(event, ev.ToolCallEnded) and "one" in event.result.text:
            SecretStore(journey.home.credentials).put("exa", Secret(word))

    await journey.run(client=client, answer=store)
    told = str(collector.requests)
    assert "echo one" in told
    assert word in str(journey.logged)
    assert word not in told


def test_spans_that_a_collector_does_not_take_are_dropped_counted_and_said_once(caplog):
    sender = TraceSender(str, {"OTEL_BSP_MAX_QUEUE_SIZE": "2"})
    for _ in range(5):
        sender.put(Span("one", "c1" * 16, "d2" * 8, 0.0, 1.0))
    assert sender.dropped == 3
    assert [record.getMessage() for record in caplog.records if "too slow" in record.getMessage()] == [
        "the collector of traces is too slow, and spans are dropped; see `halo export -f otlp`"
    ]


async def test_a_protocol_that_is_not_sent_is_said_when_a_task_opens_and_nothing_follows_it(
    journey, collector, monkeypatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    client = journey.client((Turn(text="Done."),), traces=True)
    await journey.open(client)
    assert "The protocol grpc of OTEL_EXPORTER_OTLP_PROTOCOL" in " ".join(client.remarks(journey.task))
    assert not [thread for thread in threading.enumerate() if thread.name == "traces"]
    await client.close()


async def test_each_client_of_a_process_ends_its_threads(journey, collector):
    before = {*threading.enumerate()}
    for _ in range(3):
        await journey.run(Turn(text="Done."), traces=True)
    assert not [
        thread for thread in {*threading.enumerate()} - before if "trace" in thread.name or "Otel" in thread.name
    ]
    assert len([span for span in collector.spans if span.name == "invoke_agent halocline"]) == 3


def test_a_task_without_a_trace_gives_its_calls_none():
    assert header_for_call("task", "", "call") == ""
