from hypothesis import given, strategies as st

from halocline.context.compaction.old_images import KEPT, MOST, OldImages, count_images
from halocline.context.compaction.view import View, build_view
from halocline.context.reports.removals import report_removals
from halocline.context.truncate import OLD_IMAGE
from halocline.protocol.messages import AssistantMessage, Image, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.state import State


def prompt(images: int = 0):
    return UserMessage((Text("look"), *(Image("image/png", f"blob{number}") for number in range(images))))


def screenshots(*counts: int):
    return tuple(
        message
        for number, images in enumerate(counts)
        for message in (
            AssistantMessage((ToolCall(f"c{number}", "browser_action"),)),
            ToolResult(f"c{number}", prompt(images).content),
        )
    )


def seen(messages):
    return build_view(State(messages=messages))


def test_all_images_stay_until_there_are_too_many():
    messages = (prompt(), *screenshots(*[1] * MOST))
    assert seen(messages) == messages


def test_of_too_many_images_the_newest_stay_and_the_others_say_that_they_were_there():
    messages = (prompt(), *screenshots(*[1] * (MOST + 1)))
    read = seen(messages)
    assert sum(map(count_images, read)) == KEPT
    assert [OLD_IMAGE in message.text for message in read[2::2]] == [True] * (MOST + 1 - KEPT) + [False] * KEPT
    assert report_removals(State(messages=messages), None, sees=True).old_images == MOST + 1 - KEPT


def test_the_images_of_the_newest_message_always_stay():
    messages = (prompt(3), *screenshots(1), prompt(MOST + 5))
    assert list(map(count_images, seen(messages))) == [0, 0, 0, MOST + 5]


def test_a_model_that_sees_nothing_is_told_that_of_each_image():
    messages = (prompt(), *screenshots(*[1] * (MOST + 1)))
    read = build_view(State(messages=messages), sees=False)
    assert not any(Text(OLD_IMAGE) in message.content for message in read)
    assert report_removals(State(messages=messages), None, sees=False).old_images == 0


COUNTS = st.lists(st.integers(0, 12), max_size=30)


@given(COUNTS)
def test_a_view_that_grows_shows_what_a_new_one_shows(counts):
    growing = View()
    messages = (prompt(2),)
    for images in counts:
        messages += screenshots(images) if images % 2 else (prompt(images),)
        assert growing.of(State(messages=messages)) == seen(messages)


@given(COUNTS)
def test_what_is_removed_stays_removed_and_no_more_than_the_limit_is_left(counts):
    images = OldImages()
    messages = (prompt(),)
    for count in counts:
        before = images.left_out
        messages += screenshots(count)
        images.take(messages)
        assert before <= images.left_out
        assert sum(map(count_images, seen(messages))) <= MOST
