"""The linked worktrees of a repository, from git's own files: nothing is run, and no second list is kept.

A worktree is ours if its branch begins with `worktree-`, as Claude Code has it too, or if its folder is in ours.
"""

import os
from pathlib import Path

from halocline.git.git_folder import GitFolder, list_own_folders, read_line, read_worktree
from halocline.git.repository import Repository, check_ownership, find_repository
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value

BRANCH = "worktree-"
"""Beginning of the branch of a named worktree."""
_BESIDE = "-worktrees"
"""End of the name of the folder with the worktrees of a repository, beside its own."""


class Worktree(Value, frozen=True):
    """A worktree, and the folder with the main work tree. `name` is that of its branch or folder.

    `made` tells it from others that were in its folder before.
    `head` is its commit if it is on no branch. `is_missing`: its folder is not where git has it.
    """

    name: str
    folder: Path
    branch: str
    main: Path
    made: str
    head: str = ""
    lock: str = ""
    is_locked: bool = False
    is_missing: bool = False


def find_main(folder: Path) -> Repository:
    """Return the repository with the main folder of the work tree around a folder. Raises as `find_main_of` does."""
    return find_main_of(find_repository(folder, os.environ))


def find_main_of(repository: Repository) -> Repository:
    """Return the repository with the main folder: a work tree itself, or where it was made, if it is ours.

    Raises:
        GitUnusable, NoRepository
        UsageError: it is ours, but the work tree where it was made is gone.
    """
    check_ownership(repository)
    top, common = repository.top, repository.common
    if repository.folder == common or not _is_ours(GitFolder(repository.folder).branch, top):
        return repository
    for main in (top.parent.with_name(top.parent.name.removesuffix(_BESIDE)), common.parent):
        if main != top and list_own_folders(main)[:1] == (common,):
            return find_repository(main, os.environ)
    raise UsageError(f"The main folder of the worktree {top} is not there.", f"Merge its branch with git, in {common}.")


def place_worktree(main: Path, name: str) -> Path:
    """Return the folder of a worktree with this name."""
    return main.with_name(f"{main.name}{_BESIDE}") / name


def _is_ours(branch: str, folder: Path) -> bool:
    return branch.startswith(BRANCH) or folder.parent.name.endswith(_BESIDE)


def list_worktrees(repository: Repository) -> list[Worktree]:
    """Return our worktrees of a repository, by name."""
    found = (_read_worktree(repository, admin) for admin in sorted((repository.common / "worktrees").glob("*")))
    return sorted((one for one in found if one), key=lambda one: one.name)


def find_worktree(repository: Repository, name: str) -> Worktree:
    """Return the worktree with this name. Raises UsageError."""
    listed = list_worktrees(repository)
    found = [one for one in listed if one.name == name]
    if len(found) > 1:
        places = ", ".join(str(one.folder) for one in found)
        raise UsageError(f"Several worktrees are named {name}: {places}.", "Remove one: git worktree remove FOLDER")
    if found:
        return found[0]
    names = ", ".join(one.name for one in listed)
    raise UsageError(
        f"There is no worktree {name!r} of {repository.top}.",
        f"There are: {names}" if names else 'Make one: halo -w NAME "what to do"',
    )


def name_worktree(folder: str) -> str:
    """Return the name of the linked worktree that a folder is in, or was in if it is gone; empty if in none."""
    place = Path(folder)
    is_gone = place.parent.name.endswith(_BESIDE) and not os.path.lexists(place)
    return place.name if is_gone else read_worktree(folder)


def name_repository(folder: str) -> str:
    """Return the name of the main folder of the worktree that a folder is in; empty if it cannot be told."""
    try:
        found = find_worktree_at(Path(folder))
    except (HaloclineError, OSError):
        return ""
    return found.main.name if found else ""


def find_worktree_at(folder: Path) -> Worktree | None:
    """Return our worktree around a folder, also one that is gone; None if there is none. Raises GitUnusable."""
    folder = Path(os.path.realpath(folder))
    is_gone = not folder.exists() and folder.parent.name.endswith(_BESIDE)
    main = folder.parent.with_name(folder.parent.name.removesuffix(_BESIDE)) if is_gone else folder
    if not main.is_dir():
        return None
    repository = find_main(main)
    found = (one for one in list_worktrees(repository) if folder.is_relative_to(one.folder))
    gone = Worktree(folder.name, folder, "", repository.top, "", is_missing=True) if is_gone else None
    return max(found, key=lambda one: len(one.folder.parts), default=gone)


def _read_worktree(repository: Repository, admin: Path) -> Worktree | None:
    marker = read_line(admin / "gitdir")
    if not marker or "\0" in marker:
        return None
    folder = Path(os.path.realpath((admin / marker).parent))
    head = read_line(admin / "HEAD")
    is_on_branch = head.startswith("ref: ")
    branch = GitFolder(admin).branch if is_on_branch else ""
    try:
        info = os.lstat(admin / "commondir")  # git writes it once
    except OSError:
        return None
    if folder == repository.top or not _is_ours(branch, folder):
        return None
    return Worktree(
        branch.removeprefix(BRANCH) if branch.startswith(BRANCH) else folder.name,
        folder,
        branch,
        repository.top,
        made=f"{info.st_ino}-{info.st_mtime_ns}",
        head="" if is_on_branch else head,
        lock=read_line(admin / "locked"),
        is_locked=os.path.lexists(admin / "locked"),
        is_missing=list_own_folders(folder) != (repository.common, Path(os.path.realpath(admin))),
    )
