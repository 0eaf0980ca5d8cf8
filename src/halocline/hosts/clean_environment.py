"""The environment of a command that was judged to only read: nothing in it runs programs or loads code.

Names are looked up where they were when Halocline started, but never in the workspace. What is not known to be harmless
is not handed on.
"""

import os
import re
from collections.abc import Mapping

from halocline.policy.shell.git import environment as of_git

_KEPT = re.compile(
    r"HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR|SHELL|COLUMNS|LINES|NO_COLOR|SYSTEMROOT|XDG_[A-Z_]+|"
    r"CARGO_HOME|RUSTUP_HOME|GOROOT|GOPATH|GOMODCACHE|JAVA_HOME|NVM_DIR|PYENV_ROOT|RBENV_ROOT|VOLTA_HOME|ASDF_DIR|HALOCLINE_COMMAND"
)
_PINNED = {
    "PAGER": "cat",
    "TERM": "dumb",
    "GOTOOLCHAIN": "local",
    "GOPROXY": "off",
    "GOFLAGS": "-buildvcs=false",
    "GOVCS": "*:off",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    "NPM_CONFIG_LOGS_MAX": "0",
    "NPM_CONFIG_OFFLINE": "true",
    "PYTHONDONTWRITEBYTECODE": "1",
    "RUSTUP_AUTO_INSTALL": "0",
    "COREPACK_ENABLE_NETWORK": "0",
}


def clean(environment: Mapping[str, str], workspace: str) -> dict[str, str]:
    """The environment to run in, made from the one that Halocline started with."""
    kept = {name: value for name, value in environment.items() if _KEPT.fullmatch(name)}
    return kept | _PINNED | of_git() | {"PATH": _path(environment.get("PATH", os.defpath), workspace)}


def _path(path: str, workspace: str) -> str:
    """The folders of a PATH that are absolute and lead nowhere into the workspace."""
    real = os.path.realpath(workspace) if workspace else ""
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    outside = [folder for folder in folders if not real or not _within(os.path.realpath(folder), real)]
    return os.pathsep.join(outside) or os.defpath


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
