"""Changes in the workspace during a tool of the program that is declared to change no files.

What must stay true: it only looks at names, times and sizes, in a bounded number of files, and never ends a call. What
another program changed at the same time is named, too: no one can tell them apart.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from halocline.policy.paths import Classifier
from halocline.ports.tool import ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Text
from halocline.protocol.permission_rules import Place
from halocline.protocol.state.file_knowledge import list_names
from halocline.protocol.state.state import State

MOST = 20_000
"""Files that are looked at; of a larger workspace, the first ones that the system lists."""
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__"})
SAID = "Note: {name} is declared to change no files, but while it ran these changed: {files}."

Look = dict[str, tuple[int, int]]
"""The time and size of each file."""


async def run_watched(name: str, run: Callable[[], Awaitable[ToolOutput]], state: State) -> ToolOutput:
    """Run a call, and say in its result what changed meanwhile. Raises what the call raises."""
    before = await asyncio.to_thread(look_at, state.workspace)
    try:
        output = await run()
    except ToolFailure as failure:
        if said := await _describe_changes(name, before, state):
            raise ToolFailure(f"{failure.text}\n{said}") from failure
        raise
    said = await _describe_changes(name, before, state)
    return replace(output, content=(*output.content, Text(said))) if said else output


def look_at(folder: str) -> Look:
    """Return the files below a folder. What cannot be read is left out."""
    found: Look = {}
    waiting = [folder]
    while waiting and len(found) < MOST:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting += [entry.path] if entry.name not in _SKIPPED else []
                    else:
                        facts = entry.stat(follow_symlinks=False)
                        found[os.path.relpath(entry.path, folder)] = facts.st_mtime_ns, facts.st_size
        except OSError:
            continue
    return found


async def _describe_changes(name: str, before: Look, state: State) -> str:
    """Return the sentence on what changed; empty if nothing did. Hidden files are not named."""
    after = await asyncio.to_thread(look_at, state.workspace)
    is_whole = max(len(before), len(after)) < MOST
    names = before.keys() | after.keys() if is_whole else before.keys() & after.keys()
    changed = sorted(one for one in names if before.get(one) != after.get(one))
    if changed and state.permissions.rules.hides:
        kinds = Classifier(Path(state.workspace), ignored=state.permissions.rules.ignored, roots=state.other_roots)
        changed = [one for one in changed if kinds.kind(os.path.join(kinds.workspace, one)) is not Place.IGNORED]
    return SAID.format(name=name, files=list_names(changed)) if changed else ""
