"""Reads what differs between a worktree's files and the commit that it has in common with the main folder.

It reads through views, so that no setting runs a program. Contents are as a checkout would write them, but for filters:
what Git LFS stores is a pointer, and a file that a pointer names counts as the same.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from halocline.git.process import Answer
from halocline.git.repository import GitUnusable
from halocline.git.view import View, open_view
from halocline.git.worktree_list import Worktree
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

IGNORED = "the main folder ignores it"
_MOST = 1 << 28
_LIMIT = 120.0
_SUBMODULE = b"160000"
_DIFF = ("diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
_HALF_WRITTEN = re.compile(rb"(?:.*/)?\.halo-[0-9a-f]{12}\.(?:tmp|old)", re.DOTALL)
"""Files that only a write which is being made, or was killed, has beside its own."""
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")


class BaseFile(Value, frozen=True):
    """A file as the common commit has it; the mode is as in a git tree."""

    mode: bytes
    content: bytes


class WorktreeChanges(Value, frozen=True):
    """The paths that may differ, each with the file of `base`, the common commit, or None.

    `ahead` and `behind` count commits. `apart` are changed or filled submodules and nested repositories.
    `staged` are files whose change is only in the index.
    """

    base: str
    ahead: int
    behind: int
    files: Mapping[bytes, BaseFile | None]
    apart: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()


async def read_changes(worktree: Worktree, more: Iterable[bytes] = ()) -> WorktreeChanges:
    """Read what differs, and the base of `more` paths. Raises GitUnusable and UsageError."""
    if worktree.is_missing:
        raise explain_missing(worktree)
    async with open_view(worktree.main) as view:
        main = (await view.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).text.strip()
    async with open_view(worktree.folder) as view:
        base = (await view.run("merge-base", main, "HEAD")).text.strip() if main else ""
        if not base:
            raise UsageError(f"{worktree.folder} and {worktree.main} have no commit in common.", "Merge it with git.")
        counts = (await _run(view, "rev-list", "--left-right", "--count", f"{main}...HEAD")).text.split()
        found = dict(_parse_sides((await _run(view, *_DIFF, base, "--")).output))
        others = (await _run(view, "ls-files", "--others", "--exclude-standard", "-z")).output.split(b"\0")[:-1]
        apart = {path for path, (mode, _) in found.items() if mode == _SUBMODULE} | {*await _list_filled(view)}
        new = [path for path in others if not (path.endswith(b"/") or _HALF_WRITTEN.fullmatch(path))]
        found |= {path: (b"", "") for path in new if path not in found}
        staged = await _list_staged(view, base, found)
        if unlisted := {*more, *await _list_flagged(view)} - {*found} - apart:
            found |= dict.fromkeys(unlisted, (b"", ""))
            found |= dict(await _list_entries(view, base, unlisted))
        files = await _read_files(view, {path: side for path, side in found.items() if path not in apart})
    apart |= {path for path in others if path.endswith(b"/")}
    names = tuple(sorted(os.fsdecode(path).rstrip("/") for path in apart))
    return WorktreeChanges(base, int(counts[1]), int(counts[0]), files, names, staged)


def explain_missing(worktree: Worktree) -> UsageError:
    """Say why there is no work in a worktree that is not where git has it."""
    if _has_entry(worktree.folder):
        return UsageError(
            f"{worktree.folder} is there, but not as git makes the worktree {worktree.name}.",
            f"Its .git must be a file of one line: git worktree repair {worktree.folder}",
        )
    return UsageError(
        f"The folder of the worktree {worktree.name} is not at {worktree.folder}.",
        f"If you moved it: git worktree repair NEW-FOLDER. If it is gone: halo worktrees discard {worktree.name}",
    )


def is_pointer_to(pointer: bytes, content: bytes) -> bool:
    """True if a file is what a pointer of Git LFS stands for."""
    found = _POINTER.match(pointer)
    return found is not None and sha256(content).hexdigest().encode() == found[1]


async def _run(view: View, *words: str, data: bytes = b"") -> Answer:
    answer = await view.run(*words, data=data, most=_MOST, seconds=_LIMIT)
    if answer.code != 0:
        why = "the worktree has too many changes" if answer.code is None else answer.errors.decode(errors="replace")
        raise GitUnusable(f"git {words[0]} failed: {why.strip()[-500:]}", f"Look there: {view.repository.top}")
    return answer


def _parse_sides(output: bytes) -> Iterator[tuple[bytes, tuple[bytes, str]]]:
    """Yield each path with the mode and the hash of its old side; a submodule's mode if one side is one."""
    fields = iter(output.split(b"\0")[:-1])
    for head, path in zip(fields, fields, strict=True):
        old, new, sha = head.lstrip(b":").split(b" ")[:3]
        is_file = old.strip(b"0")
        mode = _SUBMODULE if _SUBMODULE in (old, new) else old if is_file else b""
        yield path, (mode, sha.decode() if is_file else "")


