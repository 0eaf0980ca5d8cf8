"""What commands do not get of our environment: keys, and what makes shells, loaders and git do something else; pure."""

import re
from collections.abc import Mapping

_REDIRECTS = re.compile(
    r"(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES"
    r"|GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX)"
    r"|GIT_(?:CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|EXTERNAL_DIFF|EXEC_PATH|PROXY_COMMAND|TRACE.*))\Z",
    re.DOTALL,
)
"""Of git those that halo inherits when one of git's hooks starts it; they would lead to another repository."""
_LOADS_CODE = re.compile(r"--?(?:r|require|import|loader|experimental-loader|inspect\S*|openssl-config)\b")
_SECRET = re.compile(
    r"(?i)secret|passw(?:or)?d|passphrase|credential|(?:key|token|jwt|cookie)s?(?:_|\Z)"
    r"|(?:^|_)(?:auth|pass|pat|pwd|dsn|jwt)(?:_|\Z)"
)
_HARMLESS = re.compile(r"(?:OLD)?PWD|GIT_CONFIG_(?:KEY|VALUE)_\d+")
_SECRET_VALUE = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@|(?:gh[pousr]_|github_pat_|glpat-|npm_|sk-|xox[abprs]-|AKIA|AIza)[\w-]{12}"
    r"|eyJ[\w-]{8,}\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY"
)
"""A password in an address, and what is a key by its form, whatever the variable is called."""
_AGENTS = re.compile(
    r"(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GPG_AGENT_INFO|DBUS_\w+|DOCKER_HOST|XDG_RUNTIME_DIR|XAUTHORITY"
    r"|DISPLAY|WAYLAND_DISPLAY|KUBECONFIG|GIT_SSH(?:_COMMAND)?|GIT_ASKPASS|AWS_\w+|GOOGLE_APPLICATION_CREDENTIALS)\Z"
)


def for_commands(environment: Mapping[str, str], hidden: frozenset[str]) -> dict[str, str]:
    """What every command gets; `hidden` are the variables of keys."""
    return {
        name: value
        for name, value in environment.items()
        if name not in hidden and not _REDIRECTS.match(name) and not _loads_code(name, value)
    }


def in_sandbox(environment: Mapping[str, str]) -> dict[str, str]:
    """What is left in a sandbox, where nothing may be reached that a secret opens."""
    return {name: value for name, value in without_secrets(environment).items() if not _AGENTS.match(name)}


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What is left without variables that are secrets by their name or by the form of their value."""
    return {name: value for name, value in environment.items() if not is_secret(name, value)}


def is_secret(name: str, value: str) -> bool:
    if _HARMLESS.fullmatch(name):
        return False
    return bool(_SECRET.search(name) or _SECRET_VALUE.search(value))


def _loads_code(name: str, value: str) -> bool:
    """Editors put such options there to attach their debugger."""
    return name == "NODE_OPTIONS" and bool(_LOADS_CODE.search(value))
