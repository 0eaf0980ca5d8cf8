import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.samples import choose

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Grant, Mode, ToolKind
from halocline.protocol.messages import (
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import NOT_RUN, UNKNOWN_OUTCOME, State, loose_ends

STARTED = ev.TaskStarted(
    workspace="/w",
    model="scripted/x",
    mode=Mode.ACT,
    approval_mode=ApprovalMode.ASK,
    system_prompt="be good",
    version="0",
)
PROMPT = ev.TurnStarted(content=(Text("fix it\nplease"),))
CALLS = (ToolCall("a", "read_file", {"path": "x"}), ToolCall("b", "read_file", {"path": "y"}))
REPLY = ev.AssistantMessageCompleted(message=AssistantMessage(content=(Text("ok"), *CALLS)))


def numbered(*events):
    return [replace(e, seq=n, at=float(n), task="t") for n, e in enumerate(events, 1)]


def ended(call, status=CallStatus.COMPLETED, text="done", ends_turn=False):
    return ev.ToolCallEnded(
        call=call, name="read_file", status=status, result=ToolResult(call, (Text(text),)), ends_turn=ends_turn
    )


def started(call):
    return ev.ToolCallStarted(call=call, name="read_file", title="read", kind=ToolKind.READ)


def test_a_task_knows_what_its_first_event_said():
    state = fold_events(numbered(STARTED))
    assert (state.workspace, state.model.name, state.prompt.system) == ("/w", "scripted/x", "be good")


def test_the_title_is_the_first_line_of_the_first_prompt():
    assert fold_events(numbered(STARTED, PROMPT)).title == "fix it"


def test_a_refusal_skips_the_rest_of_the_reply_unless_the_person_decides_about_each():
    refused = ev.ApprovalResolved("r", "a", Choice.REJECT_ONCE, "user")
    states = [fold_events(numbered(STARTED, PROMPT, REPLY, replace(refused, goes_on=on))) for on in (False, True)]
    assert [state.pending.declined for state in states] == [True, False]


def test_calls_are_open_until_they_end():
    state = fold_events(numbered(STARTED, PROMPT, REPLY, ended("a")))
    assert [o.call.id for o in state.pending.calls] == ["b"]


def test_a_call_that_was_running_has_an_unknown_outcome_and_one_that_was_not_never_ran():
    state = fold_events(numbered(STARTED, PROMPT, REPLY, started("a")))
    ends = loose_ends(state)
    assert [(e.call, e.result.text) for e in ends] == [("a", UNKNOWN_OUTCOME), ("b", NOT_RUN)]


def test_loose_ends_leave_nothing_open():
    asked = ev.ApprovalRequested(request="r", call="a", name="n", title="t", kind=ToolKind.EDIT, reason="x", options=())
    question = ev.QuestionAsked(request="q", question="?")
    state = fold_events(numbered(STARTED, PROMPT, REPLY, asked, question))
    for end in loose_ends(state):
        state = reduce_event(state, end)
    assert (state.pending.calls, state.pending.approvals, state.pending.questions) == ((), (), ())
    assert loose_ends(state) == ()


def test_what_was_streamed_of_an_unfinished_reply_is_kept():
    state = fold_events(numbered(STARTED, PROMPT, ev.StepStarted(model="m")))
    for delta in (ev.ThinkingDelta("hm"), ev.TextDelta("Hel"), ev.TextDelta("lo")):
        state = reduce_event(state, delta)
    (end,) = loose_ends(state)
    assert end.message.content == (Thinking("hm"), Text("Hello"))
    assert end.message.interrupted


def test_unfinished_messages_of_their_own_stay_apart():
    state = fold_events(numbered(STARTED, PROMPT, ev.StepStarted(model="m")))
    for delta in (ev.TextDelta("Looking."), ev.TextDelta("Do", apart=True), ev.TextDelta("ne")):
        state = reduce_event(state, delta)
    assert loose_ends(state)[0].message.content == (Text("Looking."), Text("Done"))


def test_a_retry_voids_the_draft():
    state = fold_events(numbered(STARTED, PROMPT, ev.StepStarted(model="m")))
    state = reduce_event(reduce_event(state, ev.TextDelta("x")), ev.StepRetried(attempt=1, wait=0, cause="net"))
    assert loose_ends(state) == ()


def test_a_price_that_is_unknown_once_makes_the_total_unknown():
    known = ev.UsageReported(usage=Usage(input=1, output=2), cost=0.5)
    unknown = ev.UsageReported(usage=Usage(input=1), cost=None)
    assert fold_events(numbered(known, known)).budget.cost == 1.0
    partly = fold_events(numbered(known, unknown, known)).budget
    assert (partly.cost, partly.spent, partly.unpriced) == (None, 1.0, 1)
    assert fold_events(numbered(known, unknown)).budget.usage == Usage(input=2, output=2)


def test_failures_count_in_a_row_and_a_success_ends_the_row():
    failed = ended("a", CallStatus.FAILED)
    assert fold_events(numbered(STARTED, PROMPT, REPLY, failed)).budget.failures_in_row == 1
    assert fold_events(numbered(STARTED, PROMPT, REPLY, failed, ended("b"))).budget.failures_in_row == 0


def test_a_call_whose_file_others_changed_meanwhile_is_no_failure_of_the_model():
    outside = replace(ended("a", CallStatus.FAILED), outside=True)
    assert fold_events(numbered(STARTED, PROMPT, REPLY, outside)).budget.failures_in_row == 0


def test_what_the_policy_refuses_is_a_failure_and_what_a_person_refuses_is_none():
    refused = ended("a", CallStatus.REJECTED)
    asked = ev.ApprovalRequested("r", "a", "read_file", "Read a", ToolKind.READ, "outside", ())
    said_no = ev.ApprovalResolved(request="r", call="a", decision=Choice.REJECT_ONCE, by="user")
    assert fold_events(numbered(STARTED, PROMPT, REPLY, refused)).budget.failures_in_row == 1
    assert fold_events(numbered(STARTED, PROMPT, REPLY, asked, said_no, refused)).budget.failures_in_row == 0


@pytest.mark.parametrize("status", [CallStatus.SKIPPED, CallStatus.CANCELLED])
def test_what_was_not_run_leaves_the_count_of_failures_as_it_is(status):
    failed = numbered(STARTED, PROMPT, REPLY, ended("a", CallStatus.FAILED), ended("b", status))
    assert fold_events(failed).budget.failures_in_row == 1


def test_the_same_call_with_the_same_result_counts_and_another_result_begins_anew():
    step = (replace(REPLY, message=AssistantMessage(content=CALLS[:1])), ended("a"))
    assert fold_events(numbered(STARTED, PROMPT, *step, *step, *step)).budget.same_call_in_row == 3
    assert (
        fold_events(numbered(STARTED, PROMPT, *step, *step, step[0], ended("a", text="new"))).budget.same_call_in_row
        == 1
    )


def test_only_a_person_who_says_always_gives_a_grant():
    grant = Grant(ToolKind.EXECUTE, "make")
    once = ev.ApprovalResolved(request="r", call="a", decision=Choice.ALLOW_ONCE, by="user", grant=grant)
    always = replace(once, decision=Choice.ALLOW_ALWAYS)
    assert fold_events(numbered(once)).permissions.grants == frozenset()
    assert fold_events(numbered(always)).permissions.grants == {grant}


def test_a_limit_that_a_person_extends_begins_anew():
    step = ev.StepStarted(model="m")
    spent = ev.UsageReported(usage=Usage(input=1), cost=0.5)
    state = fold_events(numbered(STARTED, PROMPT, step, spent, step, ev.LimitExtended(limit="cost")))
    assert (state.budget.forgiven_steps, state.budget.forgiven_cost, state.turn.started_at) == (2, 0.5, 6.0)


def test_an_answer_alone_extends_no_limit():
    asked = ev.QuestionAsked(request="q", question="Go on?")
    answer = ev.QuestionAnswered(request="q", answer="Stop here", by="user")
    state = fold_events(numbered(STARTED, PROMPT, ev.StepStarted(model="m"), asked, answer))
    assert (state.budget.forgiven_steps, state.pending.questions) == (0, ())


def test_a_turn_is_over_when_a_call_ends_it_and_steering_reopens_it():
    state = fold_events(numbered(STARTED, PROMPT, REPLY, ended("a", ends_turn=True)))
    assert state.turn_is_over
    assert not reduce_event(state, ev.SteeringReceived(content=(Text("wait"),), seq=9)).turn_is_over


def test_a_state_without_a_reply_has_no_last_message():
    with pytest.raises(LookupError):
        _ = State().last_message


DURABLE = st.sampled_from(
    [
        PROMPT,
        REPLY,
        started("a"),
        ended("a"),
        ended("b"),
        ev.StepStarted(model="m"),
        ev.TurnEnded(reason=StopReason.END_TURN),
        ev.UsageReported(usage=Usage(input=3), cost=0.1),
        ev.SteeringReceived(content=(Text("and"),)),
    ]
)
TRANSIENT = st.sampled_from([ev.TextDelta("x"), ev.ThinkingDelta("y"), ev.Noticed("z")])


@settings(max_examples=choose(200, 40))
@given(st.lists(DURABLE | TRANSIENT, max_size=40))
def test_folding_the_durable_events_rebuilds_the_state_but_for_the_draft(events):
    live, durable = State(), []
    for event in [STARTED, *events]:
        if isinstance(event, ev.Durable):
            event = replace(event, seq=len(durable) + 1, at=float(len(durable)), task="t")
            durable.append(event)
        live = reduce_event(live, event)
    assert fold_events(durable) == replace(live, draft=None)


@given(st.lists(DURABLE, max_size=30))
def test_no_cut_of_a_log_leaves_an_open_call_after_its_loose_ends(events):
    state = fold_events(numbered(STARTED, *events))
    for end in loose_ends(state):
        state = reduce_event(state, end)
    assert state.pending.calls == ()


def test_messages_are_in_the_order_they_were_said():
    state = fold_events(numbered(STARTED, PROMPT, REPLY, ended("a"), ended("b")))
    assert [type(m) for m in state.messages] == [UserMessage, AssistantMessage, ToolResult, ToolResult]


def test_a_call_that_a_person_refused_among_others_is_no_failure_of_the_agent():
    asked = [
        ev.ApprovalRequested(
            request=f"r-{one.id}", call=one.id, name=one.name, title="Read", kind=ToolKind.READ, reason="", options=()
        )
        for one in CALLS
    ]
    refused = [
        ev.ApprovalResolved(request=one.request, call=one.call, decision=Choice.REJECT_ONCE, by="user", goes_on=True)
        for one in asked
    ]
    ends = [ended(one.id, CallStatus.REJECTED, "declined") for one in CALLS]
    state = fold_events(numbered(STARTED, PROMPT, REPLY, *asked, *refused, *ends))
    assert (state.budget.failures_in_row, state.pending.declined) == (0, False)
    by_policy = fold_events(numbered(STARTED, PROMPT, REPLY, *ends))
    assert by_policy.budget.failures_in_row == 2
