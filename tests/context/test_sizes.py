from hypothesis import given, strategies as st

from halocline.context.token_estimate import IMAGE, Sum, estimate_tokens, message_tokens
from halocline.protocol.messages import AssistantMessage, Image, Text, Thinking, ToolCall, ToolResult, UserMessage


def test_a_text_is_about_a_token_for_each_word_of_code() -> None:
    text = "def add(a: int, b: int) -> int:\n    return a + b\n"
    assert 10 <= estimate_tokens(text) <= 20  # public tokenizers say 18 to 20


def test_scripts_beyond_ascii_are_not_taken_for_cheap() -> None:
    assert estimate_tokens("日本語の文章です") >= len("日本語の文章です") * 0.7


@given(st.text(), st.text())
def test_the_parts_are_together_the_whole_but_for_rounding(one: str, other: str) -> None:
    assert (
        abs(estimate_tokens(one) + estimate_tokens(other) - estimate_tokens(one + other))
        <= 3 + len(one + other) // 1_000
    )


def test_every_part_of_every_message_counts() -> None:
    call = ToolCall("c1", "read_file", {"path": "a.py"})
    assert message_tokens(UserMessage((Image("image/png", "x"),))) > IMAGE
    assert message_tokens(AssistantMessage((call,))) > message_tokens(AssistantMessage(()))
    assert message_tokens(AssistantMessage((ToolCall("c1", "read_file", malformed="{" * 100),))) > 25
    assert message_tokens(AssistantMessage((Thinking("why " * 100),))) > 100
    assert message_tokens(ToolResult("c1", (Text("x" * 3_600),))) > 1_000


@given(st.lists(st.text()), st.integers(0, 3), st.lists(st.text()))
def test_a_sum_that_is_kept_is_the_same_as_one_that_is_made_anew(first, left, second) -> None:
    first, second = ([UserMessage((Text(text),)) for text in texts] for texts in (first, second))
    kept = Sum()
    for messages in (first, [*first, *second], [*first[:left], *second], second, []):
        assert kept.of(messages) == sum(map(message_tokens, messages))
