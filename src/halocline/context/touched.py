"""Which files a task is about: those that the person just named, and those that calls read, edited or asked for.

Pure. The newest come first, and there are at most a hundred: they decide which rules hold.
"""

import os
import re
from collections.abc import Iterable, Iterator

from halocline.protocol.messages import AssistantMessage, Text, ToolCall, UserMessage
from halocline.protocol.state import State

MOST = 100
LONGEST = 300
_CODE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_URL = re.compile(r"\b\w[\w+.-]*://\S+")
_TOKEN = re.compile(r"[^\s`\"'<>|*?,;()\[\]{}]+")
_NAMED = re.compile(r".*[^\W\d_]\.\w*[^\W\d_]\w{0,7}$|.*[^/]+/.*|^\.\w[\w.-]+$")
_HEADER = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ b/|--- a/)(.+?)\s*$", re.MULTILINE
)
_DEEDS = {
    "read_file": "read",
    "list_files": "listed",
    "search_files": "searched",
    "list_code_definition_names": "looked through",
    "replace_in_file": "edited",
    "write_to_file": "written",
    "apply_patch": "edited",
}


def touched(state: State) -> dict[str, str]:
    """Paths, relative to the workspace, and what was done with each."""
    found: dict[str, str] = {}
    for path, deed in _all(state):
        if (inside := _relative(path, state.workspace)) and inside not in found:
            found[inside] = deed
        if len(found) == MOST:
            break
    return found


def folders_of(paths: Iterable[str]) -> Iterator[str]:
    """The folders that paths lie in, without the workspace; the outer ones first."""
    for path in paths:
        parts = path.split("/")[:-1]
        yield from ("/".join(parts[: at + 1]) for at in range(len(parts)))


def named_in(text: str) -> Iterator[str]:
    """What looks like a path in what a person wrote, outside of blocks of code and addresses."""
    for found in _TOKEN.finditer(_URL.sub(" ", _CODE.sub(" ", text))):
        word = found[0].lstrip("@").rstrip(".:!/")
        if len(word) <= LONGEST and _NAMED.match(word):
            yield re.sub(r"(:\d+)+$", "", word)


def _all(state: State) -> Iterator[tuple[str, str]]:
    """The newest first. Of what people wrote only the last counts."""
    said = False
    for message in reversed(state.messages):
        match message:
            case AssistantMessage():
                for call in message.tool_calls:
                    yield from ((path, _DEEDS.get(call.name, "asked for")) for path in _paths(call))
            case UserMessage():
                words = [part.text for part in message.content if isinstance(part, Text)]
                if words and not said:
                    said = True
                    yield from ((path, "mentioned") for path in named_in("\n".join(words)))
    yield from ((path, "edited") for path in sorted(state.files_changed))


def _paths(call: ToolCall) -> Iterable[str]:
    path = call.arguments.get("path")
    if isinstance(path, str):
        return (path,)
    patch = call.arguments.get("input")
    return _HEADER.findall(patch[:400_000]) if isinstance(patch, str) else ()


def _relative(path: str, workspace: str) -> str:
    """A path from the workspace on; empty when it is not in there, or is the workspace itself."""
    text = path.strip().replace("\\", "/")
    if not text or "\0" in text or text.startswith("~"):
        return ""
    inside = os.path.relpath(os.path.normpath(os.path.join(workspace, text)), workspace)
    return "" if inside == "." or inside.startswith("..") else inside
