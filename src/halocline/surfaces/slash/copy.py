"""`/copy`: the last reply, or its last code block, to the clipboard."""

import re
from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.plan_approval import TOOL
from halocline.protocol.state.state import State
from halocline.surfaces.clipboard import BY_CODE, write_text
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

CODE = "code"
UNSURE = " If it is not in your clipboard, let your terminal take it (OSC 52)."
USAGE = "/copy       copy the last reply\n/copy code  copy its last code block"
NO_WAY = "There is no clipboard that Halocline can reach: no program such as wl-copy or xclip works here."
_FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)\Z")


async def answer_copy(context: SlashContext, rest: str) -> SlashAnswer:
    """Copy without escape codes: they could act where the text is pasted."""
    if rest not in ("", CODE):
        return USAGE
    text = clean(find_last_reply(context.client.state(context.task)))
    if not text:
        return "There is no reply to copy yet."
    if rest and not (text := find_last_code(text)):
        return "The last reply has no code block. To copy all of it: /copy"
    ways = [way for way in (await write_text(text), context.view.copy_text(text)) if way]
    if not ways:
        return NO_WAY
    size = f"{format_plural(len(text.splitlines()), 'line')}, {format_plural(len(text), 'character')}"
    doubt = UNSURE if ways == [BY_CODE] else ""
    return f"Copied the {'last code block' if rest else 'last reply'} ({size}) with {' and '.join(ways)}.{doubt}"


async def complete_copy(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {CODE: "only its last code block"}


def find_last_reply(state: State) -> str:
    """Return the latest text for the person, which may be a plan; empty if there is none."""
    for message in reversed(state.messages):
        if isinstance(message, AssistantMessage):
            plans = [str(call.arguments.get("response", "")) for call in message.tool_calls if call.name == TOOL]
            if text := "\n\n".join(filter(None, [message.text.strip(), *plans])):
                return text
    return ""


def find_last_code(text: str) -> str:
    """Return the last fenced block of a Markdown text, without its fences and their indent; empty if there is none."""
    found: list[str] = []
    block: list[str] | None = None
    fence = indent = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if block is None:
            if mark:
                block, fence, indent = [], mark["fence"], mark["indent"]
        elif mark and mark["fence"].startswith(fence) and not mark["info"].strip():
            found, block = block, None
        else:
            block.append(line.removeprefix(indent))
    return "\n".join(found if block is None else block)
