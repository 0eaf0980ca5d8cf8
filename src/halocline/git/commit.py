"""Commit the files a person chose, with the project's own git, hooks and configuration.

Only the chosen files are committed, whole and as they are on disk. Everything else that is staged stays staged, even
when git or a hook refuses.
"""

from collections.abc import Sequence
from pathlib import Path

from halocline.git.diffs import branch_of
from halocline.git.process import run_git
from halocline.git.programs import run_by_commit
from halocline.git.repository import GitUnusable
from halocline.git.view import open_view
from halocline.ports.revisions import Committed, Uncommitted, UncommittedFile
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import UsageError

TIME_LIMIT = 900.0
"""Seconds; a hook may run the whole test suite."""
MOST_SAID = 8_000
"""Characters shown of what git and its hooks printed; the last ones are kept."""
_MOST_READ = 2_000_000
_FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")
_NAMES = {"?": "new", "A": "new", "D": "deleted"}
_UNDER_WAY = {
    "MERGE_HEAD": "A merge",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
    "rebase-merge": "A rebase",
    "rebase-apply": "A rebase",
}


async def list_uncommitted(workspace: Path) -> Uncommitted:
    """List uncommitted changes below the workspace; runs nothing. Raises UsageError where there is no repository."""
    words = ("status", "--porcelain=v1", "--branch", "-z", "--no-renames", "--untracked-files=all")
    try:
        async with open_view(workspace) as view:
            answer = await view.run(*words, "--ignore-submodules=dirty", "--", ".")
            repository = view.repository
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error
    if not answer.is_good:
        raise _refusal_error(answer.errors)
    head, *entries = answer.text.rstrip("\0").split("\0")
    files = tuple(_uncommitted_file(entry, repository.prefix) for entry in entries if entry)
    branch = "" if head.startswith("## HEAD (") else branch_of(head)
    return Uncommitted(branch, files, _find_operation(repository.folder), run_by_commit(repository))


async def read_committed(workspace: Path, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the content of these files in the newest commit; those that it does not have are left out."""
    found: dict[str, bytes] = {}
    async with open_view(workspace) as view:
        for path in paths:
            answer = await view.run("cat-file", "blob", f"HEAD:{view.repository.prefix}{path}")
            if answer.code == 0:
                found[path] = answer.output
    return found


async def commit_files(
    workspace: Path, paths: Sequence[str], message: str, environment: ChildEnvironment, runs: Sequence[str]
) -> Committed:
    """Commit these files, given relative to the workspace. Hooks get `environment`.

    `runs` are the repository's programs that the person saw and approved.

    Raises:
        UsageError: nothing was committed; the text says why, in git's words when it refused.
    """
    git = _Git(workspace, environment)
    found = await list_uncommitted(workspace)
    if unseen := [program for program in found.runs if program not in runs]:
        raise UsageError(
            f"The commit would run programs you have not seen: {', '.join(unseen)}. Nothing was committed.",
            "Open Commit again and review what it runs.",
        )
    files = {file.path: file for file in found.files}
    if gone := [path for path in paths if path not in files]:
        raise UsageError(f"{gone[0]} has no changes to commit.", "Reload the list of files.")
    new = [path for path in paths if not files[path].known]
    if new:
        await git.run("add", "--intent-to-add", *_FROM_INPUT, given=new)
    try:
        words = ("commit", "--only", "--no-status", "--cleanup=whitespace", f"--message={message}")
        answer = await git.run(*words, *_FROM_INPUT, given=paths)
    except BaseException:
        if new:
            await git.run("rm", "--cached", "--quiet", "--force", *_FROM_INPUT, given=new)
        raise
    name, _, subject = (await git.run("log", "-1", "--no-show-signature", "--format=%h%x00%s")).strip().partition("\0")
    return Committed(name, subject, len(paths), answer[-MOST_SAID:].strip())


def _uncommitted_file(entry: str, prefix: str) -> UncommittedFile:
    """Parse a status entry: the first letter is the index, the second the work tree."""
    index, disk, path = entry[0], entry[1], entry[3:].removeprefix(prefix)
    if "U" in entry[:2] or entry[:2] in ("AA", "DD"):
        return UncommittedFile(path, "in conflict", False, True, True)
    state = "new" if index == "A" and disk != "D" else _NAMES.get(disk if disk != " " else index, "changed")
    return UncommittedFile(path, state, index not in " ?", disk != " ", index != "?")


def _find_operation(place: Path) -> str:
    return next((name for file, name in _UNDER_WAY.items() if (place / file).exists()), "")


class _Git:
    """The user's git in a folder, as they configured it. It never prompts on a terminal."""

    def __init__(self, folder: Path, environment: ChildEnvironment) -> None:
        self._folder = folder
        self._environment = declare_environment(environment, {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"})

    async def run(self, *words: str, given: Sequence[str] = ()) -> str:
        """Return its output. `given` are paths for its stdin. Raises UsageError with git's message."""
        data = "\0".join(f":(literal){path}" for path in given).encode()
        try:
            answer = await run_git(
                self._folder,
                self._environment,
                ("-c", "core.quotePath=false", *words),
                data=data,
                most=_MOST_READ,
                seconds=TIME_LIMIT,
                is_one_stream=words[0] == "commit",
            )
        except GitUnusable as error:
            raise UsageError(error.text, "Check the repository's hooks.") from error
        if not answer.is_good:
            raise _refusal_error(answer.errors or answer.output)
        return answer.text


def _refusal_error(answer: bytes) -> UsageError:
    text = answer.decode("utf-8", "replace").strip()[-MOST_SAID:]
    return UsageError(f"git failed: {text or 'it gave no reason'}", "Nothing was committed.")
