"""The plug-ins that there are: the person's, those of installed packages, and a project's.

What must stay true: nothing of a plug-in is run or imported to find it. One that cannot be used is in the list with its
problem, and the others work.
"""

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from halocline.protocol.file_names import make_printable
from halocline.store.plugins.folder import Files, InvalidPlugin, digest_files, list_folders, read_folder
from halocline.store.plugins.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "halocline.plugins"
"""Entry points of packages that are plug-ins: a name, and the package with the plug-in's files."""
NO_PACKAGE = "{package!r} is no top-level package"
PACKAGE = "package:"
"""Beginning of the name by which trust in a package's plug-in is kept."""


class PluginSource(StrEnum):
    """Source of a plug-in."""

    YOURS = "yours"
    PACKAGE = "package"
    PROJECT = "project"


class FoundPlugin(NamedTuple):
    """A plug-in with its files, or the `problem` that leaves it out. `key` names it in decisions about trust."""

    name: str
    source: PluginSource
    folder: str
    key: str
    manifest: Manifest | None = None
    files: Files = {}
    digest: str = ""
    problem: str = ""


def find_own(place: Path) -> Iterator[FoundPlugin]:
    """Yield the person's plug-ins in their folder."""
    for folder in list_folders(place):
        yield read_plugin(folder, PluginSource.YOURS)


def find_in_project(folders: Iterable[Path], workspace: Path) -> Iterator[FoundPlugin]:
    """Yield the plug-ins of a project, which do not lead out of it."""
    within = os.path.realpath(workspace)
    for folder in folders:
        found = read_plugin(folder, PluginSource.PROJECT)
        if not os.path.realpath(folder).startswith(f"{within}/"):
            found = found._replace(problem="it is a link that leads out of the project", files={}, manifest=None)
        yield found


def find_in_packages(wanted: Iterable[str] | None = None) -> Iterator[FoundPlugin]:
    """Yield the plug-ins of installed packages; with `wanted`, only of these packages, so that no other is read."""
    from importlib import metadata  # most homes trust no package

    for distribution in metadata.distributions() if wanted is None else _find_packages(wanted):
        for point in distribution.entry_points:
            if point.group == GROUP:
                yield _read_package(point, distribution)


def _find_packages(wanted: Iterable[str]) -> "Iterator[Distribution]":
    from importlib import metadata

    for name in wanted:
        try:
            yield metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue


def _read_package(point: "EntryPoint", distribution: "Distribution") -> FoundPlugin:
    key = f"{PACKAGE}{distribution.metadata['Name']}/{point.name}"
    package = point.value.partition(":")[0].strip()
    if not package.isidentifier():  # to find a package in another one would import that
        return FoundPlugin(
            point.name, PluginSource.PACKAGE, package, key, problem=f"{package!r} is no top-level package"
        )
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        return FoundPlugin(point.name, PluginSource.PACKAGE, package, key, problem=f"there is no package {package}")
    found = read_plugin(Path(folders[0]), PluginSource.PACKAGE, point.name, distribution.version)
    return found._replace(key=key)


def read_plugin(folder: Path, source: PluginSource, name: str = "", version: str = "") -> FoundPlugin:
    """Read the plug-in in a folder; `name` and `version` count where its manifest has none."""
    name, key = name or make_printable(folder.name), os.path.realpath(folder)
    try:
        files = read_folder(folder)
        manifest = read_manifest(files, name, version)
    except InvalidPlugin as why:
        return FoundPlugin(name, source, str(folder), key, problem=str(why))
    return FoundPlugin(manifest.name, source, str(folder), key, manifest, files, digest_files(files))
