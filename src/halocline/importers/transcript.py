"""The common form of all programs' transcripts, before they become events; and transcripts found on disk.

What must stay true: nothing here is too long, large or deep for a log, no text contains a key of a published form, and
the bytes of images are in the blob store.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec

from halocline.context.pictures import keep_picture
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import Todo
from halocline.protocol.messages import AssistantPart, Image, ResultPart, Text, Usage, UserPart
from halocline.protocol.values import JsonObject, Value

LONGEST_TEXT = 400_000
"""Maximum characters of one text."""
LONGEST_ARGUMENTS = 2_000_000
LARGEST_PICTURE = 20_000_000
LARGEST_NUMBER = 2**63
DEEPEST = 50
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Prompt(Value, frozen=True):
    """A message of the person."""

    content: tuple[UserPart, ...]
    at: float = 0.0


class Reply(Value, frozen=True):
    """A reply of the model. `usage` is None if unknown."""

    content: tuple[AssistantPart, ...]
    at: float = 0.0
    model: str = ""
    usage: Usage | None = None
    cost: float | None = None


class Answer(Value, frozen=True):
    """The result of a tool call."""

    call: str
    content: tuple[ResultPart, ...]
    at: float = 0.0
    failed: bool = False


class Plan(Value, frozen=True):
    """The to-do list."""

    todos: tuple[Todo, ...]
    at: float = 0.0


Entry = Prompt | Reply | Answer | Plan


class FoundTranscript(Value, frozen=True, omit_defaults=False):
    """A transcript on disk. Times are Unix seconds; `cost` is in US dollars, None if not recorded."""

    tool: str
    id: str
    path: str
    title: str = ""
    started: float = 0.0
    changed: float = 0.0
    size: int = 0
    stamp: str = ""
    workspace: str = ""
    model: str = ""
    cost: float | None = None


class Program(Protocol):
    """A module for one program's transcripts."""

    TITLE: str

    def find_transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[FoundTranscript]:
        """Yield the user's transcripts in all known locations below their home folder."""

    def open_transcripts(self, path: Path) -> Iterator[FoundTranscript]:
        """Yield the transcripts in a given file or folder."""

    def read_entries(self, found: FoundTranscript, ground: "Ground") -> Iterator[Entry]:
        """Yield the conversation in order. Unreadable parts are skipped and counted in `ground.lost`."""


@dataclass(slots=True)
class Ground:
    """Context of an import: stores blobs, redacts keys, and counts what was lost. `folder` is the conversation's."""

    put: Callable[[bytes], str]
    redact: Callable[[str], str]
    folder: str = ""
    lost: Counter[str] = field(default_factory=Counter)

    def text(self, given: object) -> str:
        """Return a text without keys, cut if it is too long."""
        text = given if isinstance(given, str) else "" if given is None else _as_json(self._bearable(given))
        if len(text) <= LONGEST_TEXT:
            return self.redact(text)
        self.lost["text cut because it is too long"] += 1
        gone = f"{len(text) - LONGEST_TEXT:,} more characters were not imported"
        return self.redact(f"{text[:LONGEST_TEXT]}\n[{gone}]")

    def arguments(self, given: object) -> JsonObject:
        """Return a call's arguments without keys; empty if they are too long."""
        if not isinstance(given, dict):
            return {}
        taken: JsonObject = self._bearable(given)
        if len(_as_json(taken)) > LONGEST_ARGUMENTS:
            self.lost["arguments of a call dropped because they are too long"] += 1
            return {}
        return taken

    def _bearable(self, value: Any, depth: int = 0) -> Any:
        """Return JSON fit for a log: without huge numbers, deep nesting and keys."""
        match value:
            case str():
                return self.redact(value)
            case dict() | list() if depth > DEEPEST:
                self.lost["arguments of a call nested too deeply"] += 1
                return None
            case dict():
                return {str(key): self._bearable(item, depth + 1) for key, item in value.items()}
            case list():
                return [self._bearable(item, depth + 1) for item in value]
            case int() if abs(value) > LARGEST_NUMBER:
                return str(value)
        return value

    def picture(self, media_type: object, data: object) -> Image | Text:
        """Decode an image from base64; return a placeholder text if that fails."""
        if media_type in PICTURES and isinstance(data, str) and len(data) < LARGEST_PICTURE * 4 // 3:
            try:
                return keep_picture(base64.b64decode(data, validate=True), self.put)
            except (binascii.Error, ValueError, ToolFailure):
                pass
        self.lost["unreadable image"] += 1
        return Text("[an image that could not be imported]")


def whole_number(given: object) -> int:
    """Return a token count; 0 for anything invalid."""
    return int(given) if isinstance(given, int | float) and 0 <= given < 1e15 else 0


def parse_cost(given: object) -> float | None:
    """Return a cost; None for anything invalid."""
    return float(given) if isinstance(given, int | float) and 0 <= given < 1e9 else None


def parse_time(given: object) -> float:
    """Return Unix seconds of a time in ISO format, seconds or milliseconds; 0 for anything invalid."""
    if isinstance(given, str):
        try:
            return max(0.0, datetime.fromisoformat(given).timestamp())
        except (ValueError, OverflowError):
            return parse_time(float(given)) if given.isascii() and given.isdecimal() else 0.0
    if not isinstance(given, int | float) or not 0 < given < 1e14:
        return 0.0
    return given / 1000 if given > 1e11 else float(given)


def as_text(given: object) -> str:
    """Return a string; empty for anything else."""
    return given if isinstance(given, str) else ""


def as_table(given: Any) -> JsonObject:
    """Return a JSON object; empty for anything else."""
    return given if isinstance(given, dict) else {}


def as_rows(given: object) -> list[JsonObject]:
    """Return the objects in a JSON array."""
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def first_line(text: str) -> str:
    """Return the first non-empty line, as a title."""
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:120]


def stamp_files(*files: Path) -> tuple[int, float, str]:
    """Return total size, time of the last change, and a stamp of both, for those of the files that exist."""
    size, changed = 0, 0
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            continue
        size, changed = size + stat.st_size, max(changed, stat.st_mtime_ns)
    return size, changed / 1e9, f"{size}-{changed}"


def _as_json(given: object) -> str:
    return msgspec.json.encode(given).decode()
