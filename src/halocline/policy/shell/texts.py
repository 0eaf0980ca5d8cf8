"""Render words that are only printed or compared: known only when they run, and harmless whatever they turn out to be.

Each gets a quoted form made from its parts, so that the shell neither splits it nor expands it to names.
"""

import shlex

from msgspec.structs import replace

from halocline.policy.shell.findings import Forms
from halocline.policy.shell.guards import OWN_VARIABLE, as_name, checked_word, guard_arithmetic
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.syntax.tree import Block, Chain, Expansion, Kind, Piece, Redirect, Simple, Word, render
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import set_of

PRINTERS = frozenset({"echo", "printf", "true", "false", ":"})
_CHECKS_ITSELF = frozenset({"cd", "test", "["})
"""`cd`, which sets the folder of what follows, and tests, which have forms of their own."""
_PUBLIC = set_of("HOME PWD USER LOGNAME SHELL LANG TERM PATH HOSTNAME OSTYPE LINENO RANDOM SECONDS")
_PUBLIC |= set_of("BASH_VERSION EPOCHSECONDS UID EUID SHLVL COLUMNS LINES VIRTUAL_ENV CI ? # $ !")
_SHORT_OUTPUT = compile_later("wc|nproc|date|whoami|uname|hostname|id|seq|pwd|git")
"""Programs that print a few words, none of which is a pattern."""
_BEHIND_REVISION = compile_later(r"([~^]\d{0,4})*(\.\.\.?[A-Za-z0-9_./~^-]*)?")
_CUT = compile_later(
    r"\$\{(#[a-z_]\w*(\[[@*]\])?|[a-z_]\w*(\^\^?|,,?|:\d{1,4}(:\d{1,4})?|(%%?|##?)[\w.*?/,:@+-]+|\[\d{1,4}\]|\[[@*]\]))\}"
)
"""Expansions to a part of a text, its letters in another case, or its length."""
_IN_QUOTES = compile_later(r'([\\"$`])')


def render_text(word: Word, forms: Forms, ground: Ground, *, splits: bool = True) -> str | None:
    """Return the form of a word that is only text; None if a part of it may do more or may reveal a secret.

    With `splits`, the shell would split its unquoted parts.
    """
    if not word.dynamic:
        return None
    rendered = ""
    for part in word.parts:
        if isinstance(part, Piece):
            if part.active or (part.text.startswith("~") and not part.quoted):
                return None
            rendered += _IN_QUOTES.sub(r"\\\1", part.text)
            continue
        found = _render_part(part, forms, ground, splits=splits and not part.quoted)
        if found is None:
            return None
        rendered += found
    return f'"{rendered}"'


def _render_part(part: Expansion, forms: Forms, ground: Ground, *, splits: bool) -> str | None:
    match part.kind:
        case Kind.VARIABLE:
            return _render_variable(part, ground)
        case Kind.ARITHMETIC:
            plain = not part.scripts and part.source.startswith("$((")
            rendered = guard_arithmetic(part.source[3:-2]) if plain else None
            return f"$(({rendered}))" if rendered else None
        case Kind.COMMAND:
            form = forms.get(id(part.scripts[0])) if part.scripts else None
            script = part.scripts[0] if part.scripts else None
            last = script.items[-1] if isinstance(script, Chain | Block) and script.items else script
            is_short = isinstance(last, Simple) and last.words and _SHORT_OUTPUT.fullmatch(last.words[0].text)
            return f"$({form})" if form and (not splits or is_short) else None
    return None


def _render_variable(part: Expansion, ground: Ground) -> str | None:
    own = part.name in ground.variables.known and OWN_VARIABLE.fullmatch(part.name)
    if part.operator:
        return part.source if own and _CUT.fullmatch(part.source) and not part.scripts else None
    values = ground.variables.known.get(part.name)
    if values and len(values) == 1 and UNKNOWN not in values[0]:
        return _IN_QUOTES.sub(r"\\\1", values[0])
    return f"${{{part.name}}}" if own or part.name in _PUBLIC else None


def _with_revision(word: Word, forms: Forms, ground: Ground) -> Word:
    """Return a word of a git command; a revision that is known only when it runs is resolved to a commit by git."""
    parts = [part for part in word.parts if not isinstance(part, Piece) or part.text]
    if not word.dynamic or not parts or not isinstance(parts[0], Expansion):
        return word
    behind = "".join(part.text if isinstance(part, Piece) else "$" for part in parts[1:])
    text = render_text(replace(word, parts=(parts[0],)), forms, ground, splits=False)
    if not text or not _BEHIND_REVISION.fullmatch(behind):
        return word
    return Word(f'"$(print_revision {text}){behind}"', (Piece(f"HEAD{behind}"),), verbatim=True, checked=True)


def with_target(redirect: Redirect, forms: Forms, ground: Ground) -> Redirect:
    """Return a redirection whose source is known only by its form, in that form."""
    target = redirect.target
    if redirect.operator not in ("<", "<<<") or target is None or not target.dynamic:
        return redirect
    if redirect.operator == "<":
        found = _with_output(target, forms, ground)
        return replace(redirect, target=as_name(found) if found.checked else found)
    return replace(redirect, target=_as_text(target, forms, ground, splits=False))


def _with_output(word: Word, forms: Forms, ground: Ground) -> Word:
    """Return a word with the output of `<(…)`, which to a program is a file, or of other expansions."""
    match word.parts:
        case (Expansion(kind=Kind.PROCESS, source=source, scripts=(script,)),) if source.startswith("<("):
            form = forms.get(id(script))
            return Word(f"<({form})", (Piece("/dev/null"),), verbatim=True) if form else word
        case (Expansion(kind=Kind.COMMAND, quoted=False),):
            return word
    text = None if "[@]" in word.source or "[*]" in word.source else render_text(word, forms, ground)
    return checked_word(word, text, ground) if text else word


def with_texts(simple: Simple, forms: Forms, ground: Ground) -> Simple:
    """Return a command that only prints or reads, with the commands and texts in its words in their forms.

    Words of a program that reads, if they are known only by their form, are checked as it runs.
    """
    name = simple.words[0].value if simple.words else None
    words, begin = simple.words, 2 if name == "printf" else 1
    if ground.rebinds and (name == "git" or name in PRINTERS):
        return simple
    if name == "git":
        words = tuple(_with_revision(word, forms, ground) for word in words)
    elif name in PRINTERS:
        words = (*words[:begin], *(_as_text(word, forms, ground) for word in words[begin:]))
    elif name in READERS and name not in _CHECKS_ITSELF:
        words = tuple(_with_output(word, forms, ground) for word in words)
    return simple if words == simple.words else replace(simple, words=words)


def _as_text(word: Word, forms: Forms, ground: Ground, *, splits: bool = True) -> Word:
    text = render_text(word, forms, ground, splits=splits)
    return Word(text, (Piece("text"),), quoted=True, verbatim=True) if text else word


def assigned_form(simple: Simple, forms: Forms, ground: Ground) -> str | None:
    """Return the form of assignments to a script's own variables; None if they may affect a program."""
    rendered: list[str] = []
    for one in simple.assignments:
        if not OWN_VARIABLE.fullmatch(one.name) or one.adds or one.subscript is not None:
            return None
        if one.values is not None:
            if any(value.dynamic for value in one.values):
                return None
            rendered.append(f"{one.name}=({' '.join(render(value) for value in one.values)})")
            continue
        known = one.value.value
        text = shlex.quote(known) if known is not None else render_text(one.value, forms, ground, splits=False)
        if text is None:
            return None
        rendered.append(f"{one.name}={text}")
    return " ".join(rendered)
