"""What is pasted into the composer: long texts and pictures as chips, which are sent whole; dropped files as mentions.

Pure but for the look whether a file is there.
"""

import os
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

from halocline.protocol.messages import PASTED, Note, UserPart
from halocline.runtime.mentions.suggestions import as_mention

LONG_LINES, LONG_TEXT = 10, 2_000
"""Lines and characters above which a pasted text is shown as a chip."""


class Chips:
    """What was pasted, by the chip that stands for each in what is typed."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[UserPart, ...]] = {}
        self._texts: dict[str, str] = {}

    def chip(self, text: str) -> str:
        """What is typed in the place of a text: the text itself, or the chip of a long one."""
        lines = text.count("\n") + 1
        if lines <= LONG_LINES and len(text) <= LONG_TEXT:
            return text
        size = f"{lines} lines" if lines > LONG_LINES else f"{len(text):,} characters"
        chip, number = f"[pasted {size}]", 2
        while self._texts.get(chip, text) != text:
            chip, number = f"[pasted {size}, {number}]", number + 1
        self._texts[chip] = text
        self._parts[chip] = (Note(f"{chip}\n{text}", PASTED),)
        return chip

    def next_picture(self) -> str:
        """The name of the next picture."""
        return f"picture {sum(chip not in self._texts for chip in self._parts) + 1}"

    def picture(self, name: str, parts: tuple[UserPart, ...]) -> str:
        """The chip of a picture, which is sent as these parts."""
        self._parts[f"[{name}]"] = parts
        return f"[{name}]"

    def pictures(self, typed: str) -> int:
        """How many pictures were typed."""
        return sum(chip in typed for chip in self._parts.keys() - self._texts.keys())

    def parts(self, typed: str) -> tuple[UserPart, ...]:
        """What the chips stand for that are in what was typed, in order."""
        places = sorted((typed.find(chip), chip) for chip in self._parts if chip in typed)
        return tuple(part for _, chip in places for part in self._parts[chip])

    def whole(self, typed: str) -> str:
        """What was typed, with the texts in the place of their chips; pictures have no words."""
        for chip in self._parts:
            typed = typed.replace(chip, self._texts.get(chip, ""))
        return typed

    def before(self, text: str) -> str:
        """The chip with which a text ends, and the blank after it; empty when it ends with none."""
        return next((end for chip in self._parts for end in (chip, f"{chip} ") if text.endswith(end)), "")


def mentions_of(pasted: str, workspace: Path) -> str:
    """A pasted text that is nothing but paths of files, as terminals paste what is dropped, as mentions; else empty."""
    text = pasted.strip()
    if not text.startswith(("/", "~/", "file://", "'", '"')) or len(text) > LONG_TEXT:
        return ""
    try:
        words = [word for line in text.splitlines() for word in _pasted_words(line)]
    except ValueError:
        return ""
    paths = [_existing_path(word) for word in words]
    if not paths or not all(paths):
        return ""
    return " ".join(as_mention(_shown_path(path, workspace)) for path in paths if path) + " "


def _pasted_words(line: str) -> list[str]:
    """The paths on a line: the whole line when it is one, as some terminals neither quote nor escape."""
    return [line.strip()] if _existing_path(line.strip()) else shlex.split(line)


def _existing_path(word: str) -> Path | None:
    """The file that a word names, if it is absolute and there."""
    if word.startswith("file://"):
        parts = urlsplit(word)
        word = unquote(parts.path) if parts.netloc in ("", "localhost") else ""
    word = os.path.normpath(os.path.expanduser(word))
    try:
        return Path(word) if word.startswith("/") and word.strip("/") and os.path.exists(word) else None
    except ValueError:
        return None


def _shown_path(path: Path, workspace: Path) -> str:
    folder = "/" if path.is_dir() else ""
    inside = path.is_relative_to(workspace) and path != workspace
    return f"{path.relative_to(workspace) if inside else path}{folder}"
