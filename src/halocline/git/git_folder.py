"""The branch, last commit and remote of a repository, from git's own files.

No program is started, so it is cheap enough for a status line, and nothing that a repository configures can run.
"""

from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_LONGEST = 4096
_LARGEST_CONFIG, _LARGEST_LOG = 1 << 16, 1 << 22
_SHORT_HASH = 8
_HEAD = compile_later(r"ref: refs/heads/(\S{1,250})|([0-9a-f]{40,64})")  # anything else may be any file, through a link
_REMOTE = compile_later(r'\[remote "origin"\][^\[]*?\burl *= *"?([^\s"?#]+)')  # what follows a `?` may be a token
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
        entries = [_ENTRY.fullmatch(line) for line in _read(self.path / "logs" / "HEAD", _LARGEST_LOG).splitlines()]
        if not entries or (last := entries[-1]) is None:
            return ""
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


def read_branch(folder: str) -> str:
    """Return the branch of the repository around a folder; empty without one."""
    found = find_git_folder(Path(folder))
    return found.branch if found else ""


def _read(path: Path, limit: int = _LONGEST) -> str:
    """Return a file's text; empty if it is none, or larger than the limit."""
    try:
        data = read_beginning(path, limit)
    except (OSError, ValueError):  # a name may hold a NUL
        return ""
    return data.decode("utf-8", "replace") if len(data) < limit else ""
