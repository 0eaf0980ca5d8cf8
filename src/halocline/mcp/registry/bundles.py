"""MCP server bundles (`.mcpb`): a zip file with a manifest that names the command and the values it needs.

What must stay true: no file of a bundle leaves its folder, by a `..` name or a link; nothing is run here; and the exact
command is known before anything is unpacked.
"""

import hashlib
import os
import re
import shutil
import stat
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from halocline.mcp.tool_names import plain_text
from halocline.protocol import json_input
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import JsonObject, Value

MANIFEST = "manifest.json"
LARGEST, LARGEST_MANIFEST, MOST_FILES = 500_000_000, 1_000_000, 50_000
"""Bytes of all files, bytes of the manifest, number of files."""
CHUNK = 1 << 20
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


class BundleField(Value, frozen=True):
    """One value that a bundle needs."""

    type: str = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    multiple: bool = False
    sensitive: bool = False
    min: float | None = None
    max: float | None = None


class _Config(Value, frozen=True):
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    platform_overrides: dict[str, JsonObject] = {}


class _Server(Value, frozen=True):
    mcp_config: _Config = _Config()


class _Author(Value, frozen=True):
    name: str = ""


class _Compatibility(Value, frozen=True):
    platforms: tuple[str, ...] = ()


class Manifest(Value, frozen=True):
    """A bundle's manifest."""

    name: str
    version: str = ""
    description: str = ""
    display_name: str = ""
    author: _Author = _Author()
    server: _Server = _Server()
    user_config: dict[str, BundleField] = {}
    compatibility: _Compatibility = _Compatibility()


class Bundle(Value, frozen=True):
    """A bundle that was read but not unpacked."""

    file: Path
    sha256: str
    manifest: Manifest


def read_bundle(file: Path, sha256: str = "") -> Bundle:
    """Read a bundle's manifest and check every file name in it. Raises UsageError."""
    try:
        with open(file, "rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
        if sha256 and found != sha256:
            raise UsageError(f"{file.name} does not match the expected hash: its SHA-256 is {found}.", "Do not use it.")
        with zipfile.ZipFile(file) as archive:
            _require_tame(archive)
            with archive.open(MANIFEST) as handle:
                manifest = json_input.decode(handle.read(LARGEST_MANIFEST), type=Manifest)
    except KeyError:
        raise UsageError(f"{file} is not a bundle: it has no {MANIFEST}.", "Choose a .mcpb file.") from None
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, msgspec.MsgspecError) as error:
        raise UsageError(f"Cannot read {file} as a bundle: {error}.", "Download it again.") from error
    _require_usable(manifest, file)
    return Bundle(file, found, manifest)


