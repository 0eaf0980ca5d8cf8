"""Where a command would run: the folders it may be in, and what its paths lead to from there.

Behind a `cd` that may fail, a path is judged from every folder that it may start in; the most careful answer holds.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from halocline.policy.paths import resolve
from halocline.policy.shell.tree import Word
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.errors import ToolFailure
from halocline.protocol.rules import OtherRoot, Place

MOST_FOLDERS = 8
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
_GLOB = re.compile(r"[*?\[]")
_HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_DEVICE = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|disk|rdisk|mmcblk|mem|kmem|port|dm-|md|loop)")
_ROOTS = frozenset({"/", "/home", "/Users"})


@dataclass(frozen=True, slots=True)
class Found:
    """One path as it resolved: how a person reads it, and what kind of place it is.

    `aliased`: the file has another name too, which may be one that an ignore file hides.
    """

    path: str
    shown: str
    place: Place
    aliased: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """`folders` are the absolute folders that a command may start in; none when that is not known."""

    workspace: Path
    home: Path
    facts: ShellFacts
    folders: tuple[str, ...]
    exported: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    roots: tuple[OtherRoot, ...] = ()

    @property
    def hides_files(self) -> bool:
        """Whether an ignore file hides files of a folder of the task."""
        return bool(self.ignored) or any(root.ignored for root in self.roots)

    def moved(self, folders: Iterable[str]) -> "Ground":
        kept = tuple(dict.fromkeys(folders))
        return replace(self, folders=kept if len(kept) <= MOST_FOLDERS else ())

    def find(self, text: str, *, quoted: bool = False) -> list[Found]:
        """Where a path leads from each folder. Raises ToolFailure when it is none."""
        if "\0" in text:
            raise ToolFailure("A path cannot hold a NUL character.")
        literal = f"./{text}" if quoted and text.startswith("~") else text
        found = [
            resolve(
                os.path.join(folder, os.path.expanduser(literal)),
                self.workspace,
                self.home,
                ignored=self.ignored,
                roots=self.roots,
            )
            for folder in self.folders
        ]
        return [Found(one.path, one.shown, one.place, one.linked and self.hides_files) for one in found]

    def names(self, word: Word) -> list[str] | None:
        """The names that a word stands for; None when not known. A pattern without matches stands for itself."""
        if word.dynamic:
            return None
        if not word.is_pattern:
            return [word.text]
        found: list[str] = []
        for folder in self.folders:
            pattern = "".join(
                piece.text.replace("[^", "[!") if piece.active else _literal(piece.text) for piece in word.pieces
            )
            matches = self.facts.matches(os.path.expanduser(pattern), folder)
            if matches is None:
                return None
            found += matches
        return found or [word.text]

    def targets(self, word: Word) -> list[Found]:
        """Where a word leads as far as it can be told; empty when it cannot."""
        source = _HOME.sub("~", word.source.strip("\"'")) if word.dynamic else ""
        names = [source] if source.startswith("~") and not re.search(r"[$`*?{]", source) else self.names(word)
        found: list[Found] = []
        for name in names or ():
            try:
                found += self.find(name, quoted=word.quoted and not word.dynamic)
            except ToolFailure:
                continue
        return found

    def base(self, word: Word) -> list[Found]:
        """The folder whose whole content a pattern like `DIR/*` names."""
        head, star, rest = _HOME.sub("~", word.source.strip("\"'")).replace('"', "").partition("*")
        if not star or rest.strip("*/.") or re.search(r"[$`]", head) or (head and not head.endswith(("/", "/."))):
            return []
        try:
            return self.find(head.removesuffix(".") or ".")
        except ToolFailure:
            return []

    def is_precious(self, path: str) -> bool:
        """Whether deleting it destroys more than work in progress: the system, a home, the workspace, its history."""
        user = os.path.realpath(os.path.expanduser("~"))
        folders = [os.path.realpath(self.workspace), *(root.path for root in self.roots)]
        if any(_holds(path, kept) for kept in (user, *folders)) or path in _ROOTS:
            return True
        depth = path.strip("/").count("/")
        inside = any(_holds(folder, path) for folder in folders)
        return (depth == 0 and not inside and path != "/tmp") or (inside and os.path.basename(path) == ".git")

    def holds_own_state(self, path: str) -> bool:
        return _holds(path, os.path.realpath(self.home))


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _literal(text: str) -> str:
    return _GLOB.sub(lambda found: f"[{found.group()}]", text)


def is_free(path: str) -> bool:
    """Whether writing there changes nothing."""
    return path in _HARMLESS_DEVICES


def is_device(path: str) -> bool:
    return bool(_DEVICE.match(path))
