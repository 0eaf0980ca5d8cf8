"""The changes that a commit would hold, for writing its message: what is staged, everything, or chosen files.

They are read through a view, so that no program of the repository runs and nothing is written. The lines of a file that
`judge` keeps back are never read.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from halocline.files import encodings
from halocline.files.opening import open_below, opened_folder, require_regular
from halocline.files.regular import read_from
from halocline.git.diffs import PLAIN
from halocline.git.process import Answer
from halocline.git.view import View, open_view
from halocline.ports.revisions import ChangedFile, CommitDiff
from halocline.protocol.errors import ToolFailure
from halocline.protocol.file_names import make_printable

_NAMES = re.compile(
    r".*\.(?:lock|lockb|min\.\w+|map|snap|pb\.go|pb\.cc|pb\.h|g\.dart|designer\.cs)|.*_pb2(?:_grpc)?\.pyi?"
    r"|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.(?:work\.)?sum|packages\.lock\.json|gradle\.lockfile"
    r"|\.terraform\.lock\.hcl|package\.resolved|module\.bazel\.lock",
    re.IGNORECASE,
)

Judge = Callable[[Path], str]
"""Returns why a file's lines may not be read: empty if they may, `HIDDEN` if not even its name may be shown."""
HIDDEN = "hidden"
BINARY, GENERATED, LARGE, MANY = "binary", "generated", "too large", "too many files"
MOST_READ = 200
"""Files whose lines are read; the others are only listed."""
MOST_LINES = 10_000
LARGEST_NEW = 200_000
"""Bytes of a file that git does not track yet."""
SUBJECTS = 20


async def read_commit_diff(
    workspace: Path, judge_in: Callable[[Path], Judge], *, paths: Sequence[str] = (), everything: bool = False
) -> CommitDiff:
    """Read what is staged; else, or with `everything`, all uncommitted changes of the repository.

    `paths`, relative to the workspace, are instead the files to commit as they are on disk. `judge_in` gets the top
    folder of the repository and returns the judge of its files. Raises ToolFailure.
    """
    async with open_view(workspace) as view:
        head = await _find_head(view)
        named = tuple(f"{view.repository.prefix}{path}" for path in paths)
        compared: tuple[str, ...] = ("--cached", head)
        found = [] if everything or paths else await _list_changed(view, compared)
        if staged := bool(found):
            new = []
        else:
            compared = (head,)
            found = await _list_changed(view, compared, named)
            new = await _list_new(view, named)
        files = _judge_files([*found, *new], view.repository.top, judge_in(view.repository.top))
        shown = await _omit_unread(view, [file for file in files if file.left_out != HIDDEN])
        sections, listed = await _read_sections(view, compared, shown)
        subjects = (await _run(view, "log", f"--max-count={SUBJECTS}", "--no-merges", "--format=%s")).text
    return CommitDiff(staged, listed, len(files) - len(listed), sections, tuple(subjects.splitlines()))


