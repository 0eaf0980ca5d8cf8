"""Where a command would run: the folders it may be in, and what its paths lead to from there.

Behind a `cd` that may fail, a path is judged from every folder that it may start in; the most careful answer holds.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from halocline.policy.paths import resolve_path
from halocline.policy.shell.tree import Piece, Word
from halocline.policy.shell.variables import UNKNOWN, Values, Variables
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import OtherRoot, Place

MOST_FOLDERS = 8
_GLOB = re.compile(r"[*?\[]")
_HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_DEVICE = re.compile(r"/dev/(sd|hd|vd|xvd|nvme|disk|rdisk|mmcblk|mem|kmem|port|dm-|md|loop)")
_NOTHING = (Piece(UNKNOWN),)
_ROOTS = frozenset({"/", "/home", "/Users"})
HISTORY = ("HEAD", "objects", "refs")
"""The entries without which a `.git` is no repository."""


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
    """`folders` are the absolute folders that a command may start in; none when that is not known.

    `rebinds`: names may stand for other programs than they say; `matches_hidden`: patterns match names with a dot in
    front; `splits_oddly`: what separates words is not known. `path` is the PATH, where earlier commands changed it.
    `fed` are names that a pipe or a redirection brings, as `listed_names` tells them. `mentioned` are the names in the
    whole text that lead to what nobody may lose.
    """

    workspace: Path
    home: Path
    facts: ShellFacts
    folders: tuple[str, ...]
    exported: tuple[str, ...] = ()
    path: str = ""
    ignored: tuple[str, ...] = ()
    roots: tuple[OtherRoot, ...] = ()
    variables: Variables = field(default_factory=Variables)
    rebinds: bool = False
    matches_hidden: bool = False
    splits_oddly: bool = False
    fed: Values = ()
    mentioned: Values = ()

    def value(self, name: str) -> Values:
        """The values that a variable may have here."""
        if name == "HALOCLINE_HOME" and name not in self.variables.known:
            return (str(self.home),)
        return self.variables.value(name, self.folders, self.exported)

    def with_variables(self, variables: Variables) -> "Ground":
        return self if variables is self.variables else replace(self, variables=variables)

    def merged(self, *others: "Ground") -> "Ground":
        """Where the shell may be left when one of several ways was taken."""
        found = self
        for other in others:
            folders = (*found.folders, *other.folders) if found.folders and other.folders else ()
            found = found.moved(folders).with_variables(found.variables.merged(other.variables))
        return found

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
        absolute = os.path.isabs(os.path.expanduser(literal))
        found = [
            resolve_path(
                os.path.join(folder, os.path.expanduser(literal)),
                self.workspace,
                self.home,
                ignored=self.ignored,
                roots=self.roots,
            )
            for folder in self.folders or (("/",) if absolute else ())
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
                piece.text.replace("[^", "[!") if piece.active else _as_literal(piece.text) for piece in word.pieces
            )
            matches = self._matches(os.path.expanduser(pattern) if not word.quoted else pattern, folder)
            if matches is None:
                return None
            found += matches
        return found or [word.text]

    def _matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        matches = self.facts.matches(pattern, folder)
        head, slash, name = pattern.rpartition("/")
        if not self.matches_hidden or matches is None or not _GLOB.match(name):
            return matches
        hidden = self.facts.matches(f"{head}{slash}.{name}", folder)
        return None if hidden is None else (*matches, *hidden)

    def targets(self, word: Word) -> list[Found]:
        """Where a word leads as far as it can be told; empty when it cannot."""
        found: list[Found] = []
        for one in word.could if word.dynamic else (word,):
            for name in (self.names(one) or ()) if UNKNOWN not in one.text else ():
                try:
                    found += self.find(name, quoted=one.quoted)
                except ToolFailure:
                    continue
        return found

    def base(self, word: Word) -> list[Found]:
        """The folder whose whole content a pattern like `DIR/*` names."""
        found: list[Found] = []
        for one in word.could if word.dynamic else (word,):
            head, star, rest = one.text.partition("*")
            if (
                not star
                or not one.is_pattern
                or UNKNOWN in one.text
                or rest.strip("*/.")
                or (head and not head.endswith(("/", "/.")))
            ):
                continue
            try:
                found += self.find(head.removesuffix(".") or ".", quoted=one.quoted)
            except ToolFailure:
                continue
        return found

    def may_be_precious(self, word: Word) -> bool:
        """Whether a word that is not known may turn out to be what nobody may delete."""
        return word.dynamic != "" and any(self._may_lead_up(one.text) for one in word.could or (Word("", _NOTHING),))

    def _may_lead_up(self, text: str) -> bool:
        head, unknown, _ = text.partition(UNKNOWN)
        if not unknown:
            return False
        folder = head[: head.rfind("/") + 1]
        if not folder:
            return not head
        try:
            found = self.find(folder, quoted=True)
        except ToolFailure:
            return True
        above = os.path.realpath(self.workspace)
        return any(self.is_precious(one.path) and (one.path != above or head == folder) for one in found)

    def is_precious(self, path: str) -> bool:
        """Whether deleting it destroys more than work in progress: the system, a home, the workspace, its history."""
        user = os.path.realpath(os.path.expanduser("~"))
        folders = [os.path.realpath(self.workspace), *(root.path for root in self.roots)]
        if any(_does_hold(path, kept) for kept in (user, *folders)) or path in _ROOTS:
            return True
        depth = path.strip("/").count("/")
        inside = any(_does_hold(folder, path) for folder in folders)
        if depth == 0 and not inside and path != "/tmp":
            return True
        folder, name = os.path.split(path)
        return inside and (name == ".git" or (os.path.basename(folder) == ".git" and name in HISTORY))

    def holds_own_state(self, path: str) -> bool:
        return _does_hold(path, os.path.realpath(self.home))


def _does_hold(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _as_literal(text: str) -> str:
    return _GLOB.sub(lambda found: f"[{found.group()}]", text)


def is_free(path: str) -> bool:
    """Whether writing there changes nothing."""
    return path in _HARMLESS_DEVICES


def is_device(path: str) -> bool:
    return bool(_DEVICE.match(path))
