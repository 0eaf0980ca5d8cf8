from hypothesis import given, strategies as st

from halocline.context.manager import MISSING, Pairing, paired
from halocline.protocol.messages import AssistantMessage, Text, ToolCall, ToolResult, UserMessage

PROMPT = UserMessage((Text("hi"),))


def reply(*ids):
    return AssistantMessage(content=tuple(ToolCall(id=call, name="read_file") for call in ids))


def result(call, text="x"):
    return ToolResult(call, (Text(text),))


def test_a_sound_history_comes_back_as_it_is():
    history = (PROMPT, reply("a", "b"), result("a"), result("b"), reply())
    assert paired(history) == history


def test_results_stand_in_the_order_of_their_calls():
    assert paired((reply("a", "b"), result("b"), result("a"))) == (reply("a", "b"), result("a"), result("b"))


def test_a_missing_result_is_made_up_and_says_so():
    (_, made_up, after) = paired((reply("a"), PROMPT))
    assert (made_up.call, made_up.text, made_up.is_error, after) == ("a", MISSING, True, PROMPT)


def test_a_result_without_its_call_is_left_out():
    assert paired((PROMPT, result("z"))) == (PROMPT,)


def test_the_same_id_in_two_messages_is_answered_twice():
    history = (reply("a"), result("a", "one"), reply("a"), result("a", "two"))
    assert paired(history) == history


MESSAGES = st.lists(
    st.just(PROMPT)
    | st.lists(st.sampled_from("abc"), unique=True).map(lambda ids: reply(*ids))
    | st.sampled_from("abc").map(result),
    max_size=20,
)


@given(MESSAGES)
def test_every_call_of_any_history_has_exactly_one_result_directly_after(messages):
    out = list(paired(messages))
    assert [m for m in out if not isinstance(m, ToolResult)] == [m for m in messages if not isinstance(m, ToolResult)]
    while out:
        message = out.pop(0)
        assert not isinstance(message, ToolResult)
        if isinstance(message, AssistantMessage):
            assert [out.pop(0).call for _ in message.tool_calls] == [call.id for call in message.tool_calls]


@given(MESSAGES, MESSAGES, st.lists(st.integers(0, 40), max_size=8))
def test_pairing_step_by_step_gives_what_pairing_the_whole_gives(one, other, cuts):
    histories = [tuple(one), (*one[: len(one) // 2], *other)]
    pairing = Pairing()
    for cut in cuts:
        history = histories[cut % 2][: cut // 2]
        assert pairing.of(history) == paired(history)
    assert pairing.of(histories[0]) == paired(histories[0])


def test_pairing_keeps_its_answers_to_calls_of_the_past_the_same_objects():
    history = (reply("a"), PROMPT, reply("b"), result("b"))
    pairing = Pairing()
    first, second = pairing.of(history), pairing.of((*history, PROMPT))
    assert first[1] is second[1]
