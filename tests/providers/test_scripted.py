import asyncio
import tomllib
from pathlib import Path

import pytest
from tests.providers.streams import HELLO, collected, message_of, request, usage_of

from halocline.protocol.errors import ModelError, ModelErrorKind, SettingsError
from halocline.protocol.events import TextDelta, ThinkingDelta, ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    Note,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.providers.scripted import script
from halocline.providers.scripted.model import Call, Fault, Scripted, Turn
from halocline.providers.scripted.script import load_script

READ = Turn(text="Reading.", calls=(Call("read_file", {"path": "a"}),))
DONE = Turn(text="Done.")


def loaded(folder: Path, text: str) -> Scripted:
    path = folder / "story.toml"
    path.write_text(text, encoding="utf-8")
    return Scripted.load(path)


FULL = """
[[turn]]
expect = ["Hello"]
unexpected = "Traceback"
thinking = "Hm."
text = "Reading two."
chunk = 8
delay = 0.001
pace = 0.001
usage = { input = 10, output = 5, cache_read = 3, cache_write = 2 }
cost = 0.25
stop = "max_tokens"

[[turn.call]]
tool = "read_file"
arguments = { path = "a" }
id = "first"

[[turn.call]]
tool = "read_file"
raw = '{"path": "b'
"""


def test_the_example_is_a_script_with_every_field() -> None:
    example = Path(script.__file__).with_name("example.toml")
    turns = load_script(example).turns
    written = {field for turn in tomllib.loads(example.read_text(encoding="utf-8"))["turn"] for field in turn}
    assert {"calls" if field == "call" else field for field in written} == {*Turn.__struct_fields__}
    assert [turn.fault for turn in turns] == [None, Fault.RATE_LIMIT]


async def test_a_whole_turn_is_played_from_its_file(tmp_path: Path) -> None:
    model = loaded(tmp_path, FULL)
    events = await collected(model)
    assert model.name == f"scripted/{tmp_path / 'story.toml'}"
    assert events[:-2] == [
        ThinkingDelta("Hm."),
        TextDelta("Reading "),
        TextDelta("two."),
        *(ToolCallDelta("first", "read_file", piece) for piece in ('{"path":', '"a"}')),
        *(ToolCallDelta("call_1_2", "read_file", piece) for piece in ('{"path":', ' "b')),
    ]
    assert message_of(events) == AssistantMessage(
        content=(
            Thinking("Hm.", provider="scripted"),
            Text("Reading two."),
            ToolCall("first", "read_file", {"path": "a"}),
            ToolCall("call_1_2", "read_file", malformed='{"path": "b'),
        ),
        model=model.name,
        stop_reason=StopReason.MAX_TOKENS,
    )
    assert usage_of(events).usage == Usage(input=10, output=5, cache_read=3, cache_write=2)
    assert usage_of(events).cost == 0.25


