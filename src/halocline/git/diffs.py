"""Diffs and commits from the user's git, read through a view: no setting runs a program and nothing is written."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from halocline.git.process import Answer
from halocline.git.repository import NoRepository
from halocline.git.view import View, open_view
from halocline.ports.revisions import Changes
from halocline.protocol.errors import ToolFailure

PLAIN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
"""Options of every diff: no program runs, and no setting changes the form."""
_STATUS = ("status", "--porcelain=v1", "--branch", "-z", "--ignore-submodules=dirty")
_BELOW = ("--", ".")


async def git_diff(workspace: Path, old: str, new: str = "") -> str:
    """Diff two commits, or one commit and the work tree. Raises ToolFailure."""
    try:
        async with open_view(workspace) as view:
            commits = [await _resolve_commit(view, ref) for ref in (old, *filter(None, (new,)))]
            return (await _read_answer(view, "diff", *PLAIN, *commits, "--")).patch
    except NoRepository as error:
        raise ToolFailure(f"{error.text} Compare checkpoints instead (TASK/2).") from error


async def git_changes(workspace: Path) -> Changes:
    """Uncommitted changes below the workspace. Raises ToolFailure."""
    async with open_view(workspace) as view:
        answer = (await _read_answer(view, *_STATUS, "--untracked-files=all", *_BELOW)).text
        branch, *entries = answer.rstrip("\0").split("\0")
        # Before the first commit there is nothing to compare with.
        diff = await view.run("diff", *PLAIN, "--relative", "HEAD", "--")
    files = tuple(_list_entries(entries, view.repository.prefix))
    return Changes(branch.removeprefix("## "), files, diff.patch)


async def git_standing(workspace: Path) -> tuple[str, int]:
    """The branch and the number of uncommitted files below the workspace; ("", 0) without a usable repository."""
    try:
        async with open_view(workspace) as view:
            answer = (await _read_answer(view, *_STATUS, "--untracked-files=normal", *_BELOW)).text
    except ToolFailure:
        return "", 0
    head, *entries = answer.rstrip("\0").split("\0")
    return branch_of(head), sum(1 for _ in _list_entries(entries, ""))


async def changed_files(workspace: Path, seconds: float) -> list[Path]:
    """Files that differ from the last commit or are new; none outside a repository, or when git takes too long."""
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
    try:
        async with open_view(workspace) as view:
            answer = await view.run(*words, *_BELOW, seconds=seconds)
    except ToolFailure:
        return []
    entries = answer.output.decode("utf-8", "surrogateescape").split("\0") if answer.code == 0 else []
    return [view.repository.top / entry[3:] for entry in entries if len(entry) > 3 and "D" not in entry[:2]]


def branch_of(head: str) -> str:
    """Return the branch from the first line of a status."""
    return head.removeprefix("## ").removeprefix("No commits yet on ").partition("...")[0]


def _list_entries(entries: Sequence[str], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield letters and path of each entry; a renamed file's old path is a separate entry, which is skipped."""
    rest = iter(entries)
    for entry in rest:
        if entry:
            yield entry[:2], entry[3:].removeprefix(prefix)
            if "R" in entry[:2] or "C" in entry[:2]:
                next(rest, "")


async def git_commit(workspace: Path, name: str) -> Changes:
    """One commit and its diff against the first parent. Raises ToolFailure."""
    async with open_view(workspace) as view:
        plain = ("show", "--no-show-signature", await _resolve_commit(view, name))
        title = (await _read_answer(view, *plain, "--no-patch", "--format=%H%nAuthor: %an%nDate: %aI%n%n%B")).text
        patch = ("--format=", "--diff-merges=first-parent", "--relative", "--patch", *PLAIN)
        return Changes(title.strip(), (), (await _read_answer(view, *plain, *patch)).patch)


async def git_commits(workspace: Path, most: int) -> tuple[tuple[str, str], ...]:
    """The newest commits as (name, subject); none when git fails."""
    try:
        async with open_view(workspace) as view:
            answer = (await _read_answer(view, "log", f"--max-count={most}", "--format=%h%x00%s")).text
    except ToolFailure:
        return ()
    parts = (line.partition("\0") for line in answer.splitlines())
    return tuple((name, subject) for name, _, subject in parts if name)


async def _resolve_commit(view: View, ref: str) -> str:
    """Return the full hash of a commit. Raises ToolFailure when there is no such commit."""
    if "\0" in ref:
        raise ToolFailure("A ref cannot contain a NUL character.")
    answer = await view.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if answer.code == 0:
        return answer.text.strip()
    raise ToolFailure(f"There is no commit {ref!r}. Name a branch, a tag, a commit (HEAD~1) or a checkpoint (TASK/2).")


async def _read_answer(view: View, *words: str) -> Answer:
    """Return git's answer, cut at the limit. Raises ToolFailure."""
    answer = await view.run(*words)
    if not answer.is_good:
        raise ToolFailure(f"git {words[0]} failed with exit code {answer.code}.")
    return answer
