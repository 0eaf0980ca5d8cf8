"""Programs that run another one: taken off, so that the inner command is judged, and put back in the form that runs."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from halocline.policy.shell.actors import RIGHTS, SHELLS
from halocline.policy.shell.findings import Rule
from halocline.policy.shell.tree import Piece, Redirect, Simple, Word

_TIME = re.compile(r"\d+(\.\d+)?[smhd]?")
_NUMBER = re.compile(r"-?\d{1,3}")
_SETS = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_PLAIN_SETS = re.compile(r"(LC_[A-Z]+|LANG|TERM|NO_COLOR|TZ)=[\w.@+/:-]*", re.ASCII)
_TAKES_VALUE = {
    "timeout": "-s -k --signal --kill-after",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p",
    "env": "-u --unset -C --chdir -S --split-string",
    "xargs": "-a -d -E -I -i -L -l -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines",
    "sudo": "-u -g -h -p -C -T -D -R -U --user --group --host --prompt --chdir --chroot",
    "doas": "-u -C",
    "stdbuf": "-i -o -e --input --output --error",
    "watch": "-n --interval",
    "exec": "-a",
    "chronic": "",
    "time": "-f -o --format --output",
    "parallel": "-j -n -P --jobs",
    "flock": "-w -E --timeout",
    "taskset": "-p",
}
_FIRST_IS_OWN = frozenset({"timeout", "flock", "chroot", "taskset"})
_TRANSPARENT = frozenset({"timeout", "nice", "time", "command", "builtin", "env"})
_WRAPPERS = frozenset(
    {*_TAKES_VALUE, "nohup", "setsid", "command", "builtin", "chroot", "busybox", "unbuffer", "caffeinate", "pkexec"}
)
_RUNS_ITS_WORDS = frozenset({"watch", "parallel"})
FED = "its arguments are known only when it runs"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The inner command as words or as a text for a shell. `rule` and `reason` are what the wrapper adds; `form` puts
    the wrapper back around what is run. It `stays` in the shell it was called from."""

    source: str
    words: tuple[Word, ...] = ()
    script: str | None = None
    rule: Rule | None = None
    reason: str = ""
    form: Callable[[str], str] | None = None
    stays: bool = False


def unwrap(simple: Simple) -> Wrapped | None:
    """What a wrapper runs; None when the command is no wrapper, or runs nothing."""
    name = (simple.words[0].value or "").rsplit("/", 1)[-1]
    if name in SHELLS:
        return _shell(simple)
    if name == "eval":
        return _eval(simple)
    if name == "find":
        return _find(simple)
    if name not in _WRAPPERS or (name == "command" and _value(simple, 1) in ("-v", "-V")):
        return None
    return _wrapper(name, simple)


def _value(simple: Simple, at: int) -> str:
    return (simple.words[at].value or "") if at < len(simple.words) else ""


def _shell(simple: Simple) -> Wrapped | None:
    """`sh -c TEXT`, and a shell that reads a text from behind `<<`."""
    flags, rest = [], list(simple.words[1:])
    while rest and (rest[0].value or "").startswith(("-", "+")):
        flags.append(rest.pop(0).value or "")
    runs = any(not flag.startswith("--") and "c" in flag for flag in flags)
    if runs and rest:
        if rest[0].value is None:
            reason = "the text that the shell is given is known only when it runs"
            return Wrapped(simple.source, script="", rule=Rule.DYNAMIC, reason=reason)
        plain = flags in (["-c"], ["-lc"]) and len(rest) == 1 and simple.words[0].source in ("bash", "sh")
        return Wrapped(simple.source, script=rest[0].text, form=_bash if plain else None)
    if body := next((redirect for redirect in simple.redirects if _is_text(redirect)), None):
        text = body.body or (body.target.text if body.target else "")
        return Wrapped(simple.source, script=text, rule=Rule.DYNAMIC, reason="a shell runs the text behind it")
    return None


