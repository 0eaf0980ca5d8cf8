"""The change that a task made in a folder, as a patch, without running a program that the folder names.

A private git folder outside of the place compares what was there at first with what is there now. It has no settings
but ours, so neither a hook nor a filter of the place runs, whatever the task wrote there.
"""

import asyncio
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from halocline.files.durable import write_whole
from halocline.files.regular import read_beginning
from halocline.git.environment import bare_environment
from halocline.git.process import Answer, run_git
from halocline.git.repository import Repository
from halocline.git.view import format_setting, list_person_files
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
_SUMMARY = re.compile(rb"^(\d+|-)\t(\d+|-)\t", re.MULTILINE)
_PLAIN = ("--full-index", "--no-ext-diff", "--no-textconv")
_LINK, _GONE, _OTHER, _ATTRIBUTES = b"160000 ", b"R ", b"? ", b".gitattributes"
_LONG, _SHA256 = 64, ("--object-format=sha256",)
"""The length of a commit's name in a repository with the other kind of names."""
_LARGEST_LIST = 1 << 20


class Change(Value, frozen=True):
    """A change: the patch that `git apply` takes, and its size. Binary files count no lines."""

    patch: bytes = b""
    files: int = 0
    added: int = 0
    removed: int = 0


class TreeChanges:
    """The changes in `place` since `note_first`, kept in the private git folder `store`.

    `objects` are those of a repository whose commit `note_first` starts from, so that none is written again.
    All methods raise HaloclineError.
    """

    def __init__(self, place: Path, store: Path, objects: Path | None = None) -> None:
        self._place = place
        self._store = store
        self._objects = objects

    async def note_first(self, commit: str = "", around: Repository | None = None) -> None:
        """Keep what is there now as the beginning; once only. `commit` is the one that it was checked out from.

        Of the settings of the repository `around` those that say how files are written apply, and no others; what it
        ignores is no change.
        """
        await asyncio.to_thread(self._clear_locks)
        if (self._store / _FIRST).exists():
            return
        await asyncio.to_thread(self._store.mkdir, parents=True, exist_ok=True, mode=0o700)
        await asyncio.to_thread((self._store / "config").unlink, missing_ok=True)  # of a beginning that was killed
        await self._run("init", "--quiet", "--template=", *(_SHA256 if len(commit) == _LONG else ()))
        has_attributes = await asyncio.to_thread(self._carry_settings, around)
        is_same = bool(commit) and await self._begin_with(commit) and not has_attributes
        await asyncio.to_thread(self._note, _FIRST, f"{commit if is_same else await self._write_tree()}\n")

    def _clear_locks(self) -> None:
        """Remove those of a git that was killed; this process alone uses the store."""
        for left in self._store.glob("*.lock"):
            left.unlink(missing_ok=True)

    def _note(self, name: str, text: str) -> None:
        (self._store / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._store / name, text.encode())

    def _carry_settings(self, around: Repository | None) -> bool:
        """Write down what applies of a repository's settings and lists. True if attributes are among them."""
        if self._objects:
            self._note("objects/info/alternates", f"{self._objects}\n")
        if not around:
            return False
        carried = [(one.key, one.value) for one in around.settings if _CARRIED.fullmatch(one.key)]
        carried += list_person_files(around.settings, os.environ)
        settings = os.fsencode("".join(format_setting(key, value) for key, value in carried))
        write_whole(self._store / "config", read_beginning(self._store / "config", _LARGEST_LIST) + settings)
        for name in ("exclude", "attributes"):
            with suppress(OSError):
                text = read_beginning(around.common / "info" / name, _LARGEST_LIST)
                (self._store / "info").mkdir(exist_ok=True)
                write_whole(self._store / "info" / name, text)
        return "core.attributesfile" in dict(carried) or (self._store / "info" / "attributes").exists()

    async def _begin_with(self, commit: str) -> bool:
        """Have the index begin with a commit: without its submodules, in which git would run what their settings name.

        Files of it that are not there, as in a sparse checkout, count as they are in the commit. True if what is there
        is the commit: nothing but its files, none of which a filter may have written in another way.
        """
        await self._run("read-tree", commit)
        answer = await self._git("ls-files", "-t", "--stage", "--deleted", "--others", "--exclude-standard", "-z")
        self._check(answer, "ls-files")
        listed = answer.output.split(b"\0")[:-1]
        rows = [row.partition(b"\t")[::2] for row in listed]
        links = {path for head, path in rows if head[2:].startswith(_LINK)}
        gone = {path for head, path in rows if head.startswith(_GONE)} - links
        for option, paths in (("--force-remove", links), ("--skip-worktree", gone)):
            if paths:
                data = b"".join(path + b"\0" for path in paths)
                await self._run("update-index", option, "-z", "--stdin", data=data)
        lists = [path for _, path in rows if path.endswith(_ATTRIBUTES)]
        has_others = links or any(row.startswith(_OTHER) for row in listed)
        return not has_others and not await asyncio.to_thread(self._name_filters, lists)

    def _name_filters(self, lists: Iterable[bytes]) -> bool:
        """True if one of these lists of attributes may name a filter."""
        with suppress(OSError):
            return any(b"filter" in read_beginning(self._place / os.fsdecode(one), _LARGEST_LIST) for one in lists)
        return True

    async def read_change(self) -> Change:
        """Return what changed since the beginning, in all files that the place's `.gitignore` does not name."""
        if self._place.is_symlink() or not self._place.is_dir():
            raise HaloclineError(f"The task put something else in the place of {self._place}.", "Look at it.")
        now = await self._write_tree()
        answer = await self._git("diff", "--numstat", "--patch", "--binary", *_PLAIN, f"{_FIRST}^{{tree}}", now)
        if not answer.is_good or answer.code is None:
            raise HaloclineError(
                f"The change in {self._place} is larger than {LARGEST_PATCH >> 20} MB.", "Look at it there."
            )
        head, _, patch = answer.output.partition(b"\n\n")  # a line break in a name is written as \n
        sizes: list[tuple[bytes, bytes]] = _SUMMARY.findall(head)
        await asyncio.to_thread(self._note, _LAST, f"{now} {int(time.time())}")
        added, removed = (sum(int(one[side]) for one in sizes if one[side] != b"-") for side in (0, 1))
        return Change(patch, len(sizes), added, removed)

    async def read_contents(self, parent: str, commit: str) -> bytes:
        """Return the change between two commits with the content of all files, also of those that are no text."""
        answer = await self._git("diff", "--text", *_PLAIN, parent, commit)
        if not answer.is_good or answer.code is None:
            raise HaloclineError("The change is too large to be looked through.", "Look at the patch.")
        return answer.output

    async def commit_change(self, parent: str, message: str) -> str:
        """Return the commit that holds the change that was read last, on top of `parent`; the store keeps it."""
        try:
            tree, moment = (await asyncio.to_thread((self._store / _LAST).read_text)).split()
        except (OSError, ValueError):
            raise HaloclineError("Its change was not kept.", "To run it once more: --again ID") from None
        await asyncio.to_thread(self._clear_locks)
        tree = await self._apply_to(parent, tree)
        dates = {f"GIT_{who}_DATE": f"{moment} +0000" for who in ("AUTHOR", "COMMITTER")}
        answer = await self._git("commit-tree", "-p", parent, "-m", message, tree, more=dates)
        self._check(answer, "commit-tree")
        made = answer.text.strip()
        await asyncio.to_thread(self._note, RESULT, f"{made}\n")
        return made

    async def _apply_to(self, parent: str, tree: str) -> str:
        """Return the tree of a commit with what changed until `tree`, and nothing else: its submodules stay.

        Raises HaloclineError for a file that a filter changes on its way into a commit, as that of Git LFS does.
        """
        if (await asyncio.to_thread((self._store / _FIRST).read_text)).strip() == parent:
            return tree
        own = {"GIT_INDEX_FILE": os.fspath(self._store / "result-index")}
        changed = await self._git("diff-tree", "-r", "-z", "--no-renames", f"{_FIRST}^{{tree}}", tree)
        self._check(changed, "diff-tree")
        fields = changed.output.split(b"\0")[:-1]
        pairs = [(head.split(), path) for head, path in zip(fields[::2], fields[1::2], strict=True)]
        lines = b"".join(b"%b %b\t%b\0" % (head[1], head[3], path) for head, path in pairs)
        await self._run("read-tree", parent, more=own)
        paths = b"".join(path + b"\0" for _, path in pairs)
        asked = await self._git("check-attr", "-z", "--cached", "--stdin", "filter", data=paths, more=own)
        self._check(asked, "check-attr")
        named = asked.output.split(b"\0")[:-1]
        for path, name in zip(named[::3], named[2::3], strict=True):
            if name not in (b"unspecified", b"unset"):
                raise HaloclineError(
                    f"{os.fsdecode(path)} is changed by the filter {os.fsdecode(name)} on its way into a commit, and "
                    "no filter runs here.",
                    "Commit it in its place, with git.",
                )
        await self._run("update-index", "-z", "--index-info", data=lines, more=own)
        return await self._run("write-tree", more=own)

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

    async def _write_tree(self) -> str:
        """Write the files that are there; those of repositories within the place stay as they were at first."""
        apart = await asyncio.to_thread(find_nested, self._place)
        await self._run("add", "--all", "--", ".", *(f":(exclude,literal){path}" for path in apart))
        return await self._run("write-tree")

    async def _run(self, *words: str, data: bytes = b"", more: Mapping[str, str] = {}) -> str:
        answer = await self._git(*words, data=data, more=more)
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
            said = answer.errors.decode(errors="replace").strip().split("\n")
            why = "; ".join(said[-2:])  # the last line may be what could not be done, and the one before it why
            raise HaloclineError(f"git {what} failed in {self._place}: {why}", "Look at the folder.")


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
