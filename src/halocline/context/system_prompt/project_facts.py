"""Facts that spare the model a command: the home, the git remote, the last commit, and the programs a project needs.

They are read from files: no program is started before a person allowed one.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from halocline.git.git_folder import GitFolder
from halocline.protocol.file_names import make_printable

ALWAYS = ("git", "rg", "gh", "make", "docker", "python3", "node")
NEEDED = {
    "Cargo.toml": "cargo",
    "Gemfile": "ruby bundle",
    "Makefile": "make",
    "build.gradle": "java gradle",
    "bun.lock": "bun",
    "compose.yaml": "docker",
    "composer.json": "php composer",
    "deno.json": "deno",
    "docker-compose.yml": "docker",
    "go.mod": "go",
    "mix.exs": "mix",
    "package.json": "node npm",
    "pnpm-lock.yaml": "pnpm",
    "poetry.lock": "poetry",
    "pom.xml": "java mvn",
    "pyproject.toml": "python3",
    "requirements.txt": "python3",
    "uv.lock": "uv",
    "yarn.lock": "yarn",
}
"""Programs that a project with such a file is worked on with."""
_LONGEST = 200


def list_facts(workspace: Path, git: GitFolder | None) -> Iterator[str]:
    """Yield the facts as lines. `git` is the repository around the workspace, if there is one."""
    yield f"Home: {_shorten(str(Path.home()))}"
    for name, value in (("Git remote", git.remote), ("Last commit", git.last_commit)) if git else ():
        if value:
            yield f"{name}: {_shorten(value)}"
    needed = [name for file, names in NEEDED.items() if os.path.exists(f"{workspace}/{file}") for name in names.split()]
    folders = os.get_exec_path()
    found = {name: _is_installed(name, folders) for name in (*ALWAYS, *needed)}
    for title, is_there in (("Programs", True), ("Not installed", False)):
        if names := ", ".join(name for name in found if found[name] is is_there and (is_there or name in needed)):
            yield f"{title}: {names}"


def _is_installed(name: str, folders: Iterable[str]) -> bool:
    places = (f"{folder}/{name}" for folder in folders)
    return any(os.access(place, os.X_OK) and os.path.isfile(place) for place in places)


def _shorten(text: str) -> str:
    return make_printable(" ".join(text.split()))[:_LONGEST]
