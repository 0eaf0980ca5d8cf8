"""Tool definitions that a person approved: a tool whose definition changes needs approval again.

The first use of a tool pins its definition. The file is Halocline's own; if it is damaged, every tool counts as new.
"""

import difflib
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.values import Value

_LONGEST = 4_000


class Pin(Value, frozen=True):
    """An approved definition; `text` is the form that a person can compare."""

    digest: str
    text: str


class Pins:
    """The approved definitions, by server and tool. Servers of different origin are kept apart."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def changed(self, tool: McpTool) -> str:
        """Diff the tool against its approved definition; empty when it is unchanged or was never used."""
        pin = self._read().get(tool.subject)
        return diff_definitions(pin.text, describe_definition(tool)) if pin and pin.digest != tool.digest else ""

    def agree(self, tool: McpTool) -> None:
        """Record this definition as approved."""
        pins = self._read()
        pin = Pin(tool.digest, describe_definition(tool))
        if pins.get(tool.subject) == pin:
            return
        with suppress(OSError):
            make_private_folder(self._file.parent)
            write_whole(self._file, msgspec.json.encode({**pins, tool.subject: pin}))

    def _read(self) -> dict[str, Pin]:
        try:
            return json_input.decode(read_regular(self._file), type=dict[str, Pin])
        except (OSError, msgspec.DecodeError):
            return {}


def describe_definition(tool: McpTool) -> str:
    """Format a definition for a person to compare."""
    schema = msgspec.json.format(msgspec.json.encode(tool.schema), indent=1).decode()
    hint = "it says that it only reads" if tool.read_only else "it may change things"
    return f"{tool.description}\n({hint})\n{schema}\n"


def diff_definitions(before: str, after: str) -> str:
    """Return a unified diff. A change beyond the shown part still counts as a change."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "as approved", "now", lineterm="", n=1)
    return "\n".join(lines)[:_LONGEST] or "--- as approved\n+++ now\n@@ a part that is not shown @@"
