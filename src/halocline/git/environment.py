"""What git is started with: nothing inherited that leads it elsewhere or holds a key, and no helpers, locks or network.

Names of programs are looked up where the person has theirs, never in the folder that git looks at.
"""

import os
import re
from collections.abc import Mapping

from halocline.protocol.child_environment import ChildEnvironment, child_environment, declare_environment

OVERRIDES = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.editor": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "log.showSignature": "false",
    "diff.external": "",
    "diff.submodule": "short",
    "stash.showPatch": "false",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "maintenance.auto": "false",
    "gc.auto": "0",
}
"""Settings that go over those of a repository while a command that only looks runs."""
_KEPT = re.compile(r"HOME|USER|LOGNAME|XDG_CONFIG_HOME|SYSTEMROOT|TMPDIR")


def looking_environment() -> dict[str, str]:
    """What keeps git from a repository's helpers, locks, questions and the network; to be added to what is there."""
    pinned = {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_COUNT": str(len(OVERRIDES)),
    }
    for number, (key, value) in enumerate(OVERRIDES.items()):
        pinned |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return pinned


def bare_environment(environment: Mapping[str, str], folder: str) -> ChildEnvironment:
    """The whole environment of a git that only looks at a folder."""
    return declare_environment(plain_environment(environment, folder), looking_environment())


def plain_environment(environment: Mapping[str, str], folder: str) -> ChildEnvironment:
    """What any git of ours needs to know of the person and the machine, and no more."""
    kept = child_environment({name: value for name, value in environment.items() if _KEPT.fullmatch(name)})
    return declare_environment(kept, {"PATH": git_path(environment, folder), "LC_ALL": "C"})


def git_path(environment: Mapping[str, str], folder: str) -> str:
    """The folders of the PATH in which git is looked for: none of a project that the folder is in."""
    place = project = os.path.realpath(folder)
    while place != (place := os.path.dirname(place)):
        if os.path.lexists(os.path.join(place, ".git")):
            project = place
    return search_path(environment.get("PATH", os.defpath), project)


def search_path(path: str, folder: str) -> str:
    """The folders of a PATH that are absolute and lead nowhere into a folder."""
    real = os.path.realpath(folder) if folder else ""
    folders = [place for place in path.split(os.pathsep) if os.path.isabs(place)]
    outside = [place for place in folders if not real or not _is_within(os.path.realpath(place), real)]
    return os.pathsep.join(outside) or os.defpath


def find_git(path: str) -> str | None:
    """The git of a PATH."""
    import shutil

    return shutil.which("git", path=path)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
