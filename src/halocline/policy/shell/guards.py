"""Guards in the form of a command: they check names and numbers that are known only when it runs, just before use.

Wherever a name comes from (a loop, a pipe, a substitution), a program that reads gets it only if it then leads to a
plain file or folder of the workspace whose name is not that of a secret. So nothing depends on earlier guesses.
"""

import os
from collections.abc import Iterable
from functools import cache
from shlex import quote

from msgspec.structs import replace

from halocline.policy.commands import Use
from halocline.policy.sensitive_names import GIT_STORE, SECRET_FILES, SECRET_FOLDERS, SECRET_PATHS
from halocline.policy.shell.findings import Rule
from halocline.policy.shell.syntax.tree import Expansion, Kind, Piece, Word
from halocline.policy.shell.values.ground import Ground
from halocline.policy.word_tables import read_plain
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Place

MOST_HIDDEN = 100
_ACTIVE, _ESCAPED = compile_later(r"[.+^$()|{}\[\]\\*?]"), r"\\\g<0>"
HANDS_ON = "hand_on_names"
OWN_VARIABLE = compile_later(r"[a-z_][a-z0-9_]*")
"""Names of a script's own variables."""
_OF_LINES = compile_later(r"[0-9,;pqdNR=<>&|+() -]*")
"""Characters around numbers in `10,20p` and `NR >= 10 && NR <= 20`."""
_ISOLATED = compile_later(r"\bpython[0-9.]* -I ")
_CALLS = compile_later(r"\b(print_name|print_revision|hand_on_names)\b")


def calls_guards(form: str) -> bool:
    """Return True if a form calls functions of guards; most are long, so they are looked through quickly first."""
    return ("print_" in form or HANDS_ON in form) and _CALLS.search(form) is not None


def with_guards(form: str, ground: Ground) -> str:
    """Return a form preceded by the functions that it calls."""
    if not calls_guards(form):
        return form
    root, hidden = os.path.realpath(ground.workspace), _hidden_names(ground) or ()
    ground.left_out.update(dict.fromkeys(f"{root}/{name}" for name in hidden))
    return f"{_guard_functions(root, hidden)}{form}"


@cache
def _guard_functions(root: str, hidden: tuple[str, ...]) -> str:
    text = f"\n{read_plain(__file__, '.sh')}\n".replace("ROOT", quote(root.rstrip("/")))
    ends = "|".join(map(_as_expression, (*SECRET_FILES, *SECRET_PATHS)))
    folders = "|".join(map(_as_expression, SECRET_FOLDERS))
    secret = f"/({ends})\1|/({folders}|{GIT_STORE})[/\1]"  # below the root, each before a byte 1
    names = "|".join((secret, *(f"^/{_ACTIVE.sub(_ESCAPED, name)}[/\1]" for name in hidden)))
    return f"LAST_FOLDER= LAST_PLACE= SECRET_NAMES={quote(names)}{text}"


def _hidden_names(ground: Ground) -> tuple[str, ...] | None:
    """Return what is hidden in the workspace, relative to it; None if that is too much for a check of names."""
    root = os.path.realpath(ground.workspace)
    found = ground.hidden_below(root)
    return tuple(os.path.relpath(path, root) for path in found[0]) if found and len(found[0]) <= MOST_HIDDEN else None


def _as_expression(pattern: str) -> str:
    return _ACTIVE.sub(_ESCAPED, pattern).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def can_check_names(ground: Ground) -> bool:
    """Return True if guards can recognize all unreadable names: few are hidden, and none are our own."""
    own = ground.holds_own_state(os.path.realpath(ground.workspace))
    return not (ground.rebinds or own or ground.splits_oddly or _hidden_names(ground) is None)


def checked_word(word: Word, text: str, ground: Ground) -> Word:
    """Return a word known only by its form `text`, to be checked as it runs; unchanged if it cannot be checked."""
    bare = word.parts[0].text if word.parts and isinstance(word.parts[0], Piece) else ""
    found, free = ground.targets(word), (Place.PROJECT, Place.RUNS_LATER)
    ground.note(found, Use.READ)  # for rules about paths
    if bare.startswith("-") or not can_check_names(ground) or any(one.place not in free for one in found):
        return word
    return Word(text, (Piece("./-"),), quoted=True, verbatim=True, checked=True, parts=word.parts, could=word.could)


