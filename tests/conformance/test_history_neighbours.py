"""Histories in forms that no one reported, and what must be sent of them: the rows are in `history_neighbours.toml`."""

import tomllib
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from tests.conformance.sdks import PICTURE
from tests.conformance.test_model_port import FAMILIES
from tests.providers.markup import TOOLS
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request
from tests.providers.test_printed_calls import answering
from tests.tables import Failures

from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
    Image,
    Message,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.catalog.models import ModelInfo
from halocline.providers.endpoint import Endpoint
from halocline.providers.openai_chat import request as openai_chat

ROWS = tomllib.loads(Path(__file__).with_name("history_neighbours.toml").read_text(encoding="utf-8"))
FIELD = "reasoning_content"
NAMES = (FIELD, "reasoning", "reasoning_details")


def told(kind: str, words: str, provider: str) -> list[Message]:
    """The messages of a part of a history."""
    own, foreign = Thinking("I think.", provider=provider), Thinking("Not yours.", provider="nobody")
    said: tuple[AssistantPart, ...] = (Text(words),)
    match kind:
        case "you":
            return [UserMessage((Text(words),))]
        case "note":
            return [UserMessage((Note(words, "changes"),))]
        case "picture":
            return [UserMessage((Text(words), Image("image/png", "picture")))]
        case "reply" | "cut":
            return [AssistantMessage(said, interrupted=kind == "cut")]
        case "thoughts":
            return [AssistantMessage((foreign,), interrupted=True)]
        case "own" | "foreign":
            return [AssistantMessage((own if kind == "own" else foreign, *said))]
    call = ToolCall(f"call_{words}", "read_file", {"path": words})
    return [AssistantMessage((own, call) if kind == "own call" else (call,)), ToolResult(call.id, (Text(words),))]


def sent_of(at: Endpoint, history: list[Message]) -> list[Any]:
    """The messages as they would be sent, without the system's."""
    fragments = openai_chat.encode_messages(at, MemoryBlobs(picture=PICTURE))
    body = openai_chat.to_wire(request(*history, tools=TOOLS), at, fragments)
    return [one for one in msgspec.json.decode(b"".join(body))["messages"] if one["role"] != "system"]


def history_of(row: dict[str, Any], provider: str) -> list[Message]:
    return [message for kind, words in row["history"] for message in told(kind, words, provider)]


def words_of(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    if isinstance(content, str):
        return content
    return "\n\n".join(part["text"] if part["type"] == "text" else "(a picture)" for part in content)


def test_a_server_gets_the_field_of_thoughts_that_it_requires_of_each_reply() -> None:
    failures = Failures(len(ROWS["field"]))
    for row in ROWS["field"]:
        at = replace(endpoint(row["provider"], "m"), known=ModelInfo(reasoning_field=FIELD * row.get("listed", False)))
        with failures.collect(row["of"]):
            replies = [one for one in sent_of(at, history_of(row, row["provider"])) if one["role"] == "assistant"]
            assert [reply.get(FIELD, "(none)") for reply in replies] == row["sent"]
    failures.show()


def test_prompts_and_replies_that_follow_themselves_are_one_with_all_words_in_order() -> None:
    failures = Failures(len(ROWS["turns"]))
    for row in ROWS["turns"]:
        provider = row.get("provider", "llamacpp")
        sent = sent_of(endpoint(provider, "gemma-3"), history_of(row, provider))
        with failures.collect(row["of"]):
            assert [[one["role"], words_of(one)] for one in sent] == row["sent"]
    failures.show()


async def test_thoughts_go_back_in_the_fields_that_their_server_reads() -> None:
    failures = Failures(len(ROWS["back"]))
    for row in ROWS["back"]:
        called = (
            '{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}}]}'
        )
        payloads = "".join(f'data: {{"choices":[{{"delta":{delta}}}]}}\n\n' for delta in (*row["deltas"], called))
        async with answering(f"{payloads}data: [DONE]\n\n".encode()) as url:
            at = endpoint(row["provider"], "m", url)
            model = FAMILIES["openai"](at, MemoryBlobs())
            reply = message_of(await collected(model))
            await model.close()
        with failures.collect(row["of"]):
            sent = sent_of(at, [*told("you", "A", ""), reply, ToolResult("c1", (Text("x"),))])
            fields = {name: sent[1][name] for name in NAMES if name in sent[1]}
            assert fields == msgspec.json.decode(row["sent"])
    failures.show()
