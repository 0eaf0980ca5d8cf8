"""Push the checked-out branch to its remote: what would be sent where, and the push of exactly that.

A push is never forced, goes to the branch of the same name, and sends the commit that was shown. Nothing can be asked
for here: git signs in by itself, or says that it cannot.
"""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from halocline.git.process import run_git
from halocline.git.programs import run_by_push
from halocline.git.repository import GitUnusable, Repository, ask_git
from halocline.git.view import View, open_view
from halocline.ports.revisions import PushPlan
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import UsageError

TIME_LIMIT = 900.0
"""Seconds; a hook may run the whole test suite."""
MOST_COMMITS = 200
"""Commits that are listed."""
MOST_SAID = 8_000
_MOST_READ = 2_000_000
_BEFORE = "refs/heads/"
_NAME = re.compile(r"(?!-)[\w./+#@%=-]{1,200}")
"""Names of remotes and branches that are passed on."""
_REMOTE_HOOKS = (
    *("pre-receive", "update", "post-receive", "post-update"),
    *("reference-transaction", "push-to-checkout"),
)
_HELPER = re.compile(r"[^/]*::|-")
"""An address that names a program, or is no address."""
_PASSWORD = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*@|(?<=https://)[^/\s@]+@|(?<=http://)[^/\s@]+@")
_SILENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
    "GIT_EDITOR": "true",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
}
_REJECTED = r"\[rejected\]|non-fast-forward|fetch first"
_NOT_SIGNED_IN = (
    r"(?i)authentication failed|could not read (username|password)|permission denied|terminal prompts disabled"
    r"|host key verification failed"
)
_HINTS = {
    _REJECTED: "The remote has commits that this branch lacks. Merge them in a terminal, then push again.",
    _NOT_SIGNED_IN: "git could not sign in, and nothing can be asked for here. Push once in a terminal.",
}


async def plan_push(workspace: Path) -> PushPlan:
    """Find out what a push would send; reaches no server and runs nothing. Raises UsageError."""
    try:
        async with open_view(workspace) as view:
            return await _plan_in(view, workspace)
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error


async def push_branch(workspace: Path, shown: PushPlan, environment: ChildEnvironment) -> str:
    """Push what was shown to the person, and return git's output. Raises UsageError with git's message."""
    plan = await plan_push(workspace)
    for name in ("remote", "urls", "branch", "head", "runs"):
        if getattr(plan, name) != getattr(shown, name):
            raise UsageError("The repository has changed meanwhile. Nothing was pushed.", "Open Push again.")
    words = ("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no")
    output = await _run(workspace, environment, *words, plan.remote, f"{plan.head}:{_BEFORE}{plan.branch}")
    if plan.is_new:
        with suppress(UsageError):  # the remote is not followed as usual
            follows = f"--set-upstream-to={plan.remote}/{plan.branch}"
            await _run(workspace, environment, "branch", follows, plan.branch)
    return output[-MOST_SAID:]


class RemoteBranches(NamedTuple):
    """Branches of a remote: its main one, and the commits of those that were asked for."""

    default: str
    commits: dict[str, str]


async def read_remote(folder: Path, url: str, names: Iterable[str], environment: ChildEnvironment) -> RemoteBranches:
    """Ask a remote for branches, from a git folder; `*` in a name is any text. Raises UsageError with git's message."""
    wanted = [f"{_BEFORE}{name}" for name in names if name]
    listed = await _run(folder, environment, "ls-remote", "--symref", "--", url, "HEAD", *wanted)
    rows = [(ref, value) for value, _, ref in (line.partition("\t") for line in listed.splitlines())]
    head = f"ref: {_BEFORE}"
    default = next((value.removeprefix(head) for ref, value in rows if ref == "HEAD" and value.startswith(head)), "")
    branches = ((ref.removeprefix(_BEFORE), value) for ref, value in rows if ref.startswith(_BEFORE))
    return RemoteBranches(default, dict(branches))


async def push_new_branch(folder: Path, url: str, commit: str, branch: str, environment: ChildEnvironment) -> None:
    """Push a commit of a git folder as a branch that the remote does not have. Raises UsageError with git's message."""
    full = f"{_BEFORE}{branch}"
    lease = f"--force-with-lease={full}:"  # forces nothing: it lets the push fail if the branch is there by now
    words = ("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--no-verify", lease)
    await _run(folder, environment, *words, "--", url, f"{commit}:{full}")


