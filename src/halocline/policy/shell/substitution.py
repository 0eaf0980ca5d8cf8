"""Predict what a simple command prints if that is certain before it runs: `$(cat <<'EOF' …)`, `$(pwd)`, `$(echo x)`."""

import os
from collections.abc import Callable

from halocline.policy.shell.listed_names import names_printed
from halocline.policy.shell.syntax.tree import Node, Simple
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.kept_places import INSIDE
from halocline.policy.shell.values.variables import UNKNOWN, Values
from halocline.protocol.patterns import compile_later

_ECHO_FLAGS = compile_later(r"-[neE]+")
TEMPORARY = "/tmp/tmp.XXXXXXXXXX"
"""Stands for the new file or folder that `mktemp` creates."""


def outputs_of(script: Node, ground: Ground, expand: Callable[[Simple, Ground], Simple]) -> Values:
    """Return the outputs that a command may have, without trailing newlines; a NUL is an unknown one."""
    simple = expand(script, ground) if isinstance(script, Simple) else Simple("", ())
    values = [word.value for word in simple.words]
    known = values and None not in values and not simple.assignments
    found = _output([str(value) for value in values], simple, ground) if known else None
    if found is None:
        names = names_printed((script,), ground, expand)
        return (*(name for name in names if name not in (UNKNOWN, INSIDE)), UNKNOWN)
    # If names may run other programs, or `echo` may interpret backslashes, this is still the likeliest output, and
    # what it leads to must not be missed.
    read = values[0] == "echo" and "\\" in found
    sure = not (read or ground.rebinds or ground.variables.lost)
    return (found.rstrip("\n"),) if sure else (found.rstrip("\n"), UNKNOWN)


def _output(words: list[str], simple: Simple, ground: Ground) -> str | None:
    name, *rest = words
    if name == "cat" and not rest:
        return _text_behind(simple)
    if name == "mktemp":
        return TEMPORARY
    if simple.redirects and not all(one.fd == "2" for one in simple.redirects):
        return None
    match name:
        case "echo" if not _ECHO_FLAGS.fullmatch("".join(rest[:1])):
            return " ".join(rest)
        case "printf" if rest[:1] == ["%s"] and len(rest) == 2:
            return rest[1]
        case "printf" if len(rest) == 1 and not set(rest[0]) & set("%\\-"):
            return rest[0]
        case "pwd" if not rest and len(ground.folders) == 1:
            return ground.folders[0]
        case "dirname" if len(rest) == 1 and not rest[0].startswith("-"):
            return os.path.dirname(rest[0].rstrip("/")) or ("/" if rest[0].startswith("/") else ".")
        case "basename" if len(rest) == 1 and not rest[0].startswith("-"):
            return os.path.basename(rest[0].rstrip("/")) or rest[0][:1]
        case "seq" if 1 <= len(rest) <= 2 and all(word.isdecimal() and len(word) < 4 for word in rest):
            first = int(rest[0]) if len(rest) == 2 else 1
            return "\n".join(map(str, range(first, int(rest[-1]) + 1)))
    return None


def _text_behind(simple: Simple) -> str | None:
    if len(simple.redirects) != 1 or simple.redirects[0].fd not in ("", "0"):
        return None
    redirect = simple.redirects[0]
    if redirect.operator not in ("<<", "<<-", "<<<") or redirect.target is None:
        return None
    return redirect.target.value
