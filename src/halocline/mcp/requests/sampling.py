"""Sampling: a server asks the task's model. Converts its request to our types and the answer to the protocol's.

What must stay true: the task's context is never included, whatever the server asks for.
"""

from collections.abc import Iterator, Sequence

import mcp_types as types

from halocline.context.pictures import keep_picture
from halocline.mcp.results import decode_base64
from halocline.mcp.tool_names import plain_text
from halocline.ports.blobs import Blobs
from halocline.ports.mcp import Caller, Wanted
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import AssistantMessage, Image, Message, Text, UserMessage

LONGEST = 400_000
"""Characters that a server's request may have."""
REFUSED = -1
"""The protocol's code for a request that the user declined."""


async def answer_sampling(
    params: types.CreateMessageRequestParams, server: str, caller: Caller, blobs: Blobs
) -> types.CreateMessageResult | types.ErrorData:
    """Return the model's answer, or the error that says why there is none."""
    try:
        if caller.sample is None:
            raise ToolFailure("Sampling is not available in this task.")
        reply = await caller.sample(read_request(params, server, blobs), caller.call)
    except ToolFailure as failure:
        return types.ErrorData(code=REFUSED, message=failure.text)
    return types.CreateMessageResult(
        role="assistant",
        content=types.TextContent(type="text", text=reply.text),
        model=reply.model,
        stop_reason="maxTokens" if reply.cut else "endTurn",
    )


def read_request(params: types.CreateMessageRequestParams, server: str, blobs: Blobs) -> Wanted:
    """Convert the request. Raises ToolFailure for what is not supported."""
    if params.tools:
        raise ToolFailure("Sampling with tools is not supported.")
    messages = tuple(_convert_message(each, blobs) for each in params.messages)
    if not messages or not isinstance(messages[-1], UserMessage):
        raise ToolFailure("The last message must be from the user.")
    system = plain_text(params.system_prompt or "", LONGEST)
    texts = [part.text for message in messages for part in message.content if isinstance(part, Text)]
    if len(system) + sum(map(len, texts)) > LONGEST:
        raise ToolFailure(f"The request is longer than {LONGEST:,} characters.")
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
            case types.ImageContent(data=data):
                yield _keep_image(data, blobs)
            case _:
                raise ToolFailure("Only text and images are supported.")


def _keep_image(data: str, blobs: Blobs) -> Image:
    try:
        return keep_picture(decode_base64(data), blobs.put)
    except ValueError as error:
        raise ToolFailure("An image is not valid base64.") from error
    except ToolFailure as failure:
        raise ToolFailure(f"An image cannot be shown: {failure.text}.") from failure
