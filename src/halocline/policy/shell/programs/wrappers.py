"""Unwrap programs that run another one, so that the inner command is judged; the form that runs has them again."""

import re
import shlex
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from halocline.policy.shell.findings import Rule
from halocline.policy.shell.programs.mutating import PERSISTS, RIGHTS, SHELLS
from halocline.policy.shell.programs.shell_builtins import rule_of_variables
from halocline.policy.shell.syntax.tree import Piece, Simple, Word, literal
from halocline.policy.shell.values.printed_texts import fill_names, possible_text, print_text
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.policy.word_tables import read_lines, read_pairs, read_words
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_SETS = compile_later(r"[A-Za-z_]\w*=", re.ASCII)
_SPLITS = compile_later(r"^(-[a-z]*S|--split-string=?)")
"""The flag of `env` that splits its text into a program and its words."""
_LINES = read_lines(__file__)
_WORDS = {title: frozenset(words) for title, words in read_words(__file__).items()}
_TAKES_VALUE, _PLAIN = read_pairs(_LINES["values"]), read_pairs(_LINES["plain"])
RUNNERS = frozenset(_LINES["runners"])
"""Wrappers that run a program of the project's environment."""
_HARMLESS = frozenset({*_WORDS["harmless"], *_PLAIN, *RUNNERS})
_WRAPPERS = frozenset({*_TAKES_VALUE, *_HARMLESS, *RIGHTS, "nohup", "setsid", "daemonize", "disown"})
_FEEDS = frozenset({"xargs", "entr"})
_ELSEWHERE, _MAY_MOVE = "|".join(_WORDS["elsewhere"]), _WRAPPERS - {"strace", "nice", "sudo", *_FEEDS}
FINDS = frozenset({"find", "fd", "fdfind"})
_FD_RUNS = ("-x", "-X", "--exec", "--exec-batch")
_PLACEHOLDER = compile_later(r"\{\d*(/|//|\.|/\.)?\}")
_VALUED = frozenset({"--rcfile", "--init-file", "--emulate"})
FED = "its arguments are known only when it runs"
HERE = literal(".")


class Wrapped(Value, frozen=True):
    """The inner command as words or as a script. `rule` and `reason` are those that the wrapper adds.

    `form` puts the wrapper back around what is run. `stays`: it runs in the calling shell. `feeds`: it passes names to
    what it runs, in place of `slot` or after all words; they are parted at `parts_by`, too, if that is not empty. It
    runs that in `folder`, or if that is dynamic, anywhere below.
    """

    source: str
    words: tuple[Word, ...] = ()
    script: str | None = None
    rule: Rule | None = None
    reason: str = ""
    form: Callable[[str], str] | None = None
    stays: bool = False
    feeds: bool = False
    slot: str = ""
    parts_by: str = ""
    folder: Word | None = None

    def list_own(self, simple: Simple) -> Simple:
        """Return the wrapper with its own words alone, without the variables that it sets."""
        own = (one for one in simple.words if one not in self.words and not re.match(r"\w+=", one.text))
        return Simple(simple.source, tuple(own))

    def with_fed(self, fed: Word) -> tuple[Word, ...]:
        """Return the words of the inner command with the names that it gets."""
        words = tuple(fed if self.slot and self.slot in (word.value or word.source) else word for word in self.words)
        return words if fed in words else (*words, fed)


def unwrap_command(simple: Simple) -> Wrapped | None:
    """Return what a wrapper runs; None if the command is not a wrapper or runs nothing."""
    name = (simple.words[0].value or "").rsplit("/", 1)[-1]
    if name in SHELLS:
        return _unwrap_shell(simple)
    if name == "eval":
        script = possible_text([word for word in simple.words[1:] if word.text != "--" or word.dynamic])
        return Wrapped(simple.source, script=script, rule=Rule.DYNAMIC, reason="it runs text as a command", stays=True)
    if name in FINDS:
        return _unwrap_find(simple, ("-exec", "-execdir", "-ok", "-okdir") if name == "find" else _FD_RUNS)
    if name in _WORDS["shell text"] and (text := _text_behind(simple)):
        rule, _ = _added_rule(name, [simple.words[0]])
        return Wrapped(simple.source, script=text, rule=rule, reason=f"{name} runs text as a command")
    if f"{name} {_value_at(simple, 1)}" in RUNNERS:
        name = f"{name} {_value_at(simple, 1)}"
    if name not in _WRAPPERS or (name == "command" and _value_at(simple, 1) in ("-v", "-V")):
        return None
    texts = [possible_text([word]) for word in simple.words[1:]] if name == "env" else []
    if any(map(_SPLITS.match, texts)):
        text = " ".join(_SPLITS.sub("", one) for one in texts)
        return Wrapped(simple.source, script=text, rule=Rule.DYNAMIC, reason="env runs text as a command")
    return _unwrap_wrapper(name, simple)


