"""The change that a task made in a folder, as a patch, without running a program that the folder names.

A private git folder outside of the place compares what was there at first with what is there now. It has no settings
but ours, so neither a hook nor a filter of the place runs, whatever the task wrote there.
"""

import asyncio
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from halocline.files.durable import write_whole
from halocline.git.environment import bare_environment
from halocline.git.process import Answer, run_git
from halocline.git.repository import Setting
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value

LARGEST_PATCH = 1 << 26
_SECONDS = 300.0
_FIRST = "refs/halocline/first"
_LAST = "last-tree"
"""The note of the tree that was read last, and when: the commit that holds it is always the same one."""
RESULT = "refs/halocline/result"
_CARRIED = re.compile(r"core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)")
_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Halocline"), ("EMAIL", "halocline@localhost"))
}
_SUMMARY = re.compile(r"^(\d+|-)\t(\d+|-)\t", re.MULTILINE)


class Change(Value, frozen=True):
    """A change: the patch that `git apply` takes, and its size. Binary files count no lines."""

    patch: bytes = b""
    files: int = 0
    added: int = 0
    removed: int = 0


class TreeChanges:
    """The changes in `place` since `note_first`, kept in the private git folder `store`.

    `objects` are those of a repository whose commit `note_first` starts from, so that no file is read for that.
    All methods raise HaloclineError.
    """

    def __init__(self, place: Path, store: Path, objects: Path | None = None) -> None:
        self._place = place
        self._store = store
        self._objects = objects

    async def note_first(self, commit: str = "", settings: Iterable[Setting] = ()) -> None:
        """Keep what is there now, or what a commit has, as the beginning; once only.

        `settings` are the repository's: those that say how files are written apply, and no others.
        """
        for left in await asyncio.to_thread(lambda: [*self._store.glob("*.lock")]):
            left.unlink(missing_ok=True)  # of a git that was killed; this process alone uses the store
        if (self._store / "HEAD").exists() and (await self._git("rev-parse", "--verify", "--quiet", _FIRST)).is_good:
            return
        await asyncio.to_thread(self._store.mkdir, parents=True, exist_ok=True, mode=0o700)
        await self._run("init", "--quiet", "--template=")
        for one in settings:
            if _CARRIED.fullmatch(one.key):
                await self._run("config", one.key, one.value)
        if self._objects:
            alternates = self._store / "objects" / "info" / "alternates"
            await asyncio.to_thread(alternates.write_text, f"{self._objects}\n")
        if commit:
            await self._begin_with(commit)
        tree = await (self._run("write-tree") if commit else self._write_tree())
        await self._run("update-ref", _FIRST, await self._commit(tree, "", "first"))

    async def _begin_with(self, commit: str) -> None:
        """Have the index begin with a commit: without its submodules, in which git would run what their settings name.

        Files of it that are not there, as in a sparse checkout, count as they are in the commit.
        """
        await self._run("read-tree", commit)
        if links := await self._list_links(commit):
            await self._run("update-index", "--force-remove", "--", *(path for _, path in links))
        gone = (await self._git("ls-files", "--deleted", "-z")).output
        if gone:
            await self._run("update-index", "--skip-worktree", "-z", "--stdin", data=gone)

    async def _list_links(self, commit: str) -> list[tuple[str, str]]:
        """Return the submodules of a commit: the commit of each, and its path."""
        listed = await self._run("ls-tree", "-r", "-z", commit)
        rows = (row.partition("\t") for row in listed.split("\0") if row.startswith("160000 "))
        return [(head.split()[2], path) for head, _, path in rows]

    async def read_change(self) -> Change:
        """Return what changed since the beginning, in all files that the place's `.gitignore` does not name."""
        if self._place.is_symlink() or not self._place.is_dir():
            raise HaloclineError(f"The task put something else in the place of {self._place}.", "Look at it.")
        first, now = f"{_FIRST}^{{tree}}", await self._write_tree()
        sizes: list[tuple[str, str]] = _SUMMARY.findall(
            await self._run("diff", "--numstat", "--no-renames", first, now)
        )
        answer = await self._git("diff", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", first, now)
        if not answer.is_good or answer.code is None:
            raise HaloclineError(
                f"The change in {self._place} is larger than {LARGEST_PATCH >> 20} MB.", "Look at it there."
            )
        await asyncio.to_thread(write_whole, self._store / _LAST, f"{now} {int(time.time())}".encode())
        added, removed = (sum(int(one[side]) for one in sizes if one[side] != "-") for side in (0, 1))
        return Change(answer.output, len(sizes), added, removed)

    async def commit_change(self, parent: str, message: str) -> str:
        """Return the commit that holds the change that was read last, on top of `parent`; the store keeps it."""
        try:
            tree, moment = (await asyncio.to_thread((self._store / _LAST).read_text)).split()
        except (OSError, ValueError):
            raise HaloclineError("Its change was not kept.", "To run it once more: --again ID") from None
        links = await self._list_links(parent)
        for sha, path in links:
            await self._run("update-index", "--add", "--cacheinfo", f"160000,{sha},{path}")
        tree = await self._run("write-tree") if links else tree
        if links:
            await self._run("update-index", "--force-remove", "--", *(path for _, path in links))
        dates = {f"GIT_{who}_DATE": f"{moment} +0000" for who in ("AUTHOR", "COMMITTER")}
        made = await self._commit(tree, parent, message, dates)
        await self._run("update-ref", RESULT, made)
        return made

    async def write_branch(self, repository: Path, branch: str, commit: str, message: str) -> None:
        """Make or move a branch of a repository to a commit that holds the change, on top of `commit`.

        Raises HaloclineError, also for a branch that holds anything but an earlier one of these commits.
        """
        await self.commit_change(commit, message)
        bare = bare_environment(os.environ, os.fspath(repository))
        own = declare_environment(bare, {"GIT_ALLOW_PROTOCOL": "file"})
        await self._require_ours(repository, own, branch, commit)
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", f"file://{self._store}")
        answer = await run_git(
            repository, own, (*words, f"+{RESULT}:refs/heads/{branch}"), most=100_000, seconds=_SECONDS
        )
        self._check(answer, "fetch")

    async def _require_ours(self, repository: Path, environment: ChildEnvironment, branch: str, parent: str) -> None:
        """Raise HaloclineError if a branch is there with something else than one of our commits on `parent`."""
        words = ("for-each-ref", "--format=%(authoremail) %(parent)", f"refs/heads/{branch}")
        answer = await run_git(repository, environment, words, most=100_000, seconds=_SECONDS)
        self._check(answer, "for-each-ref")
        ours = f"<{_AUTHOR['GIT_AUTHOR_EMAIL']}> {parent}".strip()
        if (found := answer.text.strip()) and found != ours:
            raise HaloclineError(f"The branch {branch} was there before and is left as it is.", "Rename it.")

    async def _commit(self, tree: str, parent: str, message: str, dates: Mapping[str, str] = {}) -> str:
        words = ("commit-tree", *(("-p", parent) if parent else ()), "-m", message, tree)
        answer = await self._git(*words, more=dates)
        self._check(answer, "commit-tree")
        return answer.text.strip()

    async def _write_tree(self) -> str:
        """Write the files that are there; those of repositories within the place stay as they were at first."""
        apart = await asyncio.to_thread(find_nested, self._place)
        await self._run("add", "--all", "--", ".", *(f":(exclude,literal){path}" for path in apart))
        return await self._run("write-tree")

    async def _run(self, *words: str, data: bytes = b"") -> str:
        answer = await self._git(*words, data=data)
        self._check(answer, words[0])
        return answer.text.strip()

    async def _git(self, *words: str, data: bytes = b"", more: Mapping[str, str] = {}) -> Answer:
        around = bare_environment(os.environ, os.fspath(self._place))
        own = {"GIT_DIR": os.fspath(self._store), "GIT_WORK_TREE": os.fspath(self._place), **_AUTHOR}
        alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
        environment = declare_environment(around, {**own, **alone, **more, "GIT_OPTIONAL_LOCKS": "1"})
        return await run_git(self._place, environment, words, data=data, most=LARGEST_PATCH, seconds=_SECONDS)

    def _check(self, answer: Answer, what: str) -> None:
        if not answer.is_good:
            last = answer.errors.decode(errors="replace").strip().split("\n")[-1]
            raise HaloclineError(f"git {what} failed in {self._place}: {last}", "Look at the folder.")


def find_nested(place: Path) -> list[str]:
    """Return the repositories below a place, relative to it: git takes them for submodules, or refuses them."""
    found = []
    for folder, names, files in os.walk(place):
        if folder != os.fspath(place) and ".git" in (*names, *files):
            found.append(os.path.relpath(folder, place))
            names.clear()
        elif ".git" in names:
            names.remove(".git")
    return found
