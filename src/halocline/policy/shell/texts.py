"""Words that are only printed or compared: known only when they run, and harmless whatever they turn out to be.

Each is given a form made from its parts, in quotes, so that the shell makes neither several words nor names of it.
"""

import re
import shlex
from collections.abc import Mapping

from halocline.policy.shell.ground import Ground
from halocline.policy.shell.readers import READERS
from halocline.policy.shell.tree import Expansion, Kind, Node, Piece, Simple, Word
from halocline.policy.shell.variables import UNKNOWN

Forms = Mapping[int, str | None]
"""The form of each command inside a word, by its identity; None when it may do more than read."""

PRINTERS = frozenset({"echo", "printf", "true", "false", ":"})
_PUBLIC = frozenset(
    [
        "HOME",
        "PWD",
        "OLDPWD",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "TERM",
        "PATH",
        "HOSTNAME",
        "OSTYPE",
        "LINENO",
        "RANDOM",
        "SECONDS",
    ]
)
_PUBLIC |= frozenset(
    [
        "BASH_VERSION",
        "EPOCHSECONDS",
        "UID",
        "EUID",
        "SHLVL",
        "COLUMNS",
        "LINES",
        "VIRTUAL_ENV",
        "CI",
        "?",
        "#",
        "$",
        "!",
    ]
)
_OWN = re.compile(r"[a-z_][a-z0-9_]*")
_SECRET = re.compile(r"key|token|secret|pass|auth|cred|pwd", re.IGNORECASE)
_NUMBERS = re.compile(r"\$\(\([\d\s+\-*/%()<>=!&|^~?:,]*\)\)")
_SHORT_OUTPUT = re.compile("wc|nproc|date|whoami|uname|hostname|id|seq|pwd|git")
_IN_QUOTES = re.compile(r'([\\"$`])')


def render_text(word: Word, forms: Forms, ground: Ground, *, splits: bool = True) -> str | None:
    """The form of a word that is only a text; None when a part of it may do more, or may tell a secret.

    With `splits` the shell would make several words of what stands outside quotes.
    """
    if not word.dynamic:
        return None
    said = ""
    for part in word.parts:
        if isinstance(part, Piece):
            if part.active or (part.text.startswith("~") and not part.quoted):
                return None
            said += _IN_QUOTES.sub(r"\\\1", part.text)
            continue
        found = _render_part(part, forms, ground, splits=splits and not part.quoted)
        if found is None:
            return None
        said += found
    return f'"{said}"'


def _render_part(part: Expansion, forms: Forms, ground: Ground, *, splits: bool) -> str | None:
    match part.kind:
        case Kind.VARIABLE:
            return _render_variable(part, ground)
        case Kind.ARITHMETIC:
            return part.source if _NUMBERS.fullmatch(part.source) else None
        case Kind.COMMAND:
            form = forms.get(id(part.scripts[0])) if part.scripts else None
            return f"$({form})" if form and (not splits or _is_short(part.scripts[0])) else None
    return None


def _render_variable(part: Expansion, ground: Ground) -> str | None:
    if part.operator:
        return None
    values = ground.variables.known.get(part.name)
    if values and len(values) == 1 and UNKNOWN not in values[0]:
        return _IN_QUOTES.sub(r"\\\1", values[0])
    own = part.name in ground.variables.known and _OWN.fullmatch(part.name)
    harmless = own or part.name in _PUBLIC
    return f"${{{part.name}}}" if harmless and (own or not _SECRET.search(part.name) or part.name == "PWD") else None


def _is_short(script: Node) -> bool:
    """Whether the output of a command is a few words, none of which is a pattern."""
    last = script.items[-1] if not isinstance(script, Simple) and script.items else script
    return isinstance(last, Simple) and bool(last.words) and _SHORT_OUTPUT.fullmatch(last.words[0].text) is not None


def with_outputs(simple: Simple, forms: Forms) -> Simple:
    """A program that reads, with what it reads from other commands, which only read, in the form in which they run."""
    if not simple.words or simple.words[0].value not in READERS:
        return simple
    words = tuple(_with_output(word, forms) for word in simple.words)
    return simple if words == simple.words else Simple(simple.source, words, simple.assignments, simple.redirects)


def _with_output(word: Word, forms: Forms) -> Word:
    """`<(…)` as a word; to a program it is a file that holds nothing else."""
    match word.parts:
        case (Expansion(kind=Kind.PROCESS, source=source, scripts=(script,)),) if source.startswith("<("):
            form = forms.get(id(script))
            return Word(f"<({form})", (Piece("/dev/null"),), verbatim=True) if form else word
    return word


def with_texts(simple: Simple, forms: Forms, ground: Ground) -> Simple:
    """A command that only prints, with its words that are texts in the form in which they run."""
    simple = with_outputs(simple, forms)
    name = simple.words[0].value if simple.words else None
    if name not in PRINTERS or ground.rebinds:
        return simple
    begin = 2 if name == "printf" else 1
    words = [
        Word(form, (Piece("text"),), quoted=True, verbatim=True) if form else word
        for word in simple.words[begin:]
        for form in (render_text(word, forms, ground),)
    ]
    return Simple(simple.source, (*simple.words[:begin], *words), simple.assignments, simple.redirects)


def assigned_form(simple: Simple, forms: Forms, ground: Ground) -> str | None:
    """The form of assignments that stand alone, of a script's own variables; None when they may steer a program."""
    said: list[str] = []
    for one in simple.assignments:
        if not _OWN.fullmatch(one.name) or one.adds or one.subscript is not None or one.values is not None:
            return None
        known = one.value.value
        text = shlex.quote(known) if known is not None else render_text(one.value, forms, ground, splits=False)
        if text is None:
            return None
        said.append(f"{one.name}={text}")
    return " ".join(said)
