import pytest
from msgspec.structs import replace

from halocline.context.compaction.stale_files import LEFT_OUT
from halocline.context.reports.cache import SMALLEST, cache_report, first_change
from halocline.context.request import Context, Thinking
from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import AssistantMessage, Effort, Note, Text, ToolResult, Usage, UserMessage
from halocline.protocol.queries.usage import Rates
from halocline.protocol.state.state import State
from halocline.tools.toolset import Tools

ABOUT = {"workspace": "/w", "approval_mode": ApprovalMode.ASK, "system_prompt": "Be good.", "version": ""}
STARTED = ev.TaskStarted(model="a/x", mode=Mode.ACT, **ABOUT)
BIG = 10 * SMALLEST


def step(at: float, **usage: int) -> list[ev.DurableEvent]:
    reply = AssistantMessage((Text("Hi."),))
    return [
        ev.StepStarted(model="a/x", at=at),
        ev.UsageReported(usage=Usage(**usage), at=at),
        ev.AssistantMessageCompleted(message=reply, at=at),
        ev.TurnStarted(content=(Text("more"),), at=at),
    ]


def report(*events: ev.DurableEvent, rates: Rates | None = None):
    context, tools = Context(thinking={Mode.PLAN: Thinking(Effort.HIGH)}), Tools()
    log = [replace(event, seq=seq) for seq, event in enumerate((STARTED, *events), 1)]
    return cache_report(log, lambda state: context.request(state, tools), lambda model: rates)


FIRST = step(0, input=BIG)
MISSED = step(20, input=BIG + 40)


def test_requests_that_were_read_from_the_cache_are_no_misses():
    found = report(*FIRST, *step(10, input=40, cache_read=BIG), *step(20, input=9_000, cache_read=BIG - 9_000))
    assert (found.requests, found.read, found.cached) == (3, 3 * BIG + 40, 2 * BIG - 9_000)
    assert found.misses == ()


def test_a_miss_says_how_much_was_expected_and_what_it_cost():
    (miss,) = report(*FIRST, *MISSED, rates=Rates(5.0, 0.5)).misses
    assert (miss.step, miss.expected, miss.cached) == (2, BIG, 0)
    assert miss.extra == pytest.approx(BIG * 4.5e-6)
    assert report(*FIRST, *MISSED).misses[0].extra is None


def test_small_requests_and_reports_without_tokens_do_not_count():
    assert report(*step(0, input=SMALLEST - 1), *MISSED).misses == ()
    assert report(*FIRST, *step(5), *step(10, input=1, cache_read=BIG)).misses == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ([], "the request is unchanged, 20 s after the last one: the provider dropped its cache"),
        ([ev.ModelChanged(model="b/y")], "the model changed from a/x to b/y"),
        ([ev.ToolsOffered(tools=("use_skill",))], "the tool use_skill was added"),
        ([ev.ModeChanged(mode=Mode.PLAN)], "the tool plan_mode_respond was added"),
        ([ev.CheckpointTaken(checkpoint="x", label="y")], "the request is unchanged"),
    ],
)
def test_the_first_thing_that_changed_is_named(change: list[ev.DurableEvent], why: str):
    assert report(*FIRST, *change, *MISSED).misses[0].why.startswith(why)


COMPACTED = ev.Compacted(
    cause=CompactionCause.CROWDED, content=(Note("so far", "summary"),), kept_from=2, until=2, before=9, after=1
)


def test_a_compaction_is_a_reason_and_its_summary_is_no_request_of_the_task():
    summary = ev.UsageReported(usage=Usage(input=50, cache_read=BIG))
    begun = (*FIRST, *step(10, input=40, cache_read=BIG), summary, COMPACTED)
    found = report(*begun, *step(20, input=BIG))
    (miss,) = found.misses
    assert (miss.step, miss.why) == (3, "the conversation was compacted, or a compaction was undone")
    assert (found.requests, found.cached) == (3, 2 * BIG)


def test_copies_of_files_that_went_out_together_are_a_reason():
    old, new = (ToolResult("c", (Text(text),)) for text in ("x = 1", LEFT_OUT.format(path="a.py")))
    assert first_change(replace(ASKED, messages=(old,)), replace(ASKED, messages=(new,))).startswith("outdated copies")


def test_after_a_while_it_expired():
    (miss,) = report(*FIRST, *step(720, input=BIG)).misses
    assert miss.why == (
        "the request is unchanged: the cache expired (last request 12 minutes ago), or the provider dropped it"
    )


def spec(name: str, text: str = "") -> ToolSpec:
    return ToolSpec(name, text, {})


ASKED = Request(
    model="m", system="s", messages=(UserMessage((Text("a"),)), AssistantMessage(())), tools=(spec("a"), spec("b"))
)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"messages": (*ASKED.messages, UserMessage((Text("b"),)))}, ""),
        ({"tools": (spec("a"), spec("b", "new"))}, "the tool b changed"),
        ({"tools": (spec("b"), spec("a"))}, "the tool a moved"),
        ({"tools": (spec("b"),)}, "the tool a was removed"),
        ({"tools": (spec("a"),)}, "the tool b was removed"),
        ({"tools": (spec("c"), spec("b")), "system": "t"}, "the tool c was added"),
        ({"system": "t"}, "the system prompt changed"),
        ({"effort": Effort.LOW}, "the thinking effort or budget changed"),
        ({"output_schema": {}}, "the answer schema changed"),
        ({"messages": (UserMessage((Text("b"),)),)}, "message 1 of 2 changed (a prompt)"),
        ({"messages": ASKED.messages[:1]}, "message 2 of 2 was removed (a reply)"),
    ],
)
def test_what_differs_between_two_requests_is_named_in_the_order_of_the_prompt(changed: dict, why: str):
    assert first_change(ASKED, replace(ASKED, **changed)) == why


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (UserMessage((Note("x", "jobs"),)), "a note: jobs"),
        (UserMessage((Text("x"), Note("x", "jobs"))), "a prompt"),
        (ToolResult("c", ()), "the result of a call"),
    ],
)
def test_a_message_that_changed_is_told_by_its_kind(message, kind: str):
    before = replace(ASKED, messages=(message,))
    after = replace(ASKED, messages=(UserMessage((Text("other"),)),))
    assert first_change(before, after) == f"message 1 of 1 changed ({kind})"


def test_a_log_without_requests_is_no_trouble():
    assert (report().requests, report().misses, State().model.window) == (0, (), None)
