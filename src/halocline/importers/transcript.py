"""What every program's transcript comes down to, before it is events; and what was found on disk.

What must stay true: nothing here is longer, larger or deeper than a log can bear, no text holds a key that is known by
its form, and a picture's bytes are in the blob store.
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

from halocline.protocol.kinds import Todo
from halocline.protocol.messages import AssistantPart, Image, ResultPart, Text, Usage, UserPart
from halocline.protocol.values import JsonObject, Value

LONGEST_TEXT = 400_000
"""Characters of one text that are taken."""
LONGEST_ARGUMENTS = 2_000_000
LARGEST_PICTURE = 20_000_000
LARGEST_NUMBER = 2**63
DEEPEST = 50
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Prompt(Value, frozen=True):
    """A person said something."""

    content: tuple[UserPart, ...]
    at: float = 0.0


class Reply(Value, frozen=True):
    """A model answered. `usage` is None when nobody counted."""

    content: tuple[AssistantPart, ...]
    at: float = 0.0
    model: str = ""
    usage: Usage | None = None
    cost: float | None = None


class Answer(Value, frozen=True):
    """A tool's result for a call."""

    call: str
    content: tuple[ResultPart, ...]
    at: float = 0.0
    failed: bool = False


class Plan(Value, frozen=True):
    """The to-do list was this one."""

    todos: tuple[Todo, ...]
    at: float = 0.0


Said = Prompt | Reply | Answer | Plan


class Found(Value, frozen=True, omit_defaults=False):
    """A transcript on disk. Times are Unix seconds; `cost` is in US dollars, None when nobody wrote it down."""

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

    def found(self, home: Path, env: Mapping[str, str]) -> Iterator[Found]:
        """Those of a person, in every known place below their home folder."""

    def found_at(self, path: Path) -> Iterator[Found]:
        """Those in a file or folder that was named."""

    def said(self, found: Found, ground: "Ground") -> Iterator[Said]:
        """What was said, in order. What cannot be read is noted in `ground` and passed over."""


@dataclass(slots=True)
class Ground:
    """What reading needs: where bytes are kept, what redacts keys, and what was lost on the way."""

    put: Callable[[bytes], str]
    redact: Callable[[str], str]
    lost: Counter[str] = field(default_factory=Counter)

    def text(self, given: object) -> str:
        """A text without keys, cut when it is too long."""
        text = given if isinstance(given, str) else "" if given is None else _as_json(self._bearable(given))
        if len(text) <= LONGEST_TEXT:
            return self.redact(text)
        self.lost["text cut because of its length"] += 1
        gone = f"{len(text) - LONGEST_TEXT:,} characters were left out at the import"
        return self.redact(f"{text[:LONGEST_TEXT]}\n[{gone}]")

    def arguments(self, given: object) -> JsonObject:
        """A call's input without keys; a huge one is left out."""
        if not isinstance(given, dict):
            return {}
        taken: JsonObject = self._bearable(given)
        if len(_as_json(taken)) > LONGEST_ARGUMENTS:
            self.lost["input of a call left out because of its length"] += 1
            return {}
        return taken

    def _bearable(self, value: Any, depth: int = 0) -> Any:
        """JSON that every log can hold: no numbers and no depths beyond measure, and no keys."""
        match value:
            case str():
                return self.redact(value)
            case dict() | list() if depth > DEEPEST:
                self.lost["input of a call nested too deeply"] += 1
                return None
            case dict():
                return {str(key): self._bearable(item, depth + 1) for key, item in value.items()}
            case list():
                return [self._bearable(item, depth + 1) for item in value]
            case int() if abs(value) > LARGEST_NUMBER:
                return str(value)
        return value

    def picture(self, media_type: object, data: object) -> Image | Text:
        """A picture from its base64, or words in its place."""
        if media_type in PICTURES and isinstance(data, str) and len(data) < LARGEST_PICTURE * 4 // 3:
            try:
                return Image(str(media_type), self.put(base64.b64decode(data, validate=True)))
            except (binascii.Error, ValueError):
                pass
        self.lost["picture that cannot be read"] += 1
        return Text("[a picture that could not be imported]")


def whole_number(given: object) -> int:
    """A count of tokens, whatever was written."""
    return int(given) if isinstance(given, int | float) and 0 <= given < 1e15 else 0


def parse_cost(given: object) -> float | None:
    """A cost; None for what is none."""
    return float(given) if isinstance(given, int | float) and 0 <= given < 1e9 else None


def parse_time(given: object) -> float:
    """Unix seconds of a time in ISO's form, in seconds or in milliseconds; 0 for what is none."""
    if isinstance(given, str):
        try:
            return max(0.0, datetime.fromisoformat(given).timestamp())
        except (ValueError, OverflowError):
            return parse_time(float(given)) if given.isascii() and given.isdecimal() else 0.0
    if not isinstance(given, int | float) or not 0 < given < 1e14:
        return 0.0
    return given / 1000 if given > 1e11 else float(given)


def as_text(given: object) -> str:
    """A text or nothing."""
    return given if isinstance(given, str) else ""


def as_table(given: Any) -> JsonObject:
    """A JSON object or an empty one."""
    return given if isinstance(given, dict) else {}


def as_rows(given: object) -> list[JsonObject]:
    """The objects of a JSON array."""
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def first_line(text: str) -> str:
    """A title out of a text."""
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:120]


def stamp_files(*files: Path) -> tuple[int, float, str]:
    """Size, time of the last change, and what stands for both, of some files of which the missing ones do not count."""
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
