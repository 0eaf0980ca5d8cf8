"""Pasting into the composer: long texts and images become chips, which are sent in full; dropped files, mentions.

Pure, apart from checking that files exist.
"""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from halocline.client.mentions import format_mention
from halocline.protocol.messages import PASTED, Image, Note, UserPart
from halocline.protocol.patterns import compile_later

_PICTURE = compile_later(r"\[picture \d+\]")
MOST_PICTURES = 20
"""Most images in one prompt."""
LONG_LINES, LONG_TEXT = 10, 2_000
"""Lines and characters above which pasted text becomes a chip."""


class Chips:
    """Pasted content by its chip in the typed text."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[UserPart, ...]] = {}
        self._texts: dict[str, str] = {}

    def chip(self, text: str) -> str:
        """Return the text to insert for a pasted one: itself, or a chip for a long one."""
        lines = text.rstrip("\n").count("\n") + 1
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
        """Name of the next image."""
        return f"picture {sum(chip not in self._texts for chip in self._parts) + 1}"

    def picture(self, name: str, parts: tuple[UserPart, ...]) -> str:
        """Return the chip of an image, which is sent as these parts."""
        self._parts[f"[{name}]"] = parts
        return f"[{name}]"

    def pictures(self, typed: str) -> int:
        """Number of images in the typed text."""
        return sum(chip in typed for chip in self._parts.keys() - self._texts.keys())

    def parts(self, typed: str) -> tuple[UserPart, ...]:
        """Parts of the chips in the typed text, in order."""
        places = sorted((typed.find(chip), chip) for chip in self._parts if chip in typed)
        return tuple(part for _, chip in places for part in self._parts[chip])

    def whole(self, typed: str) -> str:
        """The typed text with pasted texts in place of their chips; image chips are removed."""
        typed = self.unfold(typed)
        for chip in self._parts:
            typed = typed.replace(chip, "")
        return typed

    def unfold(self, typed: str) -> str:
        """The typed text with pasted texts in place of their chips."""
        for chip, text in self._texts.items():
            typed = typed.replace(chip, text)
        return typed

    def restore(self, text: str, parts: Sequence[UserPart]) -> str:
        """Return a text that comes back with its parts, typed here or elsewhere, with a chip for each of them."""
        known = self.parts(text)
        image: tuple[UserPart, ...] = ()
        for part in parts:
            if part in known:
                continue
            if isinstance(part, Note) and part.source == PASTED:
                chip, _, pasted = part.text.partition("\n")
                text = text.replace(chip, self.chip(pasted), 1) if chip in text else f"{text}\n{self.chip(pasted)}"
                continue
            image += (part,)
            if isinstance(part, Image):
                text = self._restore_image(text, image)
                image = ()
        return text

    def _restore_image(self, text: str, parts: tuple[UserPart, ...]) -> str:
        """Give an image a new chip in place of its old one, or at the end."""
        old = next((chip for chip in _PICTURE.findall(text) if chip not in self._parts), "")
        chip = self.picture(self.next_picture(), parts)
        return text.replace(old, chip, 1) if old else f"{text} {chip}".lstrip()

    def before(self, text: str) -> str:
        """Return the chip at the end of a text, with the space after it; empty when there is none."""
        return next((end for chip in self._parts for end in (chip, f"{chip} ") if text.endswith(end)), "")


def mentions_of(pasted: str, workspace: Path) -> str:
    """Turn pasted text that consists only of file paths, as from drag and drop, into mentions; else empty."""
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
    return " ".join(format_mention(_shown_path(path, workspace)) for path in paths if path) + " "


def _pasted_words(line: str) -> list[str]:
    """The paths on a line; the whole line if it is a path, as some terminals neither quote nor escape."""
    return [line.strip()] if _existing_path(line.strip()) else shlex.split(line)


def _existing_path(word: str) -> Path | None:
    """Return the existing file of an absolute path or file URL."""
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