def with_numbers(word: Word) -> Word | None:
    """Return a line-picking program with each variable reduced to a plain number; None if it is more than that."""
    rendered, meant = "", ""
    for one in word.parts:
        if isinstance(one, Piece):
            if one.active or not _OF_LINES.fullmatch(one.text):
                return None
            rendered, meant = rendered + one.text, meant + one.text
        elif one.kind is Kind.VARIABLE and not one.operator and OWN_VARIABLE.fullmatch(one.name):
            rendered, meant = f"{rendered}0${{{one.name}//[!0-9]/}}", f"{meant}1"
        elif one.kind is Kind.ARITHMETIC and (form := guard_arithmetic(one.source[3:-2])):
            rendered, meant = f"{rendered}$(({form}))", f"{meant}1"
        else:
            return None
    return Word(f'"{rendered}"', (Piece(meant),), quoted=True, verbatim=True)


def rule_as_written(form: str | None, words: Iterable[Word] = ()) -> Rule | None:
    """Return the rule for a command run as written, if only its form makes it harmless. `words` are those of both."""
    some = tuple(words)
    if form is None:
        return None
    if any(word.checked for word in some):
        return Rule.DYNAMIC
    tests = form.startswith(("test ", "[[ "))
    if calls_guards(form):
        return Rule.SHELL if tests else Rule.DYNAMIC
    parts = (one for word in some for one in word.parts if isinstance(one, Expansion))
    evaluates = (tests and any(word.dynamic for word in some)) or any(one.kind is Kind.ARITHMETIC for one in parts)
    if " -I " in form and _ISOLATED.search(form):
        return Rule.UNKNOWN
    return Rule.SHELL if evaluates else None


def as_name(word: Word) -> Word:
    """Return a checked word for use as a file name."""
    return replace(word, source=f'"$(print_name {word.source})"')


_TOKEN = compile_later(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]{1,15}|\d{1,18})(?![\w#])"
    r"|\$?\{?(?P<name>[a-z_][a-z0-9_]*)\b\}?"
    r"|(?P<step>\+\+|--)"
    r"|(?P<sets>(?:[-+*/%]|<<|>>)?=(?!=))"
    r"|(?P<operator>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),]))"
)


def guard_arithmetic(text: str) -> str | None:
    """Return the safe form of an expression; None if it has anything but plain numbers, variables and operators."""
    tokens = _split_tokens(text)
    if tokens is None:
        return None
    form: list[str] = []
    while tokens:
        kind, found = tokens.pop(0)
        following = tokens[0][0] if tokens else ""
        match kind:
            case "name" if following == "sets":
                operator = tokens.pop(0)[1]
                form.append(f"{found}={_read_number(found) + operator[:-1] if len(operator) > 1 else ''}")
                # An operator before it applies to all of what is left, so that must be one number or variable.
                if len(operator) > 1 and [kind for kind, _ in tokens] not in (["number"], ["name"]):
                    return None
            case "name" if following == "step":
                sign = tokens.pop(0)[1][0]
                form.append(f"({found}={_read_number(found)}{sign}1,{found}{'-' if sign == '+' else '+'}1)")
            case "step" if following == "name":
                name = tokens.pop(0)[1]
                form.append(f"({name}={_read_number(name)}{found[0]}1)")
            case "name":
                form.append(_read_number(found))
            case "step" | "sets":
                return None
            case _:
                form.append(found)
    return " ".join(form)


def _split_tokens(text: str) -> list[tuple[str, str]] | None:
    found, at = list[tuple[str, str]](), 0
    text = text.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token or token.lastgroup is None:
            return None
        found.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return found


def _read_number(name: str) -> str:
    return f"(${{{name}//[!0-9-]/}}+0)"