async def is_published(workspace: Path, remote: str, commit: str) -> bool:
    """True if a branch of the remote has a commit, as far as is known here. Raises UsageError."""
    try:
        async with open_view(workspace) as view:
            words = ("for-each-ref", "--count=1", "--format=%(refname)", f"--contains={commit}")
            return bool((await view.run(*words, f"refs/remotes/{remote}/")).text.strip())
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error


def hide_password(text: str) -> str:
    """Return a text without user names and passwords in addresses."""
    return _PASSWORD.sub("", text)


async def _plan_in(view: View, workspace: Path) -> PushPlan:
    head = (await view.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).text.strip()
    branch = (await view.run("symbolic-ref", "--quiet", "--short", "HEAD")).text.strip()
    if not head or not branch:
        raise UsageError("There is no branch to push.", "Commit, or check out a branch.")
    remote = find_remote(view.repository, branch)
    if not _NAME.fullmatch(remote) or not _NAME.fullmatch(branch):
        raise UsageError(f"The name of {remote} or {branch} is unusual.", "Push in a terminal.")
    known = f"refs/remotes/{remote}/{branch}"
    is_new = (await view.run("rev-parse", "--verify", "--quiet", known)).code != 0
    lacking = (head, "--not", f"--remotes={remote}") if is_new else (head, f"^{known}")
    listed = await view.run("log", f"--max-count={MOST_COMMITS}", "--format=%h%x00%s", *lacking)
    commits = tuple((name, subject) for name, _, subject in (one.partition("\0") for one in listed.text.splitlines()))
    behind = 0 if is_new else int((await view.run("rev-list", "--count", f"{head}..{known}")).text or 0)
    urls = await asyncio.to_thread(find_urls, workspace, remote)
    runs = (*run_by_push(view.repository), *(hook for url in urls for hook in _list_remote_hooks(workspace, url)))
    return PushPlan(branch, remote, tuple(map(hide_password, urls)), head, commits, is_new, behind, runs)


def find_remote(repository: Repository, branch: str) -> str:
    """Return the remote that git would push a branch to. Raises UsageError if there is none."""
    values = {setting.key: setting.value for setting in repository.settings}
    remotes = [
        key.split(".", 1)[1].rpartition(".")[0] for key in values if re.fullmatch(r"remote\..+\.(push)?url", key)
    ]
    wanted = (f"branch.{branch}.pushremote", "remote.pushdefault", f"branch.{branch}.remote")
    chosen = next((values[key] for key in wanted if key in values), "origin")
    if chosen in remotes:
        return chosen
    if len(set(remotes)) == 1:
        return remotes[0]
    raise UsageError("This repository has no remote to push to.", "Add one in a terminal: git remote add origin URL")


def find_urls(workspace: Path, remote: str) -> list[str]:
    """Return the addresses that a push to a remote goes to. Raises UsageError for one that names a program."""
    urls = ask_git(workspace, os.environ, "remote", "get-url", "--push", "--all", "--", remote).splitlines()
    if strange := [url for url in urls if _HELPER.match(url)]:
        raise UsageError(f"The address of {remote} names a program: {strange[0]}", "Push in a terminal.")
    return urls


def _list_remote_hooks(workspace: Path, url: str) -> Iterator[str]:
    """Yield the hooks of a remote on this machine, which a push runs."""
    folder = workspace / os.path.expanduser(url.removeprefix("file://"))
    for hooks in (folder / "hooks", folder / ".git" / "hooks"):
        for name in _REMOTE_HOOKS:
            if os.access(hooks / name, os.X_OK):
                yield str(hooks / name)


async def _run(workspace: Path, environment: ChildEnvironment, *words: str) -> str:
    own = declare_environment(environment, _SILENT)
    try:
        answer = await run_git(workspace, own, words, most=_MOST_READ, seconds=TIME_LIMIT, is_one_stream=True)
    except GitUnusable as error:
        raise UsageError(error.text, "Push in a terminal.") from error
    text = hide_password(answer.text).strip()
    if not answer.is_good:
        why = text[-MOST_SAID:] or "it gave no reason"
        raise UsageError(f"git failed: {why}", find_hint(why, _HINTS, "Nothing was pushed."))
    return text


def find_hint(text: str, hints: dict[str, str], default: str) -> str:
    """Return what to do about an error message."""
    return next((hint for pattern, hint in hints.items() if re.search(pattern, text)), default)