def find_innermost(simple: Simple) -> Simple:
    """Return the program behind all wrappers that run it."""
    while simple.words and (wrapped := unwrap_command(simple)) and wrapped.words and not wrapped.feeds:
        simple = Simple(wrapped.source, wrapped.words)
    return simple


def _text_behind(simple: Simple) -> str:
    """Return the script after `-c`; empty if there is none."""
    for at, word in enumerate(simple.words[1:], 1):
        if re.fullmatch(r"-[a-z]*c|--command|--session-command", word.text):
            return possible_text(simple.words[at + 1 : at + 2])
        if (word.text or word.source).startswith(("--command=", "--session-command=")):
            return possible_text([word]).partition("=")[2]
        if glued := re.match(r"-[a-z]*c(?=.)", word.text or word.source):
            return possible_text([word])[glued.end() :]
    return ""


def _value_at(simple: Simple, at: int) -> str:
    return (simple.words[at].value or "") if at < len(simple.words) else ""


def split_flags(simple: Simple) -> tuple[list[str], list[Word]]:
    """Return the flags of a shell without their values, and the words behind them."""
    flags, rest = [], list(simple.words[1:])
    while rest and (rest[0].value or "").startswith(("-", "+")):
        flags.append(rest.pop(0).value or "")
        if flags[-1] in _VALUED or (re.fullmatch(r"[-+][a-z]*[oO]", flags[-1]) and rest):
            del rest[:1]
    return flags, rest


def _unwrap_shell(simple: Simple) -> Wrapped | None:
    """Unwrap `sh -c TEXT`, and a shell that reads its script from a heredoc."""
    flags, rest = split_flags(simple)
    runs = any(not flag.startswith("--") and "c" in flag for flag in flags)
    if runs and rest:
        if rest[0].value is None:
            reason = "the script given to the shell is known only when it runs"
            return Wrapped(simple.source, script=possible_text(rest[:1]), rule=Rule.DYNAMIC, reason=reason)
        plain = flags in (["-c"], ["-lc"]) and len(rest) == 1 and simple.words[0].source in ("bash", "sh")
        form = (lambda inner: f"bash --noprofile --norc -c {shlex.quote(inner)}") if plain else None
        return Wrapped(simple.source, script=_begin_script(simple, rest[0].text, rest[1:]), form=form)
    if body := next((one for one in simple.redirects if one.body or (one.operator == "<<<" and one.target)), None):
        text = _begin_script(simple, body.body or (body.target.text if body.target else ""), [HERE, *rest])
        return Wrapped(simple.source, script=text, rule=Rule.DYNAMIC, reason="a shell runs the text it is given")
    return None


def _begin_script(simple: Simple, script: str, given: Sequence[Word]) -> str:
    """Return a script after what its shell begins with: variables, `$0` (as the last argument) and arguments."""
    sets = [f"{one.name}={one.value.source}" for one in simple.assignments]
    if given:
        sets.append("set -- " + " ".join(word.source for word in (*given[1:], given[0])))
        script = re.sub(r"\$(?:0|\{0\})", f"${{{len(given)}}}", script)
    return "\n".join((*sets, script))


def _unwrap_find(simple: Simple, runs: tuple[str, ...]) -> Wrapped | None:
    """Unwrap what `find` or `fd` runs for each name, whichever names those are."""
    texts = [word.text for word in simple.words]
    at = next((i for i, text in enumerate(texts) if text.partition("=")[0] in runs), None)
    if at is None:
        return None
    end = next((i for i in range(at + 1, len(texts)) if texts[i] in (";", "+")), len(texts))
    start = simple.words[1] if at > 1 and not texts[1].startswith(("-", "(", "!")) else HERE
    names = found_in(start if texts[0] == "find" else HERE)
    inner = tuple(names if _PLACEHOLDER.fullmatch(word.text) else word for word in simple.words[at + 1 : end])
    if texts[0] != "find" and names not in inner:
        inner = (*inner, names)
    if not inner or inner == (names,):
        return None
    reason = f"it runs {inner[0].source} for each file it finds"
    below = Word("", dynamic=FED, could=(start,)) if texts[at] in ("-execdir", "-okdir") else None
    return Wrapped(simple.source, inner, None, Rule.DYNAMIC, reason, feeds=True, slot=names.source, folder=below)


def found_in(start: Word) -> Word:
    """Return everything in a folder, as a pattern."""
    pieces = (*start.pieces, Piece("/"), Piece("*", active=True))
    return Word(f"{start.source.rstrip('/')}/*", pieces, start.dynamic, start.quoted)


