"""Trims events for a page: drops what only the model reads, and cuts long texts except in approvals.

The page fetches the full text by `event` or `output`. A cut event has `cut`: the number of missing characters.
"""

from typing import Any

import msgspec

from halocline.protocol import codec, json_input, json_output
from halocline.protocol.events import (
    ApprovalRequested,
    EnvironmentReported,
    Event,
    McpOffered,
    RulesChanged,
    TaskStarted,
    ToolCallEnded,
)

LARGEST = 64 * 1024
"""Bytes up to which an event is sent whole."""
HEAD, TAIL = 12_000, 4_000
"""Characters kept of a long text in a larger event."""
LARGEST_FRAME = 2**20
"""Bytes of events per frame."""


def trim_event(event: Event) -> bytes:
    """Encode an event as JSON; it keeps its sequence number, whatever is left out."""
    match event:
        case TaskStarted():
            event = msgspec.structs.replace(event, system_prompt="")
        case RulesChanged() | McpOffered() | EnvironmentReported():
            return json_output.encode({"type": event.__struct_config__.tag, "seq": event.seq, "at": event.at})
        case ApprovalRequested():
            return codec.encode(event)
        case ToolCallEnded():
            event = msgspec.structs.replace(event, seen=())
    encoded = codec.encode(event)
    return encoded if len(encoded) <= LARGEST else _cut_text(encoded)


def _cut_text(encoded: bytes) -> bytes:
    missing = 0

    def shorter(value: Any) -> Any:
        nonlocal missing
        match value:
            case str() if len(value) > HEAD + TAIL:
                gap = len(value) - HEAD - TAIL
                missing += gap
                return f"{value[:HEAD]}\n[… {gap:,} characters are not shown …]\n{value[-TAIL:]}"
            case list():
                return [shorter(one) for one in value]
            case dict():
                return {name: shorter(one) for name, one in value.items()}
        return value

    event = shorter(json_input.decode(encoded))
    return json_output.encode(event | {"cut": missing}) if missing else encoded
