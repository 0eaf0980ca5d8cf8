"""Git's own folders of a task's folders: where sandboxed commands may write, so that git can commit, and what not.

They may lie outside the workspace: in the repository of a linked work tree or a submodule, or above a subfolder.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from halocline.git.git_folder import find_top, list_linked, list_own_folders
from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.scan import GIT_OBEYS

MOST_OPENED = 20
"""Git folders that are made writable one by one, those of the task's folders first, then of the nearest submodules."""
_PRIVATE = (Path("/tmp"), Path("/run"))
_OBEYED = f"what programs obey ({', '.join(GIT_OBEYS)})"


def find_git_places(request: SandboxRequest, protected: Iterable[Path], masked: Iterable[Path]) -> tuple[Path, ...]:
    """Return git's own folders of the task's folders, and of the work trees that `protected` has the `.git` of.

    Those of the other linked work trees are among them, because `git gc` cleans up all their logs; but not of one that
    a command cannot see: for git it would be gone, and `git worktree prune` would delete what git has of it.
    """
    if not request.git_writes:
        return ()
    nested = sorted((path.parent for path in protected if path.name == ".git" and path.is_file()), key=_count_parts)
    own = [folder for top in (*_list_tops(request), *nested) for folder in _list_folders(top, request)]
    linked = (top for common in dict.fromkeys(own) for top in list_linked(common))
    seen = (top for top in linked if not any(map(top.is_relative_to, masked)))
    found = dict.fromkeys((*own, *(folder for top in seen for folder in _list_folders(top, request))))
    return tuple(found)[:MOST_OPENED]


def describe_bounds(request: SandboxRequest, *, keeps_git: bool) -> str:
    """Say what sandboxed commands can reach; `keeps_git` means that git's own folders are opened to them."""
    places = ", ".join([*map(str, request.places), "/tmp"])
    network = "the network is open, Unix sockets are not" if request.network else "the network is off"
    return "; ".join((f"it can write only {places}", *_describe_git(request, keeps_git=keeps_git), network))


def _describe_git(request: SandboxRequest, *, keeps_git: bool) -> Iterator[str]:
    if not keeps_git:
        yield "a .git elsewhere is read-only"
    elif not request.git_writes:
        yield "every .git is read-only, because the setting sandbox_git_writes is off"
    for top in _list_tops(request) if keeps_git and request.git_writes else ():
        if _list_folders(top, request):
            yield f"git can commit in {top}, but not change {_OBEYED}, so git config, remote and branch -m fail"
        else:
            yield f"{top}/.git is read-only, because it is not known to be this folder's own"


def _list_tops(request: SandboxRequest) -> list[Path]:
    """Return the work trees that the task's folders are in."""
    tops = (find_top(folder) for folder in request.folders)
    return list(dict.fromkeys(top for top in tops if top))


def _list_folders(top: Path, request: SandboxRequest) -> tuple[Path, ...]:
    """Return git's own folders of a work tree; none for your home, and where the sandbox has its own files."""
    is_inside = any(top.is_relative_to(folder) for folder in request.folders)
    if not is_inside and (request.home.is_relative_to(top) or any(map(top.is_relative_to, _PRIVATE))):
        return ()
    found = list_own_folders(top)
    return () if any(request.state.is_relative_to(folder) for folder in found) else found


def _count_parts(path: Path) -> int:
    return len(path.parts)
