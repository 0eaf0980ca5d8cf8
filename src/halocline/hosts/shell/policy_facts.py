"""Facts of this machine that the gate needs for shell commands: programs git would run, matching names, permissions."""

import glob
import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from halocline import git
from halocline.files.hard_links import list_entries
from halocline.files.opening import find_place
from halocline.files.regular import open_regular, read_regular
from halocline.ports.shell_facts import Hides, T
from halocline.protocol import json_input

if TYPE_CHECKING:
    from halocline.git.doubts import Doubts

PERMISSIONS = "CLINE_COMMAND_PERMISSIONS"
PERMISSIONS_TEXT = (
    'JSON like `{"allow": ["git *"], "deny": ["git push*"], "allowRedirects": false}`: patterns for each simple '
    "command, in force in every mode. `deny` wins; with `allow`, nothing else may run. If the JSON is invalid, every "
    "command needs approval. It overrides `[command_permissions]` in your own `policy.toml`."
)
MOST_NAMES = 5_000
MOST_FILES = 20_000
_LONGEST_SCRIPT = 8 << 20
_LOOKED_AT = 1 << 12
FindUnkept = Callable[[Iterable[str], Sequence[str]], tuple[str, ...]]
_TOOLCHAIN = ("rust-toolchain", "rust-toolchain.toml")


class LocalShellFacts:
    """Implements `ports.shell_facts.ShellFacts`. Without `find_unkept`, there are no checkpoints."""

    def __init__(self, env: Mapping[str, str], find_unkept: FindUnkept | None = None) -> None:
        self.permissions = env.get(PERMISSIONS)
        self._env = env
        self._find_unkept = find_unkept

    def find_once(self, ground: object, question: Hashable, find: Callable[[], T]) -> T:
        return find()  # a link or a file may have changed

    @property
    def has_checkpoints(self) -> bool:
        return self._find_unkept is not None

    @cached_property
    def _doubts(self) -> "Doubts":
        return git.doubts.Doubts(self._env)

    def git_doubt(self, folder: str) -> str:
        return self._doubts.of(folder)

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        found = tuple(islice(glob.iglob(pattern, root_dir=folder), MOST_NAMES + 1))
        return found if len(found) <= MOST_NAMES else None

    def files_below(self, folder: str) -> tuple[str, ...] | None:
        found = tuple(islice(_files_below(folder), MOST_FILES + 1))
        return found if len(found) <= MOST_FILES else None

    def find_unkept(self, paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
        return self._find_unkept(paths, roots) if self._find_unkept else tuple(paths)

    def hidden_below(self, folder: str, hides: Hides, *, deep: bool) -> tuple[tuple[str, ...], frozenset[str]] | None:
        hidden, shown, waiting, left = list[str](), set[str](), [folder], MOST_FILES
        while waiting:
            entries = list_entries(waiting.pop())
            left -= len(entries)
            if left < 0:
                return None
            for entry in entries:
                if hides(entry.path, None if entry.is_dir(follow_symlinks=False) else _look_at(entry)):
                    hidden.append(entry.path)
                    continue
                shown.add(entry.name)
                if deep and entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        return tuple(hidden), frozenset(shown)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_program(self, path: str) -> bool:
        return os.path.isfile(path) and os.access(path, os.X_OK)

    def search_places(self, path: str) -> tuple[str, ...]:
        return tuple((path or self._env.get("PATH", os.defpath)).split(os.pathsep))

    def is_overwritten(self, path: str) -> bool:
        return os.path.isfile(path)

    def fingerprint(self, path: str, script: str) -> str:
        try:
            return _package_script(path, script) if script else _fingerprint_file(path)
        except (OSError, ValueError):
            return ""

    def has_toolchain_file(self, folder: str) -> bool:
        return any(
            os.path.exists(os.path.join(place, name)) for place in _folders_upward(folder) for name in _TOOLCHAIN
        )


def _look_at(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _files_below(folder: str) -> Iterator[str]:
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(folder, here)))
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                yield _leads_to(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(os.path.join(here, entry.name))
            else:
                yield os.path.join(here, entry.name)


def _leads_to(path: str) -> str:
    try:
        return find_place(path)
    except OSError:  # it changed in between
        return path


def _fingerprint_file(path: str) -> str:
    """Hash of a text file; of a binary the hash of its path, of a very long file that of its size and times."""
    real = os.path.realpath(path)
    with open_regular(real) as file:
        found = os.fstat(file.fileno())
        if b"\0" in file.read(_LOOKED_AT):
            return f"program-{_hash_of(real.encode(errors='surrogateescape'))}"
        if found.st_size > _LONGEST_SCRIPT:
            return f"long-{_hash_of(f'{found.st_size} {found.st_mtime_ns} {found.st_ino}'.encode())}"
        file.seek(0)
        return _hash_of(file.read(_LONGEST_SCRIPT + 1))


def _package_script(path: str, script: str) -> str:
    """Hash of a script in the nearest `package.json` at or above a path, with its `pre` and `post` scripts."""
    for folder in _folders_upward(os.path.dirname(os.path.realpath(path))):
        package = os.path.join(folder, os.path.basename(path))
        if os.path.isfile(package):
            scripts = json_input.decode(_read_text(package, _LONGEST_SCRIPT), type=_Package).scripts
            texts = [scripts.get(f"{when}{script}") for when in ("pre", "", "post")]
            return _hash_of(msgspec.json.encode([package, *texts])) if any(texts) else ""
    return ""


class _Package(msgspec.Struct):
    scripts: dict[str, Any] = {}


def _hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _folders_upward(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _read_text(path: str, largest: int) -> str:
    return read_regular(path, largest).decode("utf-8", "replace")
