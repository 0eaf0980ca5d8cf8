"""What the judge of shell commands asks of this machine: git's settings, names that match, the permissions variable.

git itself is not asked: what a repository says is what is in doubt. Its files are small and read each time.
"""

import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

PERMISSIONS = "CLINE_COMMAND_PERMISSIONS"
PERMISSIONS_TEXT = (
    'JSON like `{"allow": ["git *"], "deny": ["git push*"], "allowRedirects": false}`: patterns over each simple '
    "command, in force in every mode. `deny` wins; with `allow` nothing else may run. What cannot be read makes every "
    "command ask. It goes over `[command_permissions]` in your own `policy.toml`."
)
MOST_NAMES = 1_000
_MOST_CONFIGS = 60
_DEEPEST = 6
_LARGEST = 1 << 18
_LONGEST_SCRIPT = 8 << 20
_LOOKED_AT = 1 << 12
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_TOOLCHAIN = ("rust-toolchain", "rust-toolchain.toml")


class LocalShellFacts:
    """Fulfils `ports.shell_facts.ShellFacts`."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.permissions = env.get(PERMISSIONS)

    def git_settings(self, folder: str) -> dict[str, str] | None:
        try:
            found = _repository(folder)
            return {} if found is None else _settings(found)
        except (OSError, ValueError):
            return None

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        found = tuple(islice(glob.iglob(pattern, root_dir=folder), MOST_NAMES + 1))
        return found if len(found) <= MOST_NAMES else None

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def fingerprint(self, path: str, script: str) -> str:
        try:
            return _package_script(path, script) if script else _fingerprint(path)
        except (OSError, ValueError):
            return ""

    def has_toolchain_file(self, folder: str) -> bool:
        return any(os.path.exists(os.path.join(place, name)) for place in _upward(folder) for name in _TOOLCHAIN)


def _fingerprint(path: str) -> str:
    """Of a text its hash; a program is known by where it is, and what is very long by when it was written."""
    real = os.path.realpath(path)
    with open(real, "rb", opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return ""
        if b"\0" in file.read(_LOOKED_AT):
            return f"program-{_hash(real.encode(errors='surrogateescape'))}"
        if found.st_size > _LONGEST_SCRIPT:
            return f"long-{_hash(f'{found.st_size} {found.st_mtime_ns} {found.st_ino}'.encode())}"
        file.seek(0)
        return _hash(file.read(_LONGEST_SCRIPT + 1))


def _package_script(path: str, script: str) -> str:
    """The script of the nearest `package.json` at or above a path, with its `pre` and `post`."""
    for folder in _upward(os.path.dirname(os.path.realpath(path))):
        package = os.path.join(folder, os.path.basename(path))
        if os.path.isfile(package):
            scripts = msgspec.json.decode(_read(package, _LONGEST_SCRIPT), type=_Package).scripts
            texts = [scripts.get(f"{when}{script}") for when in ("pre", "", "post")]
            return _hash(msgspec.json.encode([package, *texts])) if any(texts) else ""
    return ""


class _Package(msgspec.Struct):
    scripts: dict[str, Any] = {}


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _upward(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _repository(folder: str) -> str | None:
    """The git directory that a command in a folder would use; None when there is none."""
    for place in _upward(os.path.realpath(folder)):
        inside = os.path.join(place, ".git")
        if os.path.isdir(inside):
            return inside
        if os.path.isfile(inside):
            target = _read(inside).removeprefix("gitdir:").strip()
            return os.path.join(place, target)
        if os.path.isfile(os.path.join(place, "HEAD")) and os.path.isdir(os.path.join(place, "objects")):
            return place
    return None


def _settings(repository: str) -> dict[str, str] | None:
    settings: dict[str, str] = {}
    configs = [os.path.join(repository, "config"), os.path.join(repository, "config.worktree")]
    common = os.path.join(repository, "commondir")
    if os.path.isfile(common):
        repository = os.path.join(repository, _read(common).strip())
        configs.append(os.path.join(repository, "config"))
    configs += islice(_of_submodules(os.path.join(repository, "modules"), 0), _MOST_CONFIGS + 1)
    if len(configs) > _MOST_CONFIGS:
        return None
    for config in configs:
        if os.path.isfile(config):
            settings |= parsed(_read(config))
    return settings


def _of_submodules(folder: str, depth: int) -> Iterator[str]:
    """The configurations of the repositories below; a submodule's name may hold slashes, and it may have its own."""
    if depth > _DEEPEST or not os.path.isdir(folder):
        return
    for entry in sorted(os.listdir(folder)):
        inside = os.path.join(folder, entry)
        if os.path.isfile(os.path.join(inside, "HEAD")):
            yield os.path.join(inside, "config")
            yield from _of_submodules(os.path.join(inside, "modules"), depth + 1)
        else:
            yield from _of_submodules(inside, depth + 1)


def _read(path: str, largest: int = _LARGEST) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read(largest + 1)
    if len(text) > largest:
        raise ValueError(path)
    return text


def parsed(text: str) -> dict[str, str]:
    """The keys of a git configuration, in lower case. Raises ValueError for a line that is none."""
    settings: dict[str, str] = {}
    section = ""
    for line in text.replace("\\\n", "").removeprefix("\ufeff").splitlines():
        if found := _SECTION.match(line):
            name, below, line = found.groups()
            section = f"{name}.{below}".lower() if below is not None else name.lower()
        if not line.strip() or line.strip()[0] in "#;":
            continue
        setting = _SETTING.match(line)
        if not setting or not section:
            raise ValueError(line)
        settings[f"{section}.{setting[1].lower()}"] = (setting[2] or "true").strip().strip('"')
    return settings
