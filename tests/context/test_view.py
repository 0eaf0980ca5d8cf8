from hypothesis import given, strategies as st

from halocline.context.compaction.view import MISSING, View, build_view, pair_messages
from halocline.protocol.events import Compacted
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.messages import AssistantMessage, Image, Note, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.state import State

PROMPT = UserMessage((Text("hi"),))


def reply(*ids):
    return AssistantMessage(content=tuple(ToolCall(id=call, name="read_file") for call in ids))


def result(call, text="x"):
    return ToolResult(call, (Text(text),))


def test_a_sound_history_comes_back_as_it_is():
    history = (PROMPT, reply("a", "b"), result("a"), result("b"), reply())
    assert pair_messages(history) == history


def test_results_stand_in_the_order_of_their_calls():
    assert pair_messages((reply("a", "b"), result("b"), result("a"))) == (reply("a", "b"), result("a"), result("b"))


def test_a_missing_result_is_made_up_and_says_so():
    (_, made_up, after) = pair_messages((reply("a"), PROMPT))
    assert (made_up.call, made_up.text, made_up.is_error, after) == ("a", MISSING, True, PROMPT)


def test_a_result_without_its_call_is_left_out():
    assert pair_messages((PROMPT, result("z"))) == (PROMPT,)


def test_the_same_id_in_two_messages_is_answered_twice():
    history = (reply("a"), result("a", "one"), reply("a"), result("a", "two"))
    assert pair_messages(history) == history


MESSAGES = st.lists(
    st.just(PROMPT)
    | st.lists(st.sampled_from("abc"), unique=True).map(lambda ids: reply(*ids))
    | st.sampled_from("abc").map(result),
    max_size=20,
)


@given(MESSAGES)
def test_every_call_of_any_history_has_exactly_one_result_directly_after(messages):
    out = list(pair_messages(messages))
    assert [m for m in out if not isinstance(m, ToolResult)] == [m for m in messages if not isinstance(m, ToolResult)]
    while out:
        message = out.pop(0)
        assert not isinstance(message, ToolResult)
        if isinstance(message, AssistantMessage):
            assert [out.pop(0).call for _ in message.tool_calls] == [call.id for call in message.tool_calls]


@given(MESSAGES, MESSAGES, st.lists(st.integers(0, 40), max_size=8))
def test_a_view_that_grows_is_the_view_of_the_whole(one, other, cuts):
    histories = [tuple(one), (*one[: len(one) // 2], *other)]
    growing = View()
    for cut in cuts:
        state = State(messages=histories[cut % 2][: cut // 2])
        assert growing.of(state) == build_view(state) == pair_messages(state.messages)
    assert growing.of(State(messages=histories[0])) == pair_messages(histories[0])


def test_answers_to_calls_of_the_past_stay_the_same_objects():
    history = (reply("a"), PROMPT, reply("b"), result("b"))
    growing = View()
    first, second = growing.of(State(messages=history)), growing.of(State(messages=(*history, PROMPT)))
    assert first[1] is second[1]


def compacted(kept_from, until, **more):
    note = Note("what was", "summary")
    return Compacted(
        cause=CompactionCause.ASKED, content=(note,), kept_from=kept_from, until=until, before=0, after=0, **more
    )


def test_after_a_compaction_the_first_message_what_stands_for_the_rest_and_the_newest_are_read():
    history = (PROMPT, reply("a"), result("a"), reply("b"), result("b", "kept"))
    (first, said, asked, answered) = build_view(
        State(messages=history, compaction=CompactionState(applied=(compacted(3, 5),)))
    )
    assert first is PROMPT
    assert said.content == (Note("what was", "summary"),)
    assert (asked, answered) == history[3:]


def test_what_is_carried_over_is_shown_with_what_it_was_the_result_of():
    call = AssistantMessage((ToolCall("a", "read_file", {"path": "x.py"}),))
    history = (PROMPT, call, result("a", "its text"), reply())
    said = build_view(State(messages=history, compaction=CompactionState(applied=(compacted(3, 4, carried=(2,)),))))[1]
    assert said.content[1] == Note("read_file x.py gave:\nits text", "earlier")


def test_rules_that_are_in_force_are_shown_again_and_other_notes_are_not():
    rule = UserMessage((Note("use tabs", "rules"), Note("it was noon", "environment"), Text("do it")))
    said = build_view(
        State(messages=(PROMPT, rule, reply()), compaction=CompactionState(applied=(compacted(2, 3, carried=(1,)),)))
    )[1]
    assert said.content[1:] == (Note("use tabs", "rules"),)


def test_what_came_before_a_compaction_is_kept_short_and_what_comes_after_is_not():
    long = "word " * 4_000
    history = (PROMPT, reply("a"), result("a", long), reply("b"), result("b", long))
    seen = build_view(State(messages=history, compaction=CompactionState(applied=(compacted(1, 3, longest=500),))))
    assert len(seen[3].text) < 3_000
    assert seen[5].text == long


def test_undoing_a_compaction_gives_the_old_view_back():
    history = (PROMPT, reply("a"), result("a"), reply())
    growing = View()
    before = growing.of(State(messages=history))
    growing.of(State(messages=history, compaction=CompactionState(applied=(compacted(3, 4),))))
    assert growing.of(State(messages=history)) == before


def test_a_model_that_sees_nothing_is_told_where_pictures_were():
    picture = Image("image/png", "blob")
    state = State(
        messages=(
            UserMessage((Text("look"), picture)),
            AssistantMessage((ToolCall("c1", "read_file", {"path": "a.png"}),)),
            ToolResult("c1", (Text("a picture"), picture)),
        )
    )
    blind = build_view(state, sees=False)
    assert not [part for message in blind for part in message.content if isinstance(part, Image)]
    assert [len(message.content) for message in blind] == [2, 1, 2]
    assert build_view(state) == state.messages


def test_a_view_follows_a_switch_to_a_blind_model_and_back():
    state, kept = State(messages=(UserMessage((Image("image/png", "blob"),)),)), View()
    seen = [kept.of(state, sees=sees) for sees in (True, False, False, True)]
    assert seen == [build_view(state), build_view(state, sees=False), build_view(state, sees=False), build_view(state)]
