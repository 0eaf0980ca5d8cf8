import msgspec
from hypothesis import given, strategies as st

from halocline.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.persistent import Series
from halocline.providers.json_cache import Fragments


def conversation(steps: int, name: str = "a") -> list[Message]:
    messages: list[Message] = [UserMessage((Text(name),))]
    for step in range(steps):
        call = f"{name}{step}"
        messages += [AssistantMessage((ToolCall(call, "read"),)), ToolResult(call, (Text(call),))]
    return messages


def fragments(counted: list[Message] | None = None) -> Fragments[bytes]:
    def encode(message: Message) -> bytes:
        if counted is not None:
            counted.append(message)
        return msgspec.json.encode(message)

    return Fragments(encode)


def whole(messages: list[Message]) -> bytes:
    return b",".join(map(msgspec.json.encode, messages))


def join(_: list[Message], encoded: list[bytes]) -> bytes:
    return b",".join(encoded)


@given(st.lists(st.tuples(st.integers(0, 90), st.sampled_from("ab")), min_size=1, max_size=6))
def test_any_sequence_of_conversations_is_written_as_if_it_were_the_first(made):
    kept, both = fragments(), {name: conversation(90, name) for name in "ab"}
    for steps, name in made:
        messages = both[name][: 2 * steps + 1]
        assert b",".join(kept.written(messages, join)) == whole(messages)
        assert kept.calls == {f"{name}{step}" for step in range(steps)}


def test_a_growing_conversation_is_encoded_and_written_once():
    counted: list[Message] = []
    kept, messages, written = fragments(counted), Series[Message](conversation(0)), []

    def write(some, encoded) -> bytes:
        written.append(len(some))
        return join(some, encoded)

    for message in conversation(1_000)[1:]:
        messages = messages.plus(message)
        parts = kept.written(messages, write)
    assert len(counted) == len(messages) == 2_001
    assert max(written) < 140  # of the runs, and of the newest messages
    assert b",".join(parts) == whole(list(messages))
