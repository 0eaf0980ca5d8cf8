"""Clone a repository that a person names, to read its files: nothing of it is run.

What must stay true: no hook, filter, submodule or helper runs, whatever the repository or its address says, and no
password is passed on.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from halocline.git.environment import plain_environment
from halocline.git.process import Answer, run_git
from halocline.git.repository import GitUnusable
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.errors import UsageError

TIME_LIMIT = 300.0
_MOST = 100_000
_URL = re.compile(r"(?P<scheme>https|ssh)://(?:(?P<user>[^@/]*)@)?[A-Za-z0-9\[][^\s@]*")
_SHORT = re.compile(r"[\w.-]+@[A-Za-z0-9][\w.-]*:(?!:)[^\s]+")
"""The short form of ssh: `git@host:path`."""
_KEPT = ("SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")
HINT = "Give an https:// or ssh:// address, or the folder of a repository."


def is_address(text: str) -> bool:
    """True if a text is meant as the address of a repository, be it one that is refused."""
    return "://" in text or "::" in text or _SHORT.fullmatch(text) is not None


def check_address(text: str) -> str:
    """Return an address for git. Raises UsageError for one that is refused."""
    if os.path.isdir(text):
        return f"file://{os.path.realpath(text)}"
    found = _URL.fullmatch(text)
    if found and (":" in (found["user"] or "") or (found["user"] and found["scheme"] == "https")):
        raise UsageError("The address has a name or password in it.", "Leave them out; use ssh for private ones.")
    if found or _SHORT.fullmatch(text):
        return text
    raise UsageError(f"{text[:200]!r} is no address of a repository that can be cloned here.", HINT)


async def clone_repository(text: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Clone the newest commit into a new folder. Raises UsageError with git's message."""
    address = check_address(text)
    await _clone(text, address, folder, environment, "--depth=1", "--no-tags")


async def mirror_repository(text: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Clone all branches and tags, without files, into a new folder. Raises UsageError with git's message."""
    await _clone(text, check_address(text), folder, environment, "--mirror")


async def update_mirror(mirror: Path, environment: Mapping[str, str]) -> None:
    """Fetch what is new. Raises UsageError with git's message."""
    place = _build_environment(mirror, environment, "file:https:ssh")
    _require_good(await _run(mirror, place, "fetch", "--quiet", "--prune", "origin"), mirror)


async def clone_mirror(
    mirror: Path, revision: str, folder: Path, environment: Mapping[str, str], *, borrows: bool = True
) -> str:
    """Clone a mirror into a new folder, which may borrow its objects; return the commit that is checked out there.

    Raises UsageError, also for a revision that it does not have.
    """
    how = "--shared" if borrows else "--no-hardlinks"
    await _clone(os.fspath(mirror), os.fspath(mirror), folder, environment, how, "--no-checkout")
    place = _build_environment(folder, environment, "file")
    for name in (revision, f"refs/remotes/origin/{revision}") if revision else ("HEAD",):
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if commit := (await _run(folder, place, *words)).text.strip():
            _require_good(await _run(folder, place, "checkout", "--quiet", "--detach", commit), folder)
            return commit
    raise UsageError(f"The repository has no commit, branch or tag {revision!r}.", "Name another revision.")


async def _clone(text: str, address: str, folder: Path, environment: Mapping[str, str], *how: str) -> None:
    words = ("clone", "--quiet", *how, "--template=", "--no-recurse-submodules", "--config", "core.hooksPath=/dev/null")
    place = _build_environment(
        folder.parent, environment, "file" if address.startswith(("file:", "/")) else "https:ssh"
    )
    answer = await _run(folder.parent, place, *words, "--", address, os.fspath(folder))
    if not answer.is_good:
        reason = " ".join(answer.errors.decode(errors="replace").strip().partition("\n\n")[0].split())
        raise UsageError(f"git could not clone it: {reason}", f"Try it by hand: git clone {text}")


def _build_environment(folder: Path, environment: Mapping[str, str], protocols: str) -> ChildEnvironment:
    silent = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_CONFIG_NOSYSTEM": "1",  # so that no filter, helper or other address is defined
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{name: environment[name] for name in _KEPT if name in environment},
    }
    return declare_environment(plain_environment(environment, os.fspath(folder)), silent)


async def _run(folder: Path, environment: ChildEnvironment, *words: str) -> Answer:
    try:
        return await run_git(folder, environment, words, most=_MOST, seconds=TIME_LIMIT)
    except GitUnusable as error:
        raise UsageError(error.text, error.hint) from error


def _require_good(answer: Answer, folder: Path) -> None:
    if not answer.is_good:
        raise UsageError(f"git could not check out {folder}: {answer.errors.decode(errors='replace').strip()}", HINT)
