import msgspec
import pytest
from tests.providers.streams import endpoint, message_of, request, text_of, translated

from halocline.protocol.errors import ModelError
from halocline.protocol.events import ThinkingDelta
from halocline.protocol.messages import Text, Thinking
from halocline.providers.openai_chat.stream import FromWire


def chunk(delta: dict, stop: str | None = None) -> bytes:
    return b"data: %s\n\n" % msgspec.json.encode({"choices": [{"delta": delta, "finish_reason": stop}]})


def replied(text: str, size: int = 0, provider: str = "ollama") -> list:
    """All events of a reply with this content, in pieces of `size` characters."""
    size = size or len(text)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    chunks = [*(chunk({"role": "assistant", "content": piece}) for piece in pieces), chunk({}, "stop")]
    return translated(FromWire(request(), endpoint(provider, "m")), chunks)


@pytest.mark.parametrize("provider", ["ollama", "lmstudio", "vllm", "llamacpp", "openai-compatible", "together"])
def test_thinking_that_a_server_left_in_the_text_is_thinking(provider: str) -> None:
    message = message_of(replied("<think>\nLet me see.\n</think>\n\nHello.", provider=provider))
    assert message.content == (Thinking("Let me see.\n", provider=provider), Text("Hello."))


@pytest.mark.parametrize(
    ("text", "thoughts", "words"),
    [
        ("<think>Hm.</think>Hi", "Hm.", "Hi"),
        ("\n <thinking>Hm.</thinking>\nHi", "Hm.", "Hi"),
        ("<thought>Hm.</thought>Hi", "Hm.", "Hi"),
        ("[THINK]Hm.[/THINK]Hi", "Hm.", "Hi"),
        ("<think>\n\n</think>\n\nHi", "", "Hi"),
        ("<think>a</think>\n<think>b</think>Hi", "ab", "Hi"),
        ("<think>a <b> c</thin> d</think>Hi", "a <b> c</thin> d", "Hi"),
        ("<thin>Hi", "", "<thin>Hi"),
        ("  Hi", "", "  Hi"),
        ("Write <think>Hm.</think> so.", "", "Write <think>Hm.</think> so."),
        ("<", "", "<"),
    ],
)
def test_tags_at_the_start_are_read_however_the_text_is_split(text: str, thoughts: str, words: str) -> None:
    for size in (0, 1, 2, 3, 5):
        events = replied(text, size)
        assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == thoughts
        assert text_of(events) == message_of(events).text == words


@pytest.mark.parametrize(
    ("text", "thoughts", "words"),
    [
        ("I look first.\n</think>\n\nHello.", "I look first.", "Hello."),
        ("A model ends with `</think>`\n\nand so on.", "", "A model ends with `</think>`\n\nand so on."),
        ("```\nx</think>\n\n```", "", "```\nx</think>\n\n```"),
        ("It is `<think>x</think>\n\n`.", "", "It is `<think>x</think>\n\n`."),
    ],
    ids=["opened by the template", "in backticks", "in a block of code", "with its opening tag"],
)
def test_a_reply_with_the_closing_tag_alone_begins_with_thinking(text: str, thoughts: str, words: str) -> None:
    message = message_of(replied(text, 7))
    said = "".join(part.text for part in message.content if isinstance(part, Thinking))
    assert (said, message.text) == (thoughts, words)


def test_thoughts_of_the_servers_own_field_and_of_the_text_are_both_kept() -> None:
    chunks = [chunk({"reasoning_content": "First. "}), chunk({"content": "Then.</think>\n\nHi"}, "stop")]
    message = message_of(translated(FromWire(request(), endpoint("ollama", "m")), chunks))
    kept = Thinking("First. Then.", redacted='{"field":"reasoning_content"}', provider="ollama")
    assert message.content == (kept, Text("Hi"))


def test_a_reply_that_only_thinks_in_tags_is_an_empty_one() -> None:
    with pytest.raises(ModelError, match="empty reply"):
        replied("<think>Let me see.", 4)
