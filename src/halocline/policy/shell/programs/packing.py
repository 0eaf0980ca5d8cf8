"""Judge programs that put whole folders into an archive or a copy, including the folder's secret files."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import pairwise

from halocline.policy.commands import Use
from halocline.policy.sensitive_names import is_secret
from halocline.policy.shell.findings import Finding, Rule, make_part
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_RECURSIVE = {
    "tar": r"(?s).*",
    "cp": r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive",
    "zip": r"-[a-zA-Z]*[rR][a-zA-Z]*|--recurse-\w+",
    "gzip": r"-[a-zA-Z]*r[a-zA-Z]*|--recursive",
    "zstd": r"-[a-zA-Z]*r[a-zA-Z]*",
}
_EXCLUDES = compile_later(r"--exclude(?:=(.*))?")


def takes_secrets(name: str, simple: Simple, ground: Ground) -> Finding | None:
    """Return the finding for a program that includes a folder with a secret in it; None for any other."""
    texts = [word.text for word in simple.words[1:]]
    if not any(re.fullmatch(_RECURSIVE.get(name, "(?!)"), text) for text in texts):
        return None
    excluded, follows = list(_excluded_patterns(texts)), _follows_links(name, texts)
    for word in _source_words(simple):
        for folder in {one.path for one in ground.targets(word)}:
            if (found := _taken_along(folder, excluded, ground, follows=follows)) is not None:
                reason = f"it would include {found.shown}; exclude it (`tar --exclude`) or name the files"
                rule = Rule.OUTSIDE if found.place is Place.OUTSIDE else Rule.SECRET
                return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason, (word.source,)), rule)
    return None


def _follows_links(name: str, texts: list[str]) -> bool:
    """Return True if links are followed, so that their targets are included."""
    if name == "zip":
        return not any(re.fullmatch(r"-[a-zA-Z]*y[a-zA-Z]*|--symlinks", text) for text in texts)
    return any(re.fullmatch(r"-[a-zA-Z]*[LHh][a-zA-Z]*|--dereference", text) for text in texts)


def _taken_along(folder: str, excluded: list[str], ground: Ground, *, follows: bool) -> Found | None:
    """Return the first sensitive file below a folder; the folder itself if it has too many files to check."""
    files = ground.facts.files_below(folder)
    if files is None:
        return Found(folder, f"all of {folder}", Place.SECRET)
    for name in files:
        if os.path.isabs(name):
            led = ground.find(name) if follows else []
            if found := next((one for one in led if one.place in (Place.OUTSIDE, Place.SECRET)), None):
                return found
        elif any(_matches_name(name, pattern) for pattern in excluded):
            continue
        elif is_secret(os.path.join(folder, name)):
            return Found(os.path.join(folder, name), f"{name}, which may hold secrets", Place.SECRET)
        elif ground.hides_files:
            inside = ground.find(os.path.join(folder, name), quoted=True)
            ground.note(inside, Use.READ)
            if any(one.place is Place.IGNORED for one in inside):
                return Found(os.path.join(folder, name), f"{name}, which an ignore file hides", Place.SECRET)
    return None


def _matches_name(name: str, pattern: str) -> bool:
    return any(fnmatch(one, pattern) for one in (name, os.path.basename(name), f"./{name}"))


def _excluded_patterns(texts: list[str]) -> Iterator[str]:
    """Yield the patterns of excluded files."""
    for text, behind in pairwise((*texts, "")):
        if found := _EXCLUDES.fullmatch(text):
            yield found[1] or behind


def _source_words(simple: Simple) -> Iterator[Word]:
    """Yield the words that may name folders. After `tar -C` they are relative to that folder."""
    folder, words = "", iter(simple.words[1:])
    for word in words:
        if word.text in ("-C", "--directory"):
            folder = next(words, word).text
        elif not word.text.startswith("-"):
            within = folder and not word.text.startswith(("/", "~"))
            yield Word(word.source, (Piece(f"{folder}/"), *word.pieces), word.dynamic) if within else word
