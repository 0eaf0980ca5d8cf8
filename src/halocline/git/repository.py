"""The repository that a folder belongs to, and its settings, as git reports them. Reading them runs no program."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from halocline.files.blocking import describe_blocking, find_blocking
from halocline.git.environment import bare_environment, find_git
from halocline.git.git_folder import find_top, list_own_folders
from halocline.protocol.child_environment import ChildEnvironment
from halocline.protocol.errors import ToolFailure

TIME_LIMIT = 5.0
"""Seconds; also bounds a settings file that never ends, such as a pipe."""
_PLACES = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
_READ = ("HEAD", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs", "shallow")
_READ_BELOW = ("objects/info/alternates", "info/exclude", "info/attributes", "info/sparse-checkout")
"""Files that any git command may read in a git folder."""
_READ_AT_HOME = (".gitconfig", ".config/git/config", ".config/git/attributes", ".config/git/ignore")
_OF_THE_PERSON = frozenset({"system", "global"})


class GitUnusable(ToolFailure):
    """git is missing, or refuses this repository, or the repository is not what it seems."""


class NoRepository(GitUnusable):
    """The folder is not in a repository that git would use."""


class Setting(NamedTuple):
    """One value of one key. `scope` is git's name for the file level; section and name are in lower case."""

    scope: str
    key: str
    value: str

    @property
    def is_of_the_repository(self) -> bool:
        return self.scope not in _OF_THE_PERSON


class Repository(NamedTuple):
    """A work tree, its git folder, and the common one shared with other work trees; links are resolved."""

    top: Path
    folder: Path
    common: Path
    prefix: str
    settings: tuple[Setting, ...]


def find_repository(folder: Path, environment: Mapping[str, str]) -> Repository:
    """Find the repository that git would use in a folder.

    Raises:
        GitUnusable, NoRepository
    """
    refuse_blocking(folder, environment)
    lines = ask_git(folder, environment, "rev-parse", "--path-format=absolute", *_PLACES).split("\n")
    if len(lines) != len(_PLACES) + 1:
        raise GitUnusable("git's answer cannot be parsed.", "Rename folders whose names contain line breaks.")
    top, place, common = (Path(os.path.realpath(line)) for line in lines[:3])
    listed = ask_git(folder, environment, "config", "--null", "--list", "--show-scope")
    return Repository(top, place, common, lines[3], tuple(_parse_settings(listed)))


def refuse_blocking(folder: Path, environment: Mapping[str, str]) -> None:
    """Raise GitUnusable for a pipe or device among the files that git reads in its folder and the home."""
    above = find_top(folder) or folder
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    inside = (above / ".git" / name for name in (*_READ, *_READ_BELOW))
    paths = (*inside, *(home / name for name in _READ_AT_HOME))
    if path := find_blocking(map(os.fspath, paths)):
        raise GitUnusable(f"git would hang: {describe_blocking(path)}.", "Then try again.")


def check_ownership(repository: Repository) -> None:
    """Raise GitUnusable when `.git` leads to another folder's history that does not name this work tree."""
    top, place, common = repository[:3]
    inside = place.is_relative_to(common) and all(
        Path(os.path.realpath(common / name)).is_relative_to(common) for name in ("objects", "refs", "packed-refs")
    )
    if not inside or not (place == top / ".git" or place in list_own_folders(top)):
        raise GitUnusable(
            f"The git folder of {top} is {place}, which does not name it as its work tree.",
            "If both are yours, set core.worktree there, or run: git worktree repair",
        )


def _parse_settings(listed: str) -> list[Setting]:
    fields = listed.split("\0")[:-1]
    pairs = zip(fields[::2], fields[1::2], strict=True)
    # Settings of scope `command` came with our own call.
    return [Setting(scope, *_key_and_value(text)) for scope, text in pairs if scope != "command"]


def _key_and_value(text: str) -> tuple[str, str]:
    key, newline, value = text.partition("\n")
    return key, value if newline else "true"


def ask_git(folder: Path, environment: Mapping[str, str], *words: str) -> str:
    """Return git's output about a folder. Only for commands that run none of a repository's programs.

    Raises:
        GitUnusable, NoRepository
    """
    return _run_git(folder, bare_environment(environment, os.fspath(folder)), words)


def _run_git(folder: Path, environment: ChildEnvironment, words: tuple[str, ...]) -> str:
    program = find_git(environment["PATH"])
    if program is None:
        raise GitUnusable("git was not found on the PATH.", "Install git.")
    try:
        asked = subprocess.run(
            [program, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT,
            process_group=0,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitUnusable(f"git {words[0]} took longer than {TIME_LIMIT:g} s.", "Check what is in .git.") from None
    except OSError as error:
        raise NoRepository(f"{folder} cannot be entered: {error.strerror}.", "Choose another folder.") from error
    if asked.returncode:
        ended = f"signal {-asked.returncode} ended it" if asked.returncode < 0 else "it gave no reason"
        raise _refusal_error(folder, asked.stderr.decode(errors="replace").strip(), ended)
    return asked.stdout.decode("utf-8", "surrogateescape")


def _refusal_error(folder: Path, message: str, ended: str) -> GitUnusable:
    if "not a git repository" in message:
        return NoRepository(f"{folder} is not a git repository.", "Create one with: git init")
    return GitUnusable(f"git failed: {message[-500:] or ended}", "Run git status there for details.")
