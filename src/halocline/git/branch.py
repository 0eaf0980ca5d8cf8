"""The checked-out branch, read from git's own files: no program is started, so it is cheap enough for a status line."""

from pathlib import Path

from halocline.files.regular import read_beginning

_REF = "ref: refs/heads/"
_LONGEST = 4096
_SHORT_HASH = 8


def read_branch(folder: str) -> str:
    """Return the branch of the repository around a folder, or the beginning of a detached commit; empty without one."""
    for place in (Path(folder), *Path(folder).parents):
        git = place / ".git"
        try:
            if git.is_file():
                git = place / _read_line(git).removeprefix("gitdir:").strip()
            head = _read_line(git / "HEAD")
        except OSError:
            continue
        return head.removeprefix(_REF) if head.startswith(_REF) else head[:_SHORT_HASH]
    return ""


def _read_line(path: Path) -> str:
    return read_beginning(path, _LONGEST).decode("utf-8", "replace").partition("\n")[0].strip()
