"""Exclude secret files when whole folders are read: one list of names, in the syntax of each tool.

For each tool the last matching option wins, so these come after all flags of the command. They ignore letter case, and
no flag in the tables overrides them.
"""

import re
from fnmatch import fnmatchcase
from itertools import islice, product
from shlex import quote
from string import ascii_lowercase

from halocline.policy.sensitive_names import SECRET_FILES, SECRET_FOLDERS, SECRET_PATHS, fold_case, is_secret
from halocline.protocol.patterns import compile_later

_MOST_CHOICES = 64
_EXAMPLES = ("dist", "example", "sample", "template")
"""Suffixes of `.env.` files that hold no secrets."""
_EITHER_CASE = str.maketrans({letter: f"[{letter}{letter.upper()}]" for letter in ascii_lowercase})
_SETS = compile_later(r"(\[![a-z]+\])")
_CHOICES = compile_later(r"\{([^{}]*)\}")
_SET = compile_later(r"\[[!^]?(.)[^\]]*\]")
_GUARDS = compile_later(r"LAST_FOLDER= LAST_PLACE= SECRET_NAMES=.*?\nhand_on_names\(\) \{.*?\n\}\n", re.DOTALL)
"""The functions of `guards` at the start of a form."""
_LITERAL_END = compile_later(r"[^*?\[{!]{2}.*|.*[*?]\w[^*?\]}]{2,}")


def _fold_letters(pattern: str) -> str:
    """Return the pattern for tools that are case-sensitive."""
    if "[" not in pattern:
        return pattern.translate(_EITHER_CASE)
    parts = _SETS.split(pattern)
    parts[::2] = (part.translate(_EITHER_CASE) for part in parts[::2])
    parts[1::2] = (f"{part[:-1]}{part[2:].upper()}" for part in parts[1::2])
    return "".join(parts)


def _spare_examples(pattern: str) -> tuple[str, ...]:
    """Return `.env.*` as patterns that do not match `.env.example` and the like: no tool's patterns can say "but".

    A name that differs from all the examples does so at some letter; there is a pattern for each.
    """
    if pattern != ".env.*":
        return (pattern,)
    found: list[str] = []
    for length in range(max(map(len, _EXAMPLES)) + 1):
        for begin in dict.fromkeys(name[:length] for name in _EXAMPLES if len(name) >= length):
            following = "".join(sorted({name[length] for name in _EXAMPLES if name[:length] == begin != name}))
            found += [f".env.{begin}[!{following}]*" if following else f".env.{begin}?*"]
            found += [] if begin in _EXAMPLES else [f".env.{begin}"]
    return tuple(found)


_FILES = tuple(found for pattern in SECRET_FILES for found in _spare_examples(pattern))
_ENDS = (*SECRET_FOLDERS, *SECRET_PATHS)


def _exclude_by_name(folders: str) -> tuple[str, ...]:
    """Return the flags for tools that match only the last part of a path: they exclude whole folders."""
    files = [quote(f"--exclude={_fold_letters(name)}") for name in _FILES]
    names = dict.fromkeys(end.partition("/")[0] for end in _ENDS)
    return (*files, *(quote(f"{folders}={_fold_letters(name)}") for name in names))


FOR_GREP = _exclude_by_name("--exclude-dir")
FOR_DIFF = ("--no-dereference", *_exclude_by_name("--exclude"))
FOR_RIPGREP = tuple(quote(f"--iglob=!{{{','.join(names)}}}") for names in (_FILES, [f"**/{end}" for end in _ENDS]))
FOR_GIT = tuple(
    quote(f":(top,exclude,icase,glob)**/{pattern}")
    for pattern in (*_FILES, *SECRET_PATHS, *(f"{folder}/**" for folder in SECRET_FOLDERS))
)


def shorten_form(form: str) -> str:
    """Return a form for display: what it excludes in a few words, without the code that checks names."""
    for kind in (FOR_GREP, FOR_DIFF, FOR_RIPGREP, FOR_GIT):
        form = form.replace(" ".join(kind), "[excluding secret files]")
    return _GUARDS.sub("", form)


def names_secret(pattern: str) -> bool:
    """Return True if a pattern names secret files, as `.env`, `*.pem` and `.e*` do; `*` names nothing."""
    if pattern.startswith("!"):
        return False
    parts = _CHOICES.split(fold_case(pattern))
    choices = (part.split(",") if at % 2 else [part] for at, part in enumerate(parts))
    return any(_is_example("".join(one)) for one in islice(product(*choices), _MOST_CHOICES))


def _is_example(pattern: str) -> bool:
    plain = _SET.sub(r"\1", pattern)
    if any(is_secret(plain.replace("?", "_").replace("*", filling)) for filling in ("", "x")):
        return True
    name = pattern.rstrip("/").rpartition("/")[2]
    examples = (one.replace("?", "_").replace("*", filling) for one in SECRET_FILES for filling in ("", "x"))
    return bool(_LITERAL_END.fullmatch(name)) and any(fnmatchcase(example, name) for example in examples)
