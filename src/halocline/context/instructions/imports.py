"""`@path` in a rules file imports another file, as in Claude Code: at most five levels deep, each file once.

What must stay true: a project imports nothing from outside except the user's own rules, and no file imports what may
hold secrets or is hidden by an ignore file.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from halocline.context.instructions.places import Roots
from halocline.policy.paths import Classifier
from halocline.protocol.config_locations import MARKDOWN, RULE_ROWS, Owner
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import Place

DEEPEST = 5
MOST = 50
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^ {0,3}<!--.*?-->[ \t]*\n?", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]*`")
_IMPORT = re.compile(r"(?<!\S)@([\w~./][^\s`<>()\[\]\"'|]*)")


def without_comments(text: str) -> str:
    """Return a text without HTML comments that begin a line outside of code: notes for people, as in Claude Code."""
    parts, at = list[str](), 0
    for fence in (*_FENCED.finditer(text), None):
        end = fence.start() if fence else len(text)
        parts += [_COMMENT.sub("", text[at:end]), fence[0] if fence else ""]
        at = fence.end() if fence else end
    return "".join(parts)


def named_in(text: str) -> Iterator[str]:
    """Yield the names that the text marks with `@`, outside of code and comments."""
    for found in _IMPORT.finditer(_SPAN.sub("", _FENCED.sub("", without_comments(text)))):
        if named := found[1].rstrip(".,;:!?"):
            yield named


def find_target(named: str, file: Path, roots: Roots) -> Path:
    """Resolve a name relative to the file that imports it."""
    if named.startswith("~/"):
        return (roots.home or Path("/")) / named[2:]
    return file.parent / named


def holds_secrets(real: str, roots: Roots) -> bool:
    """True if a file may hold secrets, so that reading it needs approval."""
    return _classify_place(real, roots) in (None, Place.SECRET)


def may_bring(path: Path, owner: Owner, roots: Roots, ignored: tuple[str, ...]) -> bool:
    """True if rules of this owner may import the file. Links are followed first."""
    real = os.path.realpath(path)
    place = _classify_place(real, roots, ignored)
    if place in (None, Place.SECRET, Place.IGNORED):
        return False
    is_text = real.endswith(MARKDOWN)
    if _is_below(real, roots.workspace):
        return place is Place.PROJECT or is_text
    if is_text and _is_below(real, roots.project):
        return True
    if owner == "project":
        plain = os.path.normpath(path)  # `link/..` may lead elsewhere than it reads
        return is_text and os.path.realpath(plain) == real and _is_among_a_persons(plain, roots)
    folders = [folder for folder in (roots.home, roots.halocline, roots.managed) if folder]
    return (place is Place.OUTSIDE or is_text) and any(_is_below(real, folder) for folder in folders)


def _classify_place(real: str, roots: Roots, ignored: tuple[str, ...] = ()) -> Place | None:
    try:
        return Classifier(roots.workspace, roots.halocline or Path("/nowhere"), ignored=ignored).resolve(real).place
    except ToolFailure:
        return None


def _is_among_a_persons(path: str, roots: Roots) -> bool:
    """True if a file is in a folder of the user's rules, or beside such a file. Links there are the user's own."""
    for row in RULE_ROWS:
        place = roots.path(row)
        if row.owner != "person" or not place:
            continue
        if path.startswith(f"{place}/") if row.endings else row.imports and os.path.dirname(path) == str(place.parent):
            return True
    return False


def _is_below(real: str, folder: Path) -> bool:
    top = os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip("/") + "/")
