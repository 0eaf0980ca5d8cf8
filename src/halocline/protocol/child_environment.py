"""The environment of every process that Halocline starts: no secrets, nothing that changes what programs do.

Only this module makes a `ChildEnvironment`, and every start of a process takes one: a test holds both.
"""

import os.path
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NewType

from halocline.protocol.secrets.values import is_secret_name

ChildEnvironment = NewType("ChildEnvironment", dict[str, str])

_REDIRECTS = re.compile(
    r"(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES"
    r"|GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX)"
    r"|GIT_(?:CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|EXTERNAL_DIFF|EXEC_PATH|PROXY_COMMAND|TRACE.*))\Z",
    re.DOTALL,
)
"""Of git those that halo inherits when one of git's hooks starts it; they would lead to another repository."""
_LOADS_CODE = re.compile(r"--?(?:r|require|import|loader|experimental-loader|inspect\S*|openssl-config)\b")
_HARMLESS = re.compile(
    r"(?:OLD)?PWD|PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|SYSTEMROOT|LS_COLORS|SSH_AUTH_SOCK|SSH_AGENT_PID"
    r"|XDG_[A-Z]+_(?:HOME|DIRS?)|PYTHONPATH|PYTHONHOME|LD_LIBRARY_PATH"
)
"""Variables that programs need to work at all. The socket of an SSH agent signs, but gives no key away."""
_ENDS_IN_KEY = re.compile(r"(?i)keys?(?:_|\Z)")
_NO_SECRET = re.compile(r"(?i)(?:true|false|yes|no|on|off|none|null|\d{1,4})?|[a-z][a-z0-9+.-]*://[^\s@?]+")
"""A switch, a number, an address without a password; by its form it may be a secret all the same."""
_PROXY = re.compile(r"(?i)(?:https?|all|ftp|socks)_proxy|npm_config_(?:https_)?proxy")
_LIKE_A_KEY = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@|(?:gh[pousr]_|github_pat_|glpat-|npm_|sk-|xox[abprs]-|AKIA|AIza)[\w-]{12}"
    r"|eyJ[\w-]{8,}\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY"
)
"""Also parts of keys, which in a text would be too little to go by."""
_USER_OF_URL = re.compile(r"(?<=://)[^/\s]*@")
_AGENTS = re.compile(
    r"(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GPG_AGENT_INFO|DBUS_\w+|DOCKER_HOST|XDG_RUNTIME_DIR|XAUTHORITY"
    r"|DISPLAY|WAYLAND_DISPLAY|KUBECONFIG|GIT_SSH(?:_COMMAND)?|GIT_ASKPASS|AWS_\w+|GOOGLE_APPLICATION_CREDENTIALS)\Z"
)
NO_NAMES: frozenset[str] = frozenset()


def child_environment(
    environment: Mapping[str, str], hidden: frozenset[str] = NO_NAMES, passed: Iterable[str] = ()
) -> ChildEnvironment:
    """The environment without what looks like a secret; a proxy loses its password only.

    `hidden` are further variables to leave out: those of model keys. `passed` are names and patterns that a person
    passes on nevertheless; a variable that is hidden is passed on by its whole name only.
    """
    passed = tuple(passed)
    kept: dict[str, str] = {}
    for name, value in environment.items():
        if _REDIRECTS.match(name) or _loads_code(name, value):
            continue
        if is_passed(name, hidden, passed):
            kept[name] = value
        elif _PROXY.fullmatch(name):
            kept[name] = _USER_OF_URL.sub("", value)
        elif name not in hidden and not looks_secret(name, value):
            kept[name] = value
    return ChildEnvironment(kept)


def declare_environment(environment: ChildEnvironment, added: Mapping[str, str | None]) -> ChildEnvironment:
    """The environment with what is set for just this process, by Halocline or its own settings; None unsets."""
    merged: dict[str, str | None] = {**environment, **added}
    return ChildEnvironment({name: value for name, value in merged.items() if value is not None})


def in_sandbox(environment: ChildEnvironment, passed: Iterable[str] = ()) -> ChildEnvironment:
    """Return what is left in a sandbox, where no agent or desktop may be reached."""
    names = tuple(passed)
    return ChildEnvironment(
        {name: value for name, value in environment.items() if not _AGENTS.match(name) or _matches_any(name, names)}
    )


def withheld_names(
    environment: Mapping[str, str], hidden: frozenset[str] = NO_NAMES, passed: Iterable[str] = ()
) -> tuple[str, ...]:
    """The names of what is left out as a secret, or loses a password."""
    given = {name: value for name, value in environment.items() if not _REDIRECTS.match(name)}
    left = child_environment(given, hidden, passed)
    return tuple(sorted(name for name, value in given.items() if left.get(name) != value and name != "NODE_OPTIONS"))


def is_passed(name: str, hidden: frozenset[str], passed: Iterable[str]) -> bool:
    """Tell whether a person passes a variable on."""
    return name in passed if name in hidden else _matches_any(name, passed)


def looks_secret(name: str, value: str) -> bool:
    """Tell whether a variable is a secret by its name, or by what it holds."""
    if _HARMLESS.fullmatch(name):
        return False
    is_named = is_secret_name(name) or bool(_ENDS_IN_KEY.search(name))
    return (is_named and not (_NO_SECRET.fullmatch(value) or _is_place(value))) or _holds_secret(value)


def _is_place(value: str) -> bool:
    """Tell whether a value names a file that is there, as GOOGLE_APPLICATION_CREDENTIALS does."""
    return value.startswith(("/", "~/")) and os.path.lexists(os.path.expanduser(value))


def _holds_secret(value: str) -> bool:
    if len(value) < 8 or _LIKE_A_KEY.search(value):
        return len(value) >= 8
    from halocline.protocol.secrets.random_strings import is_random_string
    from halocline.protocol.secrets.redaction import redact_text  # the first process is soon enough

    return is_random_string(value) or redact_text(value) != value


def _matches_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _loads_code(name: str, value: str) -> bool:
    """Editors put such options there to attach their debugger."""
    return name == "NODE_OPTIONS" and bool(_LOADS_CODE.search(value))