def _is_text(redirect: Redirect) -> bool:
    return bool(redirect.body) or (redirect.operator == "<<<" and redirect.target is not None)


def _bash(inner: str) -> str:
    return f"bash --noprofile --norc -c {shlex.quote(inner)}"


def _eval(simple: Simple) -> Wrapped:
    reason = "it runs text as a command"
    if any(word.value is None for word in simple.words):
        return Wrapped(simple.source, script="", rule=Rule.DYNAMIC, reason=reason)
    text = " ".join(word.text for word in simple.words[1:] if word.text != "--")
    return Wrapped(simple.source, script=text, rule=Rule.DYNAMIC, reason=reason)


def _find(simple: Simple) -> Wrapped | None:
    """What `find` runs for each name; nothing here says which names those are."""
    texts = [word.text for word in simple.words]
    at = next((i for i, text in enumerate(texts) if text in ("-exec", "-execdir", "-ok", "-okdir")), None)
    if at is None:
        return None
    end = next((i for i in range(at + 1, len(texts)) if texts[i] in (";", "+")), len(texts))
    start = simple.words[1] if at > 1 and not texts[1].startswith(("-", "(", "!")) else Word(".", (Piece("."),))
    inner = tuple(found_in(start) if word.text == "{}" else word for word in simple.words[at + 1 : end])
    if not inner:
        return None
    return Wrapped(
        simple.source, inner, rule=Rule.DYNAMIC, reason=f"it runs {inner[0].source} for each name that it finds"
    )


def found_in(start: Word) -> Word:
    """All that is in a folder, as a pattern."""
    pieces = (*start.pieces, Piece("/"), Piece("*", active=True))
    return Word(f"{start.source.rstrip('/')}/*", pieces, start.dynamic, start.quoted)


def _wrapper(name: str, simple: Simple) -> Wrapped | None:
    values, rest, own = _TAKES_VALUE.get(name, "").split(), list(simple.words[1:]), [simple.words[0]]
    while rest and rest[0].source.startswith("-"):
        own.append(rest.pop(0))
        if own[-1].text == "--":
            break
        if own[-1].text in values and rest:
            own.append(rest.pop(0))
    if name in _FIRST_IS_OWN and rest:
        own.append(rest.pop(0))
    while name in ("env", "sudo", "doas") and rest and _SETS.match(rest[0].source):
        own.append(rest.pop(0))
    if not rest:
        return None
    inner = tuple(rest)
    source = " ".join(word.source for word in inner)
    rule, reason = _added(name, own)
    if name in _RUNS_ITS_WORDS:
        return Wrapped(
            source,
            script=" ".join(word.text for word in inner),
            rule=Rule.DYNAMIC,
            reason=f"{name} runs its words again",
        )
    prefix = " ".join(shlex.quote(word.text) for word in own)
    form = (lambda text: f"{prefix} {text}") if rule is None else None
    return Wrapped(source, inner, rule=rule, reason=reason, form=form, stays=name in ("command", "builtin", "time"))


def _added(name: str, own: list[Word]) -> tuple[Rule | None, str]:
    """What a wrapper with these words adds; nothing when it is known to change only how long or how loud."""
    if name in RIGHTS:
        return Rule.RIGHTS, "it runs with other rights"
    if name == "xargs":
        return Rule.DYNAMIC, FED
    texts = [word.value or "?" for word in own[1:]]
    match name:
        case "timeout":
            plain = len(texts) == 1 and bool(_TIME.fullmatch(texts[0]))
        case "nice":
            plain = not texts or (texts[0] == "-n" and bool(_NUMBER.fullmatch(texts[-1])))
        case "env":
            plain = bool(texts) and all(_PLAIN_SETS.fullmatch(text) for text in texts)
        case "time":
            plain = texts in ([], ["-p"])
        case _:
            plain = name in _TRANSPARENT and not texts
    return (None, "") if plain and own[0].source == name else (Rule.UNKNOWN, f"{name} changes how the command runs")