def _unwrap_wrapper(name: str, simple: Simple) -> Wrapped | None:
    values, rest = _TAKES_VALUE.get(name, "").split(), list(simple.words[1:])
    own = [simple.words[0], *(rest.pop(0) for _ in name.split()[1:])]
    _move_flags(rest, own, values)
    if name in _WORDS["first is own"] and rest:
        own.append(rest.pop(0))
        _move_flags(rest, own, values)
    while name in ("env", "sudo", "doas", "cross-env", "busybox") and rest and _SETS.match(rest[0].text):
        own.append(rest.pop(0))
    if not rest:
        return None
    rule, reason = _added_rule(name, own)
    if rest[0].text in SHELLS and (sets := [word for word in own if _SETS.match(word.text)]):
        given = (re.sub(r"=(.*)", lambda found: f"={shlex.quote(found[1])}", word.text) for word in sets)
        script = " ".join((*given, *(word.source for word in rest)))
        return Wrapped(simple.source, script=script, rule=rule, reason=reason)
    if name == "uv run" and rest[0].text.endswith(".py"):
        rest.insert(0, literal("python"))
    inner = tuple(rest)
    source = " ".join(word.source for word in inner)
    if name in ("watch", "parallel", "sg"):
        rule, reason = rule if name == "sg" else Rule.DYNAMIC, f"{name} runs its words as a command"
        wrapped = Wrapped(source, script=possible_text(inner), rule=rule, reason=reason)
        return _unwrap_parallel(wrapped, inner) if name == "parallel" else wrapped
    prefix = " ".join(shlex.quote(word.text) for word in own)
    form = (lambda text: f"{prefix} {text}") if rule is None else None
    stays = name in ("command", "builtin", "time")
    wrapped = Wrapped(source, inner, rule=rule, reason=reason, form=form, stays=stays)
    if name not in _FEEDS:
        return replace(wrapped, folder=_find_value(own, _ELSEWHERE) if name in _MAY_MOVE else None)
    parts = _find_value(own, "-d|--delimiter")
    parts_by = print_text(["printf", parts.text]) if parts else ""
    slot = _find_value(own, "-I|-i|--replace") or literal("")
    bare = any(word.text in ("-i", "--replace") for word in own)
    return replace(wrapped, feeds=True, slot="{}" if bare else slot.text, parts_by=parts_by)


def _move_flags(rest: list[Word], own: list[Word], values: Sequence[str]) -> None:
    """Move the options at the begin of `rest`, with their values, to a wrapper's own words."""
    while rest and (rest[0].value or rest[0].source).startswith("-"):
        own.append(rest.pop(0))
        if own[-1].text == "--":
            break
        if own[-1].text in values and rest:
            own.append(rest.pop(0))


def _unwrap_parallel(wrapped: Wrapped, inner: tuple[Word, ...]) -> Wrapped:
    """Return what `parallel` runs: its words with those behind `:::` filled in, or these alone."""
    at = next((at for at, word in enumerate(inner) if word.text.startswith(":::")), len(inner))
    script = _PLACEHOLDER.sub("{}", possible_text(inner[:at]))
    if at == len(inner):
        return replace(wrapped, script=script, feeds=True, slot="{}")
    given = [word for word in inner[at:] if word.text != ":::"]
    names = (UNKNOWN if word.dynamic or word.text == "::::" else word.source if script else word.text for word in given)
    return replace(wrapped, script=fill_names(script, "{}", names))


def _find_value(own: list[Word], options: str) -> Word | None:
    """Return the value of an option: glued, behind `=`, or the next word; None if there is no such option."""
    for word, behind in zip(own, (*own[1:], literal(UNKNOWN)), strict=True):
        if found := re.fullmatch(rf"(?:{options})(=?)(.*)", word.text, re.DOTALL):
            return literal(found[2]) if found[1] or found[2] else behind
    return None


def _added_rule(name: str, own: list[Word]) -> tuple[Rule | None, str]:
    """Return the rule and reason that a wrapper with these words adds; none if it is known to be harmless."""
    texts = [word.value or "?" for word in own[1:]]
    if name in RIGHTS:
        return Rule.RIGHTS, "it runs with different privileges"
    if name in PERSISTS:
        return Rule.LATER, "it keeps running after the task ends"
    if name in _FEEDS:
        return Rule.DYNAMIC, FED
    if own[0].source == name and re.fullmatch(_PLAIN.get(name, "(?!)"), "\n".join(texts), re.ASCII):
        return None, ""
    flags = {text.partition("=")[0] for text in texts}
    if flags & _WORDS["fetches"] and name in RUNNERS:
        return Rule.NETWORK, f"{name} fetches packages"
    if name in RUNNERS:
        return Rule.UNKNOWN, f"{name} runs a program of the project's environment"
    if flags & _WORDS["elsewhere"] and name in _MAY_MOVE:
        return Rule.DYNAMIC, f"{name} runs the command in another folder"
    if name in _HARMLESS and all(word.value is not None for word in own):
        sets = [word.text.partition("=")[0] for word in own[1:] if _SETS.match(word.text)]
        return rule_of_variables(sets), f"{name} changes how the command runs"
    return Rule.UNKNOWN, f"{name} changes how the command runs"
