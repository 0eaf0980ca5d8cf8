"""Sources of plug-ins: folders, git repositories, a registry of them, and wheels, also of a package index.

What must stay true: nothing of a plug-in runs while it is fetched. A wheel is unpacked; to build one from sources would
run them, so these are refused.
"""

import os
import re
import sys
import zipfile
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from halocline.files.regular import read_regular
from halocline.git.clone import clone_repository, is_address
from halocline.git.process import run_program
from halocline.git.repository import GitUnusable
from halocline.hosts.executables import find_program
from halocline.protocol import json_input
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.protocol.patterns import compile_later
from halocline.store.plugins.found import GROUP
from halocline.store.plugins.manifest import CLAUDE_FILE, FILE

MARKET = ("marketplace.json", ".claude-plugin/marketplace.json")
INDEX, WHEEL = "pypi:", ".whl"
_PACKAGE = compile_later(r"[A-Za-z0-9][\w.-]*(?:\[\w+(?:,\w+)*\])?(?:[=<>!~]=?[\w.*+!,=<>~-]+)?")
_TO_UNPACK = ("--no-deps", "--only-binary", ":all:", "--quiet", "--target")
_QUIETLY = ("--no-input", "--no-compile", "--no-user", "--disable-pip-version-check")
_MOST, _SECONDS = 100_000, 300.0


class Fetched(NamedTuple):
    """The folder of a plug-in that was fetched; `name` and `version` count where its manifest has none."""

    folder: Path
    name: str = ""
    version: str = ""


async def fetch_source(source: str, staged: Path, registry: str) -> Fetched:
    """Fetch a plug-in, which may then be below `staged`. Raises UsageError."""
    if folder := _find_folder(source, FILE, CLAUDE_FILE):
        return Fetched(folder)
    if source.startswith(INDEX) or _is_wheel(source):
        return await _fetch_package(source, staged / "packages")
    if is_address(source) or _find_folder(source, "HEAD", ".git/HEAD"):
        return Fetched(await _clone(source, staged / "clone"))
    return Fetched(await _fetch_registered(source, staged, registry))


def name_source(source: str) -> str:
    """Return a source as it is found again from any folder."""
    place = os.path.realpath(os.path.expanduser(source))
    is_here = _find_folder(source, FILE, CLAUDE_FILE, "HEAD", ".git/HEAD") or (
        _is_wheel(source) and os.path.isfile(place)
    )
    return place if is_here else source


async def _fetch_registered(source: str, staged: Path, registry: str) -> Path:
    if (os.sep in source or not registry) and _is_folder(source):
        raise UsageError(f"{source} is no plug-in: the folder has no {FILE}.", "See the form of one: halo docs plugins")
    if not registry:
        hint = f"Give a folder, a git URL, a wheel or {INDEX}NAME, or set one: halo config set plugins.registry URL"
        raise UsageError(f"{source} is no folder and no git URL, and no registry is set.", hint)
    market = _find_folder(registry, *MARKET) or await _clone(registry, staged / "registry")
    entry = next((one for one in _read_market(market) if one.get("name") == source), None)
    if entry is None:
        raise UsageError(f"The registry {registry} has no plug-in {source}.", "")
    match entry.get("source"):
        case str() as path:
            return _find_below(market, path)
        case {"source": "github", "repo": str() as repository}:
            return await _clone(f"https://github.com/{repository}.git", staged / "clone")
        case {"source": "url" | "git-subdir", "url": str() as address, **rest}:
            return _find_below(await _clone(address, staged / "clone"), str(rest.get("path", ".")))
    raise UsageError(f"The registry's source of {source} is of no known kind.", "Install it by its URL.")