async def _list_entries(view: View, base: str, paths: Collection[bytes]) -> list[tuple[bytes, tuple[bytes, str]]]:
    """Return those of the paths that the common commit has."""
    listed = (await _run(view, "ls-tree", "-r", "-z", "--full-tree", base)).output.split(b"\0")[:-1]
    split = (record.partition(b"\t") for record in listed)
    return [(path, (head.split()[0], head.split()[2].decode())) for head, _, path in split if path in paths]


async def _list_flagged(view: View) -> list[bytes]:
    """Return the files that git was told not to look at (skip-worktree, assume-unchanged), if they are there."""
    records = (await _run(view, "ls-files", "-v", "-z")).output.split(b"\0")[:-1]
    flagged = [path for tag, _, path in (one.partition(b" ") for one in records) if tag == b"S" or tag.islower()]
    places = ((path, view.repository.top / os.fsdecode(path)) for path in flagged)
    return [path for path, place in places if _has_entry(place) and (place.is_symlink() or not place.is_dir())]


async def _list_staged(view: View, base: str, found: Collection[bytes]) -> tuple[str, ...]:
    """Return what only the index has: neither a commit nor, in the same or a later state, the folder."""
    words = ("diff", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", "--diff-filter=du")
    since_base, since_head = [
        (await _run(view, *words, commit, "--")).output.split(b"\0")[:-1] for commit in (base, "HEAD")
    ]
    paths = [os.fsdecode(path) for path in since_base if path in {*since_head}]
    top = view.repository.top
    return tuple(path for path in paths if os.fsencode(path) not in found or not _has_entry(top / path))


async def _list_filled(view: View) -> list[bytes]:
    """Return the submodules that have files in this work tree: what changed in them is not looked at."""
    if not _has_entry(view.repository.top / ".gitmodules"):
        return []
    records = (await _run(view, "ls-files", "--stage", "-z")).output.split(b"\0")[:-1]
    paths = [path for head, _, path in (one.partition(b"\t") for one in records) if head.startswith(_SUBMODULE)]
    return [path for path in paths if _has_entry(view.repository.top / os.fsdecode(path) / ".git")]


def _has_entry(path: Path) -> bool:
    return os.path.lexists(path)


async def _read_files(view: View, sides: Mapping[bytes, tuple[bytes, str]]) -> dict[bytes, BaseFile | None]:
    wanted = [(path, mode, sha) for path, (mode, sha) in sides.items() if sha]
    mark = os.urandom(12).hex()  # the size that git prints is that before the conversion
    is_odd = any(b"\n" in path for path, _, _ in wanted)
    end = b"\0" if is_odd else b"\n"
    asked = b"".join(b"%b %b%b" % (sha.encode(), path, end) for path, _, sha in wanted)
    words = ("cat-file", "--filters", f"--batch={mark}", *(["-z"] if is_odd else []))
    parts = (await _run(view, *words, data=asked)).output.split(f"{mark}\n".encode())[1:] if wanted else []
    if len(parts) != len(wanted):
        raise GitUnusable("Not all files of the common commit can be read.", "Run git fsck there.")
    read = {path: BaseFile(mode, part[:-1]) for (path, mode, _), part in zip(wanted, parts, strict=True)}
    return {path: read.get(path) for path in sides}


async def read_ignored(folder: Path, paths: Iterable[bytes]) -> Mapping[bytes, str]:
    """Return those of the paths that git does not track in a repository and that it ignores or refuses, and why."""
    async with open_view(folder) as view:
        return await _find_ignored(view, list(paths))


async def _find_ignored(view: View, paths: Sequence[bytes]) -> dict[bytes, str]:
    """Ask about all at once; as git stops at a path that it refuses, ask about each half then."""
    data = b"".join(path + b"\0" for path in paths)
    answer = await view.run("check-ignore", "-z", "--stdin", data=data, most=_MOST, seconds=_LIMIT)
    if answer.code in (0, 1):
        return dict.fromkeys(answer.output.split(b"\0")[:-1], IGNORED)
    if answer.code is None:
        raise GitUnusable("git check-ignore did not end.", f"Look there: {view.repository.top}")
    if len(paths) > 1:
        half = len(paths) // 2
        return await _find_ignored(view, paths[:half]) | await _find_ignored(view, paths[half:])
    why = answer.errors.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("fatal: ")
    return dict.fromkeys(paths, f"git says: {why}")
