"""The writing side of the text protocol: turn a request with tools into one that describes them in text.

What must stay true: the messages of one request are a prefix of the next one's, as the same objects, so that the
wrapped model can cache their encodings.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from halocline.context.system_prompt.build import text_tools
from halocline.ports.model import Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import messages as msg
from halocline.providers.json_cache import Fragments, encode_json
from halocline.providers.text_tools.arguments import write_arguments


class TextPrompt:
    """Rewrites the requests of one task. Tool results become user messages."""

    def __init__(self) -> None:
        self._fragments = Fragments(self._rewritten)
        self._names: dict[str, str] = {}

    def of(self, request: Request) -> Request:
        messages = tuple(self._fragments.of(request.messages))
        # A reply forced to be JSON could not contain calls, which are text here.
        return replace(request, system=_system_prompt(request), messages=messages, tools=(), output_schema=None)

    def _rewritten(self, message: msg.Message) -> msg.UserMessage | msg.AssistantMessage:
        match message:
            case msg.UserMessage():
                return message
            case msg.AssistantMessage():
                self._names |= {call.id: call.name for call in message.tool_calls}
                return replace(message, content=tuple(_reply_as_text(message.content)))
            case msg.ToolResult():
                return msg.UserMessage(tuple(_result_as_text(message, self._names.get(message.call, "a call"))))


def write_call(call: msg.ToolCall) -> str:
    """Write a call as a model would; a malformed one as it was written."""
    written = call.malformed.removeprefix(msg.PRINTED).removeprefix(msg.QUOTED)
    return f"<{call.name}>{written or write_arguments(call.arguments)}</{call.name}>"


def _system_prompt(request: Request) -> str:
    if not request.tools:
        return request.system
    tools = text_tools("\n\n".join(map(_describe_tool, request.tools)))
    return f"{request.system}\n\n{tools}" if request.system else tools


def _describe_tool(spec: ToolSpec) -> str:
    fields = spec.schema.get("properties", {})
    required = spec.schema.get("required", ())
    lines = [f"## {spec.name}", spec.description]
    for name, field in fields.items():
        kind = field.get("type", "string")
        need = "required" if name in required else "optional"
        items = f" Items: {encode_json(field['items']).decode()}" if "items" in field else ""
        lines.append(f"- {name} ({kind}, {need}): {field.get('description', '')}{items}")
    parameters = "".join(f"\n<{name}>…</{name}>" for name in required or fields)
    return "\n".join((*lines, f"<{spec.name}>{parameters}\n</{spec.name}>"))


def _reply_as_text(parts: Iterable[msg.AssistantPart]) -> Iterator[msg.AssistantPart]:
    """Turn calls into text below the text before them."""
    for at, part in enumerate(parts):
        if isinstance(part, msg.ToolCall):
            yield msg.Text(f"\n\n{write_call(part)}" if at else write_call(part))
        else:
            yield part


def _result_as_text(result: msg.ToolResult, name: str) -> Iterator[msg.ResultPart]:
    yield msg.Text(f"[{'Error from' if result.is_error else 'Result of'} {name}]\n{result.text}")
    for part in result.content:
        if isinstance(part, msg.Image):
            yield part