async def test_usage_is_estimated_and_free_when_the_script_gives_none() -> None:
    reported = usage_of(await collected(Scripted([DONE])))
    assert reported.usage == Usage(input=(len("Be brief.") + len("Hello")) // 4, output=1)
    assert reported.cost == 0.0


async def test_turns_are_counted_from_the_replies_in_the_request() -> None:
    reply = AssistantMessage((ToolCall("call_1_1", "read_file"),))
    resumed = Scripted([READ, DONE])
    assert message_of(await collected(resumed, request(HELLO, reply, ToolResult("call_1_1", ())))).text == "Done."


async def test_a_fault_is_delivered_once_and_the_next_turn_follows() -> None:
    model = Scripted([Turn(fault=Fault.RATE_LIMIT, retry_after=7), READ, Turn(fault=Fault.SERVER), DONE])
    first, second = request(HELLO), request(HELLO, AssistantMessage((Text("Reading."),)), HELLO)
    with pytest.raises(ModelError) as caught:
        await collected(model, first)
    assert (caught.value.kind, caught.value.retry_after) == (ModelErrorKind.RATE_LIMIT, 7)
    assert message_of(await collected(model, first)).text == "Reading."
    with pytest.raises(ModelError):
        await collected(model, second)
    assert message_of(await collected(model, second)).text == "Done."


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault.RATE_LIMIT, ModelErrorKind.RATE_LIMIT, ""),
        (Fault.OVERLOADED, ModelErrorKind.OVERLOADED, ""),
        (Fault.SERVER, ModelErrorKind.SERVER, ""),
        (Fault.AUTH, ModelErrorKind.AUTH, ""),
        (Fault.CONTEXT_EXCEEDED, ModelErrorKind.CONTEXT_EXCEEDED, ""),
        (Fault.DISCONNECT, ModelErrorKind.NETWORK, "Half"),
        (Fault.STREAM_ERROR, ModelErrorKind.OVERLOADED, "Half"),
        (Fault.STALL, ModelErrorKind.STALLED, "Half"),
    ],
)
async def test_each_fault_is_the_error_it_names(fault: Fault, kind: ModelErrorKind, said: str) -> None:
    heard: list[str] = []

    async def listen() -> None:
        async for event in Scripted([Turn(text="HalfHalf", fault=fault, retry_after=0.001)]).stream(request()):
            heard.append(event.text)

    with pytest.raises(ModelError) as caught:
        await listen()
    assert caught.value.kind is kind
    assert "".join(heard) == said


async def test_an_unbounded_stall_lasts_until_it_is_cancelled() -> None:
    stream = Scripted([Turn(text="HalfHalf", fault=Fault.STALL)]).stream(request())
    assert await anext(stream) == TextDelta("Half")
    waiting = asyncio.ensure_future(anext(stream))
    assert not (await asyncio.wait({waiting}, timeout=0.02))[0]
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_script_that_is_over_says_so() -> None:
    with pytest.raises(ModelError, match="has ended: it has 1 turn, and another"):
        await collected(Scripted([DONE]), request(HELLO, AssistantMessage((Text("Done."),)), HELLO))


@pytest.mark.parametrize(
    ("turn", "meets"),
    [
        (Turn(text="x", expect="new"), True),
        (Turn(text="x", expect=("new", "noon")), True),
        (Turn(text="x", expect="old"), False),
        (Turn(text="x", expect=("new", "old")), False),
        (Turn(text="x", unexpected="old"), True),
        (Turn(text="x", unexpected=("old", "result")), False),
    ],
)
async def test_expectations_look_at_everything_after_the_previous_reply(turn: Turn, meets: bool) -> None:
    history = (
        UserMessage((Text("old"),)),
        AssistantMessage((ToolCall("c", "read_file"),)),
        ToolResult("c", (Text("result"),)),
        UserMessage((Text("new"), Note("noon", "environment"))),
    )
    model = Scripted([READ, turn])
    if meets:
        assert message_of(await collected(model, request(*history))).text == "x"
        return
    with pytest.raises(ModelError, match="Turn 2: The script") as caught:
        await collected(model, request(*history))
    assert "result" in caught.value.text
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("[[turn]]\ntext = 7", "turn"),
        ("[[turn]]\nwords = 'x'", "words"),
        ("[[turn]]\nfault = 'flood'", "flood"),
        ("[[turn]]\n[[turn.call]]\nargument = {}", "call"),
        ("[[turns]]\ntext = 'x'", "turns"),
        ("[[turn]\n", "TOML"),
    ],
)
def test_a_bad_script_is_a_settings_error_that_names_file_and_key(tmp_path: Path, script: str, named: str) -> None:
    with pytest.raises(SettingsError, match=named) as caught:
        loaded(tmp_path, script)
    assert "story.toml" in caught.value.text
    assert caught.value.hint


def test_a_missing_script_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nothing"):
        Scripted.load(tmp_path / "nothing.toml")
