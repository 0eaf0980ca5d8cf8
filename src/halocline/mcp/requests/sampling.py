"""A server that asks the task's model: its words in ours, and the answer in the protocol's.

What must stay true: the context of the task is never sent along, whatever the server asks for.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence

import mcp_types as types

from halocline.mcp.results import PICTURES
from halocline.mcp.tool_names import plain_text
from halocline.ports.blobs import Blobs
from halocline.ports.mcp import Caller, Wanted
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import AssistantMessage, Image, Message, Text, UserMessage

LONGEST = 400_000
"""Characters that a server may have the model read."""
REFUSED = -1
"""The protocol's code for a request that a person declined."""


async def answer_sampling(
    params: types.CreateMessageRequestParams, server: str, caller: Caller, blobs: Blobs
) -> types.CreateMessageResult | types.ErrorData:
    """The model's answer, or why there is none."""
    try:
        if caller.sample is None:
            raise ToolFailure("No model answers servers in this task.")
        spoken = await caller.sample(read_request(params, server, blobs), caller.call)
    except ToolFailure as failure:
        return types.ErrorData(code=REFUSED, message=failure.text)
    return types.CreateMessageResult(
        role="assistant",
        content=types.TextContent(type="text", text=spoken.text),
        model=spoken.model,
        stop_reason="maxTokens" if spoken.cut else "endTurn",
    )


def read_request(params: types.CreateMessageRequestParams, server: str, blobs: Blobs) -> Wanted:
    """What is asked. Raises ToolFailure for what no model of ours can be asked."""
    if params.tools:
        raise ToolFailure("The model is asked without tools here.")
    messages = tuple(_convert_message(each, blobs) for each in params.messages)
    if not messages or not isinstance(messages[-1], UserMessage):
        raise ToolFailure("The last message has to be the user's.")
    system = plain_text(params.system_prompt or "", LONGEST)
    texts = [part.text for message in messages for part in message.content if isinstance(part, Text)]
    if len(system) + sum(map(len, texts)) > LONGEST:
        raise ToolFailure(f"That is more than {LONGEST:,} characters.")
    return Wanted(server, messages, system, max(0, params.max_tokens))


def _convert_message(message: types.SamplingMessage, blobs: Blobs) -> Message:
    blocks = message.content if isinstance(message.content, list) else [message.content]
    if message.role == "user":
        return UserMessage(tuple(_convert_parts(blocks, blobs)))
    return AssistantMessage(tuple(part for part in _convert_parts(blocks, blobs) if isinstance(part, Text)))


def _convert_parts(blocks: Sequence[object], blobs: Blobs) -> Iterator[Text | Image]:
    for block in blocks:
        match block:
            case types.TextContent(text=text):
                yield Text(plain_text(text, LONGEST + 1))
            case types.ImageContent(data=data, mime_type=kind) if kind in PICTURES:
                yield _keep_image(data, kind, blobs)
            case _:
                raise ToolFailure("Only texts and pictures can be asked about.")


def _keep_image(data: str, kind: str, blobs: Blobs) -> Image:
    try:
        return Image(kind, blobs.put(base64.b64decode(data, validate=True)))
    except (binascii.Error, ValueError) as error:
        raise ToolFailure("A picture is not written as base64.") from error