async def _fetch_package(source: str, place: Path) -> Fetched:
    """Unpack the wheel of a package, without what it depends on. Raises UsageError."""
    wanted = _name_package(source)
    environment = child_environment(os.environ, passed=("PIP_*", "UV_*"))
    words = (*_find_installer(), *_TO_UNPACK, os.fspath(place), "--", wanted)
    try:
        answer = await run_program(words, place.parent, environment, most=_MOST, seconds=_SECONDS)
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error
    if not answer.is_good:
        lines = [line for line in answer.errors.decode(errors="replace").splitlines() if line.strip()]
        why = next((line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "")
        hint = "A package without a wheel is refused: its sources would run."
        raise UsageError(f"No wheel of {wanted} could be unpacked: {why.strip()}", hint)
    return _find_in_package(place, wanted)


def _is_wheel(source: str) -> bool:
    """Return True if the path of a source, its address left out, is that of a wheel: of any other, code would run."""
    return urlsplit(source).path.endswith(WHEEL)


def _name_package(source: str) -> str:
    """Return a package, or the wheel of one, as installers take it. Raises UsageError."""
    if not _is_wheel(source):
        wanted = source.removeprefix(INDEX)
        if not _PACKAGE.fullmatch(wanted):
            hint = f"Write it as {INDEX}NAME or {INDEX}NAME==1.0."
            raise UsageError(f"{wanted[:80]!r} is no name of a package.", hint)
        return wanted
    wheel = os.path.realpath(os.path.expanduser(source))
    if source.startswith("https://"):
        address = urlsplit(source)
        if address.query or not re.fullmatch(r"(sha256=[0-9a-f]{64})?", address.fragment):
            raise UsageError(f"{source[:200]!r} does not end with {WHEEL}.", "Give the address of the wheel alone.")
        return source
    if wheel.endswith(WHEEL) and zipfile.is_zipfile(wheel):
        return wheel
    raise UsageError(f"There is no wheel {source}.", "Give the path of a file, or an https:// address.")


def _find_installer() -> Sequence[str]:
    """Return the beginning of the command that unpacks a wheel. Raises UsageError if there is no program for it."""
    if find_spec("pip"):  # isolated: nothing in the folder or the environment is imported in its place
        return (sys.executable, "-I", "-m", "pip", "install", *_QUIETLY)
    if uv := find_program("uv"):
        return (uv, "--no-config", "pip", "install", "--python", sys.executable)  # or it reads what others put in /tmp
    raise UsageError("Neither pip nor uv is there to unpack a wheel.", "Install uv, or unpack it and give the folder.")


def _find_in_package(place: Path, wanted: str) -> Fetched:
    """Return the one plug-in of an unpacked package. Raises UsageError."""
    found = [(one, point) for one in metadata.distributions(path=[os.fspath(place)]) for point in one.entry_points]
    plugins = [(one, point) for one, point in found if point.group == GROUP]
    if len(plugins) != 1:
        count = "no plug-in" if not plugins else f"{len(plugins)} plug-ins"
        raise UsageError(f"{wanted} has {count}.", f"Such a package has one entry point in the group {GROUP}.")
    ((distribution, point),) = plugins
    return Fetched(_find_below(place, point.value.partition(":")[0].strip()), point.name, distribution.version)


def _find_folder(text: str, *files: str) -> Path | None:
    """Return the folder of a text if it has one of the files."""
    folder = Path(text).expanduser()
    return folder if any((folder / name).is_file() for name in files) else None


def _is_folder(text: str) -> bool:
    return Path(text).expanduser().is_dir()


def _find_below(top: Path, path: str) -> Path:
    """Return a folder that a registry or a package names. Raises UsageError if it is not below `top`."""
    real = os.path.realpath(top / path)
    if real != os.path.realpath(top) and not real.startswith(f"{os.path.realpath(top)}/"):
        raise UsageError(f"Its source says {path}, which leads out of it.", "")
    return Path(real)


async def _clone(address: str, place: Path) -> Path:
    await clone_repository(address, place, os.environ)
    return place


def _read_market(place: Path) -> list[dict[str, Any]]:
    """Return the entries of a registry. Raises UsageError."""
    file = next((place / name for name in MARKET if (place / name).is_file()), None)
    if file is None:
        raise UsageError(f"The registry has no {MARKET[0]}.", "See: halo config get plugins.registry")
    try:
        given = json_input.decode_config(read_regular(file))
        return [entry for entry in given["plugins"] if isinstance(entry, dict)]
    except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
        raise UsageError(f"The registry's {file.name} cannot be read: {error}.", "") from error
