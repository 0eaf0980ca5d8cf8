from hypothesis import given, settings, strategies as st
from tests.samples import choose

from halocline.context.compaction.stale_files import GAIN, Stale
from halocline.context.compaction.view import View, build_view
from halocline.protocol.messages import AssistantMessage, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.state import State

BIG = "x" * (GAIN // 2)


def read(number, path, text, **window):
    call = ToolCall(f"c{number}", "read_file", {"path": path, **window})
    return AssistantMessage((call,)), ToolResult(call.id, (Text(text),))


def left_out(*reads):
    stale = Stale()
    stale.take([UserMessage((Text("go"),)), *(message for pair in reads for message in pair)])
    return sorted(stale.left_out)


def test_older_copies_go_together_once_enough_is_gained():
    assert left_out(read(1, "a", BIG), read(2, "a", BIG + "1")) == []
    assert left_out(read(1, "a", BIG), read(2, "a", BIG + "1"), read(3, "a", BIG)) == [2, 4]


def test_the_newest_copy_of_each_file_stays():
    reads = [read(number, "ab"[number % 2], BIG) for number in range(6)]
    assert left_out(*reads) == [2, 4, 6, 8]


def test_a_part_does_not_replace_the_whole():
    whole = [read(1, "a", BIG), read(2, "a", BIG)]
    assert left_out(*whole, read(3, "a", BIG, start_line=5)) == []
    assert left_out(read(1, "a", BIG, start_line=3, end_line=9), *whole) == [2, 4]


def test_the_beginning_of_a_long_file_does_not_replace_its_end():
    cut = BIG + "\n[lines 1-1000 of 4000; read on with start_line=1001]"
    end = read(1, "a", BIG, start_line=3_000)
    assert left_out(end, read(2, "a", cut), read(3, "a", cut), read(4, "a", cut)) == [4, 6]


def test_failed_and_short_readings_do_not_count():
    call = ToolCall("c9", "read_file", {"path": "a"})
    failed = (AssistantMessage((call,)), ToolResult("c9", (Text(BIG),), is_error=True))
    assert left_out(read(1, "a", BIG), read(2, "a", BIG), failed, read(3, "a", "short")) == []


def test_what_is_left_out_says_so_and_where_the_newer_copy_is():
    messages = tuple(message for number in range(3) for message in read(number, "a.py", BIG))
    seen = build_view(State(messages=(UserMessage((Text("go"),)), *messages)))
    assert "[older copy of a.py" in seen[2].text
    assert "below" in seen[2].text
    assert seen[6].text == BIG


READS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([500, 20_000, 70_000])), max_size=25)


@settings(max_examples=choose(100, 20), deadline=None)
@given(READS, st.integers(1, 5))
def test_a_view_only_grows_until_many_copies_go_together(reads, stride):
    messages = [UserMessage((Text("go"),))]
    growing, before, gone = View(), (), 0
    for number, (path, size) in enumerate(reads):
        messages += read(number, path, "x" * size)
        if number % stride:
            continue
        seen = growing.of(State(messages=tuple(messages)))
        assert seen == build_view(State(messages=tuple(messages)))
        out = len(growing.stale.left_out)
        assert out > gone or seen[: len(before)] == before
        before, gone = seen, out