async def _find_head(view: View) -> str:
    """Return the newest commit; before the first one, the empty tree."""
    answer = await _run(view, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if answer.code != 0:
        answer = await _run(view, "hash-object", "-t", "tree", "--stdin")
    return answer.text.strip()


async def _list_changed(view: View, compared: Sequence[str], paths: Sequence[str] = ()) -> list[ChangedFile]:
    """List the tracked files that differ, with their line counts. Raises ToolFailure."""
    words = ("diff", *PLAIN, "--raw", "--numstat", "-z", *compared, "--", *paths)
    fields = iter(_split_fields(await _run_well(view, *words)))
    found: dict[str, ChangedFile] = {}
    for field in fields:
        if field.startswith(":"):
            _, _, _, _, status = field.split(" ")
            old = next(fields) if status[0] in "RC" else ""
            file = ChangedFile(status[0], next(fields), old)
            found.setdefault(file.path, file)
            continue
        added, removed, path = field.split("\t", 2)
        if not path:
            _, path = next(fields), next(fields)
        if path in found:
            counts = (None, None) if added == "-" else (int(added), int(removed))
            left_out = BINARY if added == "-" else LARGE if int(added) + int(removed) > MOST_LINES else ""
            found[path] = replace(found[path], added=counts[0], removed=counts[1], left_out=left_out)
    return list(found.values())


async def _list_new(view: View, paths: Sequence[str]) -> list[ChangedFile]:
    """List the files that git neither tracks nor ignores. Raises ToolFailure."""
    answer = await _run_well(view, "ls-files", "--others", "--exclude-standard", "-z", "--", *paths)
    return [ChangedFile("?", name) for name in _split_fields(answer)]


def _split_fields(answer: Answer) -> list[str]:
    """Split a complete answer at its NUL characters. Raises ToolFailure for one that was cut."""
    if answer.code is None:
        raise ToolFailure("Too many files have changed to describe them. Stage fewer.")
    return [field for field in answer.output.decode("utf-8", "surrogateescape").split("\0") if field]


def _judge_files(files: Iterable[ChangedFile], top: Path, judge: Judge) -> list[ChangedFile]:
    """Say of each file why its lines may not be read; a renamed file counts under both of its names."""
    judged = []
    for file in files:
        reasons = {judge(top / name) for name in (file.path, file.old) if name} - {""}
        reason = HIDDEN if HIDDEN in reasons else next(iter(reasons), file.left_out)
        judged.append(replace(file, left_out=reason))
    return judged


async def _omit_unread(view: View, files: list[ChangedFile]) -> list[ChangedFile]:
    """Also leave out generated files, folders with a repository of their own, and what is too much."""
    readable = [file.path for file in files if not file.left_out]
    generated = await find_generated(view, readable) if readable else frozenset()
    rest = iter(range(MOST_READ))
    kept = []
    for file in files:
        if not file.left_out:
            own = GENERATED if file.path in generated else "a repository" if file.path.endswith("/") else ""
            file = replace(file, left_out=own or ("" if next(rest, None) is not None else MANY))
        kept.append(file)
    return kept


async def _read_sections(
    view: View, compared: Sequence[str], files: Sequence[ChangedFile]
) -> tuple[tuple[str, ...], tuple[ChangedFile, ...]]:
    """Return the diffs, one for each file, and the files with what is now known of new ones. Raises ToolFailure."""
    tracked = [name for file in files if not file.left_out and file.letter != "?" for name in (file.old, file.path)]
    text = ""
    if names := list(filter(None, tracked)):
        text = (await _run_well(view, "diff", *PLAIN, *compared, "--", *names)).patch
    read = await asyncio.to_thread(_read_new_files, view.repository.top, files)
    shown = tuple(file for file, _ in read)
    return (*split_diff(text), *(section for _, section in read if section)), shown


def split_diff(text: str) -> Iterator[str]:
    """Yield the part of a diff for each file. No changed line begins like a part: it has a sign before it."""
    head = "diff --git "
    for part in f"\n{text}".split(f"\n{head}")[1:]:
        yield head + part.rstrip("\n")


def _read_new_files(top: Path, files: Iterable[ChangedFile]) -> list[tuple[ChangedFile, str]]:
    return [_read_new_file(top, file) if file.letter == "?" and not file.left_out else (file, "") for file in files]


def _read_new_file(top: Path, file: ChangedFile) -> tuple[ChangedFile, str]:
    """Return a file that git does not track yet with its diff; a link is not followed."""
    try:
        data = _read_unlinked(top, file.path)
    except OSError:
        return replace(file, left_out="not a regular file"), ""
    if len(data) > LARGEST_NEW:
        return replace(file, left_out=LARGE), ""
    if b"\0" in data:
        return replace(file, left_out=BINARY), ""
    lines = encodings.decode_text(data).removesuffix("\n").split("\n") if data else []
    name = make_printable(file.path)
    head = f"diff --git a/{name} b/{name}\nnew file, not tracked yet\n@@ -0,0 +1,{len(lines)} @@"
    section = "\n".join([head, *(f"+{line}" for line in lines)])
    return replace(file, added=len(lines), removed=0), section


def _read_unlinked(top: Path, name: str) -> bytes:
    """Read the beginning of a file. Raises OSError: it is not a regular file, or a part of its path is a link."""
    with opened_folder(str(top)) as folder:
        descriptor = open_below(folder, name)
    try:
        require_regular(os.fstat(descriptor), name)
        return read_from(descriptor, LARGEST_NEW + 1)
    finally:
        os.close(descriptor)


async def _run(view: View, *words: str) -> Answer:
    """Run git at the top of the repository; names are no patterns."""
    return await view.run("--literal-pathspecs", "-C", str(view.repository.top), *words)


async def _run_well(view: View, *words: str) -> Answer:
    """Do the same; raise ToolFailure if git fails."""
    answer = await _run(view, *words)
    if not answer.is_good:
        raise ToolFailure(f"git {words[0]} failed with exit code {answer.code}.")
    return answer


async def find_generated(view: View, paths: Sequence[str]) -> frozenset[str]:
    """Return those of the paths, given relative to the top folder, that are generated. Raises GitUnusable."""
    top = str(view.repository.top)
    answer = await view.run("-C", top, "check-attr", "-z", "linguist-generated", "--", *paths)
    fields = answer.output.decode("utf-8", "surrogateescape").split("\0")
    marked = dict(zip(fields[::3], fields[2::3], strict=False))
    return frozenset(path for path in paths if _is_generated(path, marked.get(path, "")))


def _is_generated(path: str, mark: str) -> bool:
    if mark in ("unset", "false"):
        return False
    return mark in ("set", "true") or bool(_NAMES.fullmatch(PurePosixPath(path).name))
