"""Variables that decide what later programs run or where they look; setting one does more than change the shell."""

import re

from halocline.policy.shell.findings import Rule
from halocline.policy.shell.syntax.tree import Word
from halocline.protocol.patterns import compile_later

_STEERING = compile_later(
    r"PATH|LD_\w+|DYLD_\w+|\w*_?COMMAND|\w*PAGER|GIT_\w+|\w*EDITOR|VISUAL|BROWSER|SHELL|BASH\w*|ENV|ZDOTDIR|IFS|PS\d|PROMPT\w*"
    r"|HOME|XDG_\w+|HALOCLINE\w*|\w*_PROXY|NODE_OPTIONS|PYTHON(STARTUP|HOME|INSPECT|BREAKPOINT)|PERL\w+|RUBY(OPT|LIB)"
    r"|\w*JAVA_OPTIONS|JAVA_TOOL\w*|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|MFLAGS|\w*WRAPPER|\w*RUNNER|NPM_CONFIG\w*|PIP_\w+|UV_\w+"
    r"|\w*_OPTIONS|RSYNC\w*|LESS\w*|SSH_\w+|SUDO\w*|CDPATH|GLOBIGNORE|POSIXLY\w*|EXECIGNORE|FCEDIT|HIST\w+|TMPDIR",
    re.IGNORECASE,
)
"""Variables that decide what other programs run or where they look."""


def rule_of_variables(assignments: tuple[tuple[str, Word], ...]) -> Rule:
    """Return the rule for setting these variables; commands in their values are judged separately."""
    for name, _ in assignments:
        if "[" in name or _STEERING.fullmatch(name.rstrip("+")):
            return Rule.UNKNOWN
    return Rule.SHELL
