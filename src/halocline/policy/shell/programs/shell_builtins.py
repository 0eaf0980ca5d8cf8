"""Judge builtins that change only the shell, or print text that is known only when they run."""

import re
from collections.abc import Iterable

from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.places import judge_listing
from halocline.policy.shell.syntax.tree import Simple
from halocline.policy.shell.syntax.words import DECLARES
from halocline.policy.shell.values.ground import Ground
from halocline.policy.word_tables import read_words
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

BUILTINS = frozenset(read_words(__file__)["builtins"])
_PRINTERS = frozenset({"echo", "printf", "test", "["})
"""Builtins that may get words known only when they run."""
_STEERING = compile_later(
    r"PATH|LD_\w+|DYLD_\w+|\w*_?COMMAND|\w*PAGER|GIT_\w+|\w*EDITOR|VISUAL|BROWSER|SHELL|BASH\w*|ENV|ZDOTDIR|IFS|PS\d|PROMPT\w*"
    r"|HOME|XDG_\w+|HALOCLINE\w*|\w*_PROXY|NODE_OPTIONS|PYTHON(STARTUP|HOME|INSPECT|BREAKPOINT)|PERL\w+|RUBY(OPT|LIB)"
    r"|\w*JAVA_OPTIONS|JAVA_TOOL\w*|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|MFLAGS|\w*WRAPPER|\w*RUNNER|NPM_CONFIG\w*|PIP_\w+|UV_\w+"
    r"|\w*_OPTIONS|RSYNC\w*|LESS\w*|SSH_\w+|SUDO\w*|CDPATH|GLOBIGNORE|POSIXLY\w*|EXECIGNORE|FCEDIT|HIST\w+|TMPDIR",
    re.IGNORECASE,
)
"""Variables that decide what other programs run or where they look."""
_SECRET_NAME = compile_later(r"\$\{?\w*(KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH)", re.IGNORECASE)


def judge_shell(name: str, simple: Simple, ground: Ground) -> Finding | None:
    """Judge a builtin with words that the tables of readers do not know; None for a program, or a word too unsure."""
    if name in _PRINTERS:
        if any(_SECRET_NAME.search(word.source) for word in simple.words[1:] if word.dynamic):
            part = make_part(simple.source, Effect.READ_ONLY, "it may show a secret variable")
            return Finding(part, Rule.ENVIRONMENT)
        listed = judge_listing(simple.source, simple.words[1:], ground)
        return listed or unknown_finding(simple.source, "it prints text that is known only when it runs", Rule.SHELL)
    if name in DECLARES:
        return _judge_declaring(simple)
    if name not in BUILTINS or any(word.dynamic for word in simple.words[1:]):
        return None
    return unknown_finding(simple.source, "it changes only the shell", Rule.SHELL)


def _judge_declaring(simple: Simple) -> Finding | None:
    flags = [word.source for word in simple.words[1:] if word.source.startswith("-")]
    names = [(one.value or one.source).partition("=")[0] for one in simple.words[1:] if one.source[:1] != "-"]
    harmless = set(flags) <= {"-a", "-A", "-i", "-r", "-x", "-g"}
    if harmless and rule_of_variables(names) is Rule.SHELL:
        return unknown_finding(simple.source, "it sets variables", Rule.SHELL)
    return None


def rule_of_variables(names: Iterable[str]) -> Rule:
    """Return the rule for setting these variables; commands in their values are judged separately."""
    steers = any("[" in name or _STEERING.fullmatch(name.rstrip("+")) for name in names)
    return Rule.UNKNOWN if steers else Rule.SHELL
