"""The code of the plug-in: a tool, and a hook that is a function. Both are made as in a program."""

from pathlib import Path
from typing import Any

import halocline


@halocline.tool(effect="reads")
async def count_notes(path: Path, ctx: halocline.ToolContext) -> int:
    """Count the notes in a file: its lines that begin with a dash."""
    return sum(line.startswith("- ") for line in (await ctx.read_text(path)).splitlines())


def keep_notes(given: dict[str, Any]) -> halocline.HookAnswer | None:
    removes = "rm" in given["preToolUse"]["parameters"].get("command", "").split()
    return halocline.HookAnswer(block="Notes are kept: archive a file instead.") if removes else None


hooks = {"PreToolUse": halocline.HookMatcher("execute_command", keep_notes)}
