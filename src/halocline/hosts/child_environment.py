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
    r"(?i)(?:^|_)(?:api_?)?(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|auth)(?:_|\Z|s\Z)"
)
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
    return {name: value for name, value in environment.items() if not (_SECRET.search(name) or _AGENTS.match(name))}


def _loads_code(name: str, value: str) -> bool:
    """Editors put such options there to attach their debugger."""
    return name == "NODE_OPTIONS" and bool(_LOADS_CODE.search(value))
