"""Port for facts about this machine that the judge of shell commands needs. All of it is read-only."""

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Hides(Protocol):
    """The test whether a path is hidden, given what is known of a file there: it may be hidden by another of its names.

    `key` has the patterns, each with the folder that it starts from. Equal ones hide the same paths; an empty one hides
    only what a hard link leads to. `names` tells what may not even be named.
    """

    @property
    def key(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def names(self) -> "Hides": ...

    def __call__(self, path: str, found: os.stat_result | None) -> bool: ...


class ShellFacts(Protocol):
    """Current facts. No method raises, but `find_once` what `find` does."""

    def find_once(self, ground: object, question: Hashable, find: Callable[[], T]) -> T:
        """Return what `find` finds; what it found for the same question and ground if nothing can have changed since.

        `ground` is everything else that the answer depends on, and is compared with that of the last question.
        """

    @property
    def permissions(self) -> str | None:
        """The value of `CLINE_COMMAND_PERMISSIONS`; None if it is not set."""

    def git_doubt(self, folder: str) -> str:
        """Say why even a read-only git command in a folder may run programs or read elsewhere; empty if it does not."""

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        """Return the names that a shell pattern matches in a folder; None if there are too many."""

    def files_below(self, folder: str) -> tuple[str, ...] | None:
        """Return the files below a folder, relative to it; None if there are too many.

        A link is returned as the absolute path of its target.
        """

    @property
    def has_checkpoints(self) -> bool:
        """True if checkpoints are saved, so that what they hold can be restored."""

    def find_unkept(self, paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
        """Return some of the existing files at or below these paths that no checkpoint of the roots holds."""

    def hidden_below(self, folder: str, hides: Hides, *, deep: bool) -> tuple[tuple[str, ...], frozenset[str]] | None:
        """Return the hidden paths in a folder, or `deep` below it, and the names of the others; None if too many."""

    def is_file(self, path: str) -> bool:
        """True if the path is a regular file."""

    def is_program(self, path: str) -> bool:
        """True if the path is an executable file."""

    def search_places(self, path: str) -> tuple[str, ...]:
        """Return the folders in a PATH value; of the person's own PATH if it is empty."""

    def is_overwritten(self, path: str) -> bool:
        """True if writing to the path would overwrite a file."""

    def has_toolchain_file(self, folder: str) -> bool:
        """True if a `rust-toolchain` file decides which programs `cargo` and `rustc` run."""

    def fingerprint(self, path: str, script: str) -> str:
        """Return a hash of a file's content; empty if it does not exist.

        With `script`, hash that script of a `package.json` there or above, with the scripts run before and after it.
        """


class NoFacts:
    """`ShellFacts` of an empty machine: no settings, no matches, no files."""

    permissions: str | None = None
    has_checkpoints = False

    def find_once(self, ground: object, question: Hashable, find: Callable[[], T]) -> T:
        return find()

    def find_unkept(self, paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
        return tuple(paths)

    def git_doubt(self, folder: str) -> str:
        return ""

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        return ()

    def files_below(self, folder: str) -> tuple[str, ...] | None:
        return ()

    def hidden_below(self, folder: str, hides: Hides, *, deep: bool) -> tuple[tuple[str, ...], frozenset[str]] | None:
        return None

    def is_file(self, path: str) -> bool:
        return False

    def is_program(self, path: str) -> bool:
        return False

    def search_places(self, path: str) -> tuple[str, ...]:
        return ()

    def is_overwritten(self, path: str) -> bool:
        return False

    def has_toolchain_file(self, folder: str) -> bool:
        return False

    def fingerprint(self, path: str, script: str) -> str:
        return ""


class LoggedFacts(NoFacts):
    """Knows only what an event names: scripts, as `name=fingerprint` relative to the workspace, and what would be lost.

    `lost` is what no checkpoint held; "." stands for everything.
    """

    def __init__(self, scripts: Iterable[str], workspace: str, lost: Sequence[str] = ()) -> None:
        self.has_checkpoints = "." not in lost
        self._lost = tuple(lost)
        self._scripts = dict(entry.rpartition("=")[::2] for entry in scripts)
        self._workspace = os.path.realpath(workspace)

    def hidden_below(self, folder: str, hides: Hides, *, deep: bool) -> tuple[tuple[str, ...], frozenset[str]] | None:
        return (), frozenset()  # the log does not say which files there were

    def find_unkept(self, paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
        given = [path.rstrip("/") for path in paths]
        return tuple(one for one in self._lost if any(one == path or one.startswith(f"{path}/") for path in given))

    def fingerprint(self, path: str, script: str) -> str:
        name = os.path.relpath(os.path.normpath(path), self._workspace)
        return self._scripts.get(f"{name}#{script}" if script else name, "")
