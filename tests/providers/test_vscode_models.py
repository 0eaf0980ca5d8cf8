"""How messages and failures look to VS Code's models. The real VS Code: `tests/surfaces/vscode`."""

from typing import Any

import pytest
from tests.providers.streams import HELLO, MemoryBlobs, request

from halocline.ports.editor_models import EditorModelFailure, ReplyPart
from halocline.protocol.errors import ModelErrorKind
from halocline.protocol.events import TextDelta, ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.vscode import Reply, encode_message, translate_failure

BLOBS = MemoryBlobs(picture=b"\x89PNG")
PICTURE = Image("image/png", "picture")
CALL = ToolCall("c", "read_file", {"path": "a"})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("message", "role", "content"),
    [
        (HELLO, "user", [text("Hello")]),
        (UserMessage((Note("A day.", "date"), Text(""))), "user", [text("<date>\nA day.\n</date>")]),
        (UserMessage((PICTURE,)), "user", [{"type": "image", "mime": "image/png", "data": "iVBORw=="}]),
        (UserMessage((Image("image/png", "gone"),)), "user", [text("[Image missing: its file is gone.]")]),
        (
            AssistantMessage((Thinking("Hm."), Text("I look."), CALL)),
            "assistant",
            [text("I look."), {"type": "call", "id": "c", "name": "read_file", "input": {"path": "a"}}],
        ),
        (AssistantMessage((Thinking("Hm."),)), "assistant", []),
        (ToolResult("c", (Text("One"),)), "user", [{"type": "result", "id": "c", "content": [text("One")]}]),
        (
            ToolResult("c", (Text("No."),), is_error=True),
            "user",
            [{"type": "result", "id": "c", "content": [text("Error:"), text("No.")]}],
        ),
    ],
)
def test_each_kind_of_message_is_one_of_the_api(message: Message, role: str, content: list[Any]) -> None:
    assert encode_message(message, BLOBS) == {"role": role, "content": content}


def test_a_call_whose_id_was_used_before_gets_its_own() -> None:
    asked = request(HELLO, AssistantMessage((CALL,)), ToolResult("c", (Text("One"),)))
    reply = Reply(asked, Endpoint(vendor=VENDORS["vscode"], model="m"))
    pieces = [ReplyPart(text="I "), ReplyPart(text="look."), ReplyPart(call="c", name="read_file", input={"path": "b"})]
    events = list(reply.translate(pieces))
    assert [type(event) for event in events] == [TextDelta, TextDelta, ToolCallDelta]
    said, call = reply.parts()
    assert said == Text("I look.")
    assert isinstance(call, ToolCall)
    assert (call.id != "c", call.arguments) == (True, {"path": "b"})


@pytest.mark.parametrize(
    ("code", "message", "kind", "says"),
    [
        ("NoPermissions", "", ModelErrorKind.AUTH, "did not let Halocline use tests/quick."),
        ("Blocked", "Too much.", ModelErrorKind.QUOTA, "is used up: Too much."),
        ("NotFound", "", ModelErrorKind.NOT_FOUND, "offers no model tests/quick now."),
        (EditorModelFailure.GONE, "The editor is gone.", ModelErrorKind.NETWORK, "VS Code ended while"),
        ("Unknown", "prompt is too long", ModelErrorKind.CONTEXT_EXCEEDED, "failed: prompt is too long"),
        ("", "The model is overloaded", ModelErrorKind.OVERLOADED, "failed: The model is overloaded"),
        ("", "Cannot read properties of undefined", ModelErrorKind.SERVER, "failed: Cannot read"),
    ],
)
def test_a_failure_says_what_to_do(code: str, message: str, kind: ModelErrorKind, says: str) -> None:
    at = Endpoint(VENDORS["vscode"], "tests/quick")
    error = translate_failure(EditorModelFailure(code, message), at)
    assert (error.kind, says in error.text, bool(error.hint)) == (kind, True, True), error.text