def unpack_bundle(bundle: Bundle, folder: Path) -> None:
    """Unpack a bundle into a new folder: all files or none. Raises UsageError."""
    part = folder.with_name(f".{folder.name}-{os.urandom(6).hex()}")
    try:
        part.mkdir(parents=True, mode=0o700)
        with zipfile.ZipFile(bundle.file) as archive:
            left = LARGEST
            for member in _require_tame(archive):
                left -= _unpack_member(archive, member, part, left)
        part.rename(folder)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise UsageError(f"Cannot unpack {bundle.file} to {folder}: {error}.", "Nothing was installed.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def list_wanted_fields(bundle: Bundle, values: Mapping[str, str]) -> dict[str, BundleField]:
    """Return the required fields that still have no value."""
    fields = bundle.manifest.user_config.items()
    return {name: field for name, field in fields if field.required and field.default is None and not values.get(name)}


def build_server_entry(bundle: Bundle, folder: Path, values: Mapping[str, str]) -> JsonObject:
    """Build its entry for the settings. Raises UsageError for an invalid value."""
    filled = {name: _field_values(name, field, values.get(name)) for name, field in bundle.manifest.user_config.items()}
    config = _config_for_platform(bundle.manifest.server.mcp_config)
    args = [word for arg in config.args for word in _expand_argument(arg, folder, filled)]
    given: JsonObject = {"command": _fill_text(config.command, folder, filled), "args": args, "cwd": str(folder)}
    env = {name: _fill_text(value, folder, filled) for name, value in config.env.items()}
    return given | ({"env": env} if env else {})


def _require_tame(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the archive's files after checking that none leads out of its folder. Raises UsageError."""
    members = archive.infolist()
    if len(members) > MOST_FILES or sum(member.file_size for member in members) > LARGEST:
        raise UsageError("The bundle is too large.", f"The limit is {MOST_FILES:,} files and {LARGEST >> 20} MB.")
    seen: set[str] = set()
    for member in members:
        path = PurePosixPath(member.filename)
        kind = stat.S_IFMT(member.external_attr >> 16)
        leaves = path.is_absolute() or ".." in path.parts or "\\" in member.filename or ":" in path.parts[:1]
        odd = not member.filename.isprintable() or kind not in (0, stat.S_IFREG, stat.S_IFDIR)
        if leaves or odd or not path.parts or str(path).casefold() in seen:
            raise UsageError(f"The bundle has an unsafe file name: {member.filename!r}.", "Do not use it.")
        seen.add(str(path).casefold())
    return members


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, most: int) -> int:
    """Unpack one file; return its real size in bytes."""
    place = folder / member.filename
    if member.is_dir():
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        return 0
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = 0o700 if (member.external_attr >> 16) & 0o100 else 0o600
    size = 0
    with archive.open(member) as source, open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as to:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise OSError("it is larger than it declares")
            to.write(chunk)
    return size


def _require_usable(manifest: Manifest, file: Path) -> None:
    config, platforms = _config_for_platform(manifest.server.mcp_config), manifest.compatibility.platforms
    if platforms and sys.platform not in platforms:
        raise UsageError(f"{manifest.name} runs only on {', '.join(platforms)}.", "Choose another server.")
    if not config.command:
        raise UsageError(f"The {MANIFEST} of {file} names no command.", "server.mcp_config.command is missing.")
    texts = (config.command, *config.args, *config.env.values())
    for name in (match[1] for text in texts for match in _VARIABLE.finditer(text)):
        known = name in _PLACES or name == "__dirname" or name.removeprefix("user_config.") in manifest.user_config
        if not known:  # a bundle may not read the user's variables
            raise UsageError(f"{manifest.name} uses ${{{name}}}, which bundles may not.", "Do not use it.")


def _config_for_platform(config: _Config) -> _Config:
    """Apply the overrides for this platform."""
    over = config.platform_overrides.get(sys.platform)
    try:
        changed = msgspec.convert(over or {}, _Config)
    except msgspec.ValidationError as error:
        raise UsageError(f"The bundle's settings for {sys.platform} are invalid: {error}.", "Do not use it.") from error
    command = changed.command or config.command
    return _Config(command, changed.args or config.args, {**config.env, **changed.env})


_PLACES = {
    "HOME": "",
    "DESKTOP": "Desktop",
    "DOCUMENTS": "Documents",
    "DOWNLOADS": "Downloads",
    "pathSeparator": "/",
    "/": "/",
}


def _field_values(name: str, field: BundleField, given: str | None) -> tuple[str, ...]:
    """Return the values of one field. Raises UsageError."""
    if given is None:
        default = field.default if field.default is not None else ()
        each = default if isinstance(default, list | tuple) else (default,)
        return tuple(_write_value(one) for one in each)
    parts = [part.strip() for part in given.split(",")] if field.multiple else [given]
    return tuple(_check_value(name, field, part) for part in parts)


def _check_value(name: str, field: BundleField, given: str) -> str:
    match field.type:
        case "number":
            try:
                number = float(given)
            except ValueError:
                raise UsageError(f"{name} must be a number, not {given!r}.", "Enter it again.") from None
            if (field.min is not None and number < field.min) or (field.max is not None and number > field.max):
                raise UsageError(f"{name} must be from {field.min} to {field.max}, not {given}.", "Enter it again.")
        case "boolean":
            answer = given.strip().lower()
            if answer not in ("true", "false", "yes", "no"):
                raise UsageError(f"{name} must be true or false, not {given!r}.", "Enter it again.")
            return "true" if answer in ("true", "yes") else "false"
        case "directory" | "file":
            return str(Path(given).expanduser().absolute())
    return given


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A default may use a place such as ${HOME}; no other variable is filled in at start.
    return _fill_text(str(value), Path(), {})


def _expand_argument(text: str, folder: Path, filled: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield an argument's words: one that is only a field becomes one word per value."""
    match = _VARIABLE.fullmatch(text)
    name = match[1].removeprefix("user_config.") if match else ""
    if match and match[1].startswith("user_config.") and name in filled:
        yield from filled[name]
    else:
        yield _fill_text(text, folder, filled)


def _fill_text(text: str, folder: Path, filled: Mapping[str, tuple[str, ...]]) -> str:
    def one(match: "re.Match[str]") -> str:
        name = match[1]
        if name == "__dirname":
            return str(folder)
        if name in _PLACES:
            return str(Path.home() / _PLACES[name])
        return ",".join(filled.get(name.removeprefix("user_config."), ()))

    return _VARIABLE.sub(one, text)


def describe_bundle(bundle: Bundle) -> str:
    """Describe a bundle in one line."""
    manifest = bundle.manifest
    by = f", by {plain_text(manifest.author.name, 100)}" if manifest.author.name else ""
    return f"{plain_text(manifest.display_name or manifest.name, 100)} {plain_text(manifest.version, 40)}{by}"


def name_bundle(bundle: Bundle) -> str:
    """Return the bundle's name as a server name. Raises HaloclineError."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", bundle.manifest.name).strip("-.")[:60]
    if not name:
        raise HaloclineError(
            f"The bundle's name cannot be used: {plain_text(bundle.manifest.name, 100)!r}.", "Choose a name with --as."
        )
    return name
