"""Open a pull request on GitHub for a branch that was pushed, through GitHub's own program `gh`.

`gh` signs in by itself and runs git; the variables that it gets keep that git from the repository's programs.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from halocline.git.environment import looking_environment, search_path
from halocline.git.process import run_program
from halocline.git.push import find_hint, find_remote, find_urls
from halocline.git.repository import GitUnusable
from halocline.git.view import View, open_view
from halocline.ports.revisions import PullRequestPlan
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import UsageError

INSTALL = "Install GitHub's program gh (https://cli.github.com) and sign in once: gh auth login"
TOKENS = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""Variables from which gh takes its key."""
LONGEST_TITLE, LONGEST_BODY, MOST_SUBJECTS = 256, 60_000, 50
_SECONDS, _MOST = 120.0, 1_000_000
_PLACE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]+@)?|[^@/:]+@)(?P<host>[\w-]+(?:\.[\w-]+)+)(?::\d+(?=/))?[:/]"
    r"(?P<path>[\w.-]+(?:/[\w.-]+)*?/[\w.-]+?)(?:\.git)?/?"
)
_SSH_NAMES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts that only take ssh at the port of https, for networks that let nothing else out."""
_BASE = re.compile(r"(?!-)[\w./+#-]{1,200}")
_ADDRESS = re.compile(r"https://\S+")
_OWN = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
_HINTS = {
    r"auth login|GH_TOKEN|HTTP 401|401 Unauthorized": "Sign in once in a terminal: {program} auth login",
    r"No commits between": "Choose another base branch, or push first.",
}


async def plan_pull_request(workspace: Path) -> PullRequestPlan:
    """Propose a pull request for the checked-out branch; reaches no server. Raises UsageError."""
    try:
        async with open_view(workspace) as view:
            return await _plan_in(view, workspace)
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error


async def open_pull_request(
    workspace: Path, wanted: PullRequestPlan, environment: ChildEnvironment, *, draft: bool
) -> str:
    """Open a pull request in the repository that was shown; return its address. Raises UsageError with gh's message."""
    title, body = wanted.title.strip(), wanted.body.strip()
    if not title or len(title) > LONGEST_TITLE or len(body) > LONGEST_BODY or not _BASE.fullmatch(wanted.base):
        raise UsageError("The title, description or base branch is empty, too long or not text.", "Change it.")
    plan = await plan_pull_request(workspace)
    if (plan.repository, plan.branch) != (wanted.repository, wanted.branch) or not plan.repository:
        raise UsageError("The repository has changed meanwhile. No pull request was opened.", "Open Push again.")
    program = find_gh(workspace)
    if program is None:
        raise UsageError("gh was not found on the PATH.", INSTALL)
    place = (f"--repo={plan.repository}", f"--head={plan.branch}", f"--base={wanted.base}")
    words = ("pr", "create", *place, f"--title={title}", "--body-file=-", *(("--draft",) if draft else ()))
    return find_link(await ask_code_host(program, words, workspace, environment, body.encode()))


async def ask_code_host(
    program: str, words: Sequence[str], folder: Path, environment: ChildEnvironment, data: bytes = b""
) -> str:
    """Run gh or glab and return what it prints. Raises UsageError with its message."""
    name = os.path.basename(program)
    own = declare_environment(environment, {**looking_environment(), **_OWN})
    try:
        answer = await run_program((program, *words), folder, own, data=data, most=_MOST, seconds=_SECONDS)
    except GitUnusable as error:
        raise UsageError(error.text, "No pull request was opened.") from error
    if not answer.is_good:
        text = (answer.errors or answer.output).decode("utf-8", "replace").strip()
        hints = {pattern: hint.format(program=name) for pattern, hint in _HINTS.items()}
        raise UsageError(f"{name} failed: {text or 'no reason'}", find_hint(text, hints, "No pull request was opened."))
    return answer.text


def find_link(text: str) -> str:
    """Return the address that a code host's program printed last. Raises UsageError if there is none."""
    found: list[str] = _ADDRESS.findall(text)
    if not found:
        raise UsageError(f"gh failed: {text.strip() or 'no reason'}", "No pull request was opened.")
    return found[-1]


def find_gh(workspace: Path, name: str = "gh") -> str | None:
    """Return GitHub's program, or another code host's, looked up outside the workspace."""
    import shutil

    return shutil.which(name, path=search_path(os.environ.get("PATH", os.defpath), os.fspath(workspace)))


def find_place(url: str) -> str:
    """Return host/owner/name of a remote's address; empty if it has another form."""
    host, path = split_address(url)
    return f"{host}/{path}" if path.count("/") == 1 else ""


def split_address(url: str) -> tuple[str, str]:
    """Return the host of a remote's address, and the path of the repository there; both empty for another form."""
    found = _PLACE.fullmatch(url)
    if not found:
        return "", ""
    host = found["host"].lower()
    return _SSH_NAMES.get(host, host), found["path"]


async def _plan_in(view: View, workspace: Path) -> PullRequestPlan:
    branch = (await view.run("symbolic-ref", "--quiet", "--short", "HEAD")).text.strip()
    remote = find_remote(view.repository, branch)
    place = find_place(find_urls(workspace, remote)[0])
    base = await _find_base(view, remote)
    range = f"refs/remotes/{remote}/{base}..HEAD"
    listed = await view.run("log", f"--max-count={MOST_SUBJECTS}", "--reverse", "--format=%s%x00%b%x01", range)
    messages = [one.strip("\n").partition("\0") for one in listed.text.split("\1") if one.strip()]
    title, body = messages[0][::2] if messages else (branch, "")
    if len(messages) > 1:
        body = "\n".join(f"- {subject}" for subject, _, _ in messages)
    return PullRequestPlan(place, branch, base, title, body.strip(), find_gh(workspace) is not None)


async def _find_base(view: View, remote: str) -> str:
    """Return the remote's default branch, as far as it is known here."""
    named = await view.run("symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote}/HEAD")
    if name := named.text.strip().removeprefix(f"{remote}/"):
        return name
    for name in ("main", "master"):
        if (await view.run("rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{name}")).code == 0:
            return name
    return "main"
