"""Claude Code's transcripts: JSON lines below `~/.claude/projects/<folder>/`, one reply over several lines.

Lines of sub-agents, and those that the tool itself put into a person's mouth, are left out.
"""

from collections.abc import Iterable, Iterator

from halocline.protocol.messages import Usage
from halocline.protocol.values import JsonObject
from halocline.store.importing.said import (
    Beat,
    Prompted,
    Spoke,
    Unread,
    heard,
    lines,
    moment,
    number,
    objects,
    safe,
    spoken,
    words,
)

NOT_TYPED = ("<command-", "<local-command", "<system-reminder", "[Request interrupted", "Caveat: ")


def read(source: Iterable[bytes]) -> Iterator[Beat]:
    """What a transcript says."""
    seen: set[str] = set()
    for line in lines(source):
        if isinstance(line, Unread):
            yield line
            continue
        name = line.get("uuid")
        if name in seen if isinstance(name, str) else False:
            continue
        if isinstance(name, str):
            seen.add(name)
        if not (line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary")):
            yield from _line(line)


def _line(line: JsonObject) -> Iterator[Beat]:
    message, at = line.get("message"), moment(line.get("timestamp"))
    if not isinstance(message, dict):
        return
    content = message.get("content")
    match line.get("type"):
        case "assistant":
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
            parts = tuple(part for block in blocks if (part := spoken(block)))
            model, usage = str(message.get("model") or ""), message.get("usage")
            reply = str(message.get("id") or line.get("uuid") or "")
            yield Spoke(at, reply, parts, model, _usage(usage) if isinstance(usage, dict) else None)
        case "user":
            yield from (result for block in objects(content) if (result := heard(block, at)))
            text = safe(words(content)).strip()
            if text and not text.startswith(NOT_TYPED):
                yield Prompted(at, text)


def _usage(usage: JsonObject) -> Usage:
    return Usage(
        input=number(usage, "input_tokens"),
        output=number(usage, "output_tokens"),
        cache_read=number(usage, "cache_read_input_tokens"),
        cache_write=number(usage, "cache_creation_input_tokens"),
    )
