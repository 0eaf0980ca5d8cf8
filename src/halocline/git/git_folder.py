"""The folders, branch, last commit and remote of a repository, from git's own files.

No program is started, so it is cheap enough for a status line, and nothing that a repository configures can run.
"""

import os
import re
from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_LONGEST = 4096
_LARGEST_CONFIG, _LARGEST_LOG = 1 << 16, 1 << 22
_SHORT_HASH = 8
_HEAD = compile_later(r"ref: refs/heads/(\S{1,250})|([0-9a-f]{40,64})")  # anything else may be any file, through a link
_REMOTE = compile_later(r'\[remote "origin"\][^\[]*?\burl *= *"?([^\s"?#]+)')  # what follows a `?` may be a token
_WORK_TREE = compile_later(r'^\[core\][^\[]*?^[ \t]*worktree *= *"?([^"\n]*?)"?[ \t]*$', re.IGNORECASE | re.MULTILINE)
_ACCOUNT = compile_later(r"//[^/@]*@")
_ENTRY = compile_later(
    r"[0-9a-f]{40,64} ([0-9a-f]{40,64}) [^\t]* \d+ [+-]\d{4}(?:\t(.*))?"
)  # anything else, as in _HEAD
_COMMITS = compile_later(r"(commit|merge|rebase|pull|cherry-pick|revert)\b[^:]*: ")


class GitFolder(Value, frozen=True):
    """The `.git` of a work tree; that of a linked one is its own folder."""

    path: Path

    @property
    def branch(self) -> str:
        """The branch, or the beginning of a commit's hash if none is checked out; empty if neither can be read."""
        head = _HEAD.fullmatch(_read(self.path / "HEAD").strip())
        return (head[1] or head[2][:_SHORT_HASH]) if head else ""

    @property
    def remote(self) -> str:
        """The address of `origin`, without the account in it; empty if there is none."""
        common = _read(self.path / "commondir").strip()
        found = _REMOTE.search(_read(self.path / common / "config", _LARGEST_CONFIG))
        return _ACCOUNT.sub("//", found[1]) if found else ""

    @property
    def last_commit(self) -> str:
        """The short hash of the commit that is checked out, and its subject if git's log has it; may be empty."""
        lines = _read(self.path / "logs" / "HEAD", _LARGEST_LOG).splitlines()
        if not lines or (last := _ENTRY.fullmatch(lines[-1])) is None:
            return ""
        entries = (_ENTRY.fullmatch(line) for line in lines if last[1] in line)
        told = [one[2] or "" for one in entries if one and one[1] == last[1]]
        subjects = [_COMMITS.sub("", text) for text in told if _COMMITS.match(text)]
        return " ".join([last[1][:_SHORT_HASH], *subjects[-1:]])


def find_git_folder(folder: Path) -> GitFolder | None:
    """Find the repository around a folder; None if there is none."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if (git / "HEAD").is_file():
            return GitFolder(git)
        if named := _read(git).partition("\n")[0].removeprefix("gitdir:").strip():
            return GitFolder(place / named)
    return None


def read_worktree(folder: str) -> str:
    """Return the name of the linked worktree that a folder is in; empty if it is in none, or cannot be read."""
    try:
        found = find_git_folder(Path(folder))
        is_linked = found is not None and found.path.parent.name == "worktrees" and (found.path / "commondir").is_file()
    except (OSError, ValueError):
        return ""
    return found.path.name if found and is_linked else ""


def find_top(folder: Path) -> Path | None:
    """Return the nearest folder, from this one up, that has a `.git`; None if there is none."""
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)


def list_own_folders(top: Path) -> tuple[Path, ...]:
    """Return git's own folders of a work tree without links: the one that its work trees share, then that of its own.

    A `.git` file may come with other people's files and name any folder. So that folder counts only if it names this
    work tree back, as git makes it for a linked work tree (`gitdir`) and a submodule (`core.worktree`).
    """
    top = Path(os.path.realpath(top))
    marker = top / ".git"
    if marker.is_symlink():
        return ()
    if marker.is_dir():
        return (marker,) if _is_shared(marker) and not os.path.lexists(marker / "commondir") else ()
    try:
        folder = _follow(top, read_line(marker).removeprefix("gitdir:").strip())
        common = _follow(folder, read_line(folder / "commondir"))
        if folder == common:
            is_named = any(_follow(folder, tree) == top for tree in _list_work_trees(folder))
        else:
            back = _follow(folder, read_line(folder / "gitdir"))
            is_named = folder.parent == common / "worktrees" and back == marker
    except ValueError:  # a name may hold a NUL
        return ()
    return tuple(dict.fromkeys((common, folder))) if is_named and _is_shared(common) else ()


def list_linked(common: Path) -> list[Path]:
    """Return the linked work trees that a repository's git folder names, and that name it back."""
    named = ((folder, read_line(folder / "gitdir")) for folder in sorted((common / "worktrees").glob("*")))
    tops = [_follow(folder, back).parent for folder, back in named if back and "\0" not in back]
    return [top for top in tops if common in list_own_folders(top)]


def _is_shared(folder: Path) -> bool:
    """Return True if a folder has what all work trees of a repository share, and it leads nowhere else."""
    parts = (folder / "objects", folder / "refs")
    is_whole = (folder / "HEAD").is_file() and all(part.is_dir() and not part.is_symlink() for part in parts)
    return is_whole and not (folder / "packed-refs").is_symlink()


def _list_work_trees(folder: Path) -> list[str]:
    texts = (_read(folder / name, _LARGEST_CONFIG, "surrogateescape") for name in ("config", "config.worktree"))
    return [found[1] for text in texts if (found := _WORK_TREE.search(text))]


def _follow(folder: Path, named: str) -> Path:
    return Path(os.path.realpath(folder / named))


def read_line(path: Path) -> str:
    """Return the first line of a file; empty if it cannot be read."""
    return _read(path, errors="surrogateescape").partition("\n")[0]


def read_branch(folder: str) -> str:
    """Return the branch of the repository around a folder; empty without one."""
    found = find_git_folder(Path(folder))
    return found.branch if found else ""


def _read(path: Path, limit: int = _LONGEST, errors: str = "replace") -> str:
    """Return a file's text; empty if it is none, or larger than the limit."""
    try:
        data = read_beginning(path, limit)
    except (OSError, ValueError):  # a name may hold a NUL
        return ""
    return data.decode("utf-8", errors) if len(data) < limit else ""
