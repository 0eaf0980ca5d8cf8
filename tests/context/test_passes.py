from halocline.context.compaction.stale_files import GAIN
from halocline.context.compaction.view import build_view
from halocline.context.reports.removals import report_removals
from halocline.context.token_estimate import message_tokens
from halocline.protocol.events import Compacted
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.messages import AssistantMessage, Image, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.queries.usage import Shortened
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.state import State

GO = UserMessage((Text("go"),))


def reading(number, text):
    call = ToolCall(f"c{number}", "read_file", {"path": "a.py"})
    return AssistantMessage((call,)), ToolResult(call.id, (Text(text),))


def size(messages):
    return sum(map(message_tokens, messages))


def test_of_a_conversation_that_is_read_whole_there_is_nothing_to_say():
    state = State(messages=(GO, *reading(1, "x" * 5_000)))
    assert report_removals(state, None, sees=True) == Shortened()


def test_outdated_copies_and_what_they_saved_are_told():
    state = State(messages=(GO, *(message for number in range(3) for message in reading(number, "x" * GAIN))))
    found = report_removals(state, None, sees=True)
    assert found.outdated == 2
    assert found.outdated_tokens == size(state.messages) - size(build_view(state))


def test_messages_that_are_too_long_and_what_they_lost_are_told():
    state = State(messages=(GO, *reading(1, "x" * 50_000)))
    found = report_removals(state, 1_000, sees=True)
    assert (found.cut, found.longest) == (1, 1_000)
    assert found.cut_tokens == size(state.messages) - size(build_view(state, 1_000))


def test_calls_without_a_result_and_pictures_that_are_not_seen_are_told():
    asked, _ = reading(1, "")
    state = State(messages=(UserMessage((Image("image/png", "b"), Image("image/png", "c"))), asked, GO))
    found = report_removals(state, None, sees=False)
    assert (found.answered_for, found.unseen) == (1, 2)


def test_the_compaction_in_force_is_told_and_what_it_replaced_is_not_told_again():
    messages = (GO, *(message for number in range(4) for message in reading(number, "x" * GAIN)))
    made = Compacted(
        cause=CompactionCause.ASKED, content=(Text("short"),), kept_from=7, until=9, before=90_000, after=9_000
    )
    found = report_removals(State(messages=messages, compaction=CompactionState(applied=(made,))), None, sees=True)
    assert found == Shortened(cause="asked", before=90_000, after=9_000, replaced=6)
