"""Judge `[ … ]`, `test` and `[[ … ]]` if they only check files and compare texts and plain numbers."""

import shlex

from halocline.policy.shell.findings import Finding, Forms
from halocline.policy.shell.guards import as_name, checked_word
from halocline.policy.shell.places import judge_reading
from halocline.policy.shell.syntax.tree import Simple, Word, render
from halocline.policy.shell.texts import render_text
from halocline.policy.shell.values.ground import Ground
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import set_of

_OF_FILES = set_of("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S")
_OF_TEXTS = frozenset({"-z", "-n"})
_COMPARES = frozenset({"=", "==", "!="})
_COMPARES_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_COMPARES_FILES = frozenset({"-nt", "-ot", "-ef"})
_JOINS = {"[[": frozenset({"&&", "||"}), "[": frozenset({"-a", "-o"})}
_FRONT = frozenset({"(", "!"})
_REGEX = compile_later(r"[A-Za-z0-9_.^+*?()|\[\]{}:/@=,%\-]+\$?")
_NUMBER = compile_later(r"-?\d{1,9}|\"\$\{[?#]\}\"")


class Unjudged(Exception):
    """The test is more than a plain one."""


def judge_test(kind: str, words: tuple[Word, ...], source: str, forms: Forms, ground: Ground) -> Finding | None:
    """Return the finding for a test with expanded words; None if it may do more than read."""
    if kind == "[[" and len(words) == 3 and words[1].value in _COMPARES_NUMBERS:
        kind = "["  # unlike `[[`, it never evaluates text as arithmetic
    try:
        test = _Test(kind, words, forms, ground)
        rendered = " ".join(test.build_words())
        found = [one for path in test.paths for one in ground.find(path, quoted=True)]
    except (Unjudged, ToolFailure):
        return None
    if not ground.folders and test.paths:
        return None
    form = f"[[ {rendered} ]]" if kind == "[[" else f"test {rendered}"
    return judge_reading(source, found, form, ground, names_only=True)


def judge_brackets(name: str, simple: Simple, forms: Forms, ground: Ground) -> Finding | None:
    """Return the finding for `test` or `[`; None if it may do more than read."""
    words = simple.words[1:]
    if name == "[":
        if not words or words[-1].value != "]":
            return None
        words = words[:-1]
    return judge_test("[", words, simple.source, forms, ground) if words and not ground.rebinds else None


class _Test:
    def __init__(self, kind: str, words: tuple[Word, ...], forms: Forms, ground: Ground) -> None:
        self._words = list(words)
        self._kind = kind
        self._forms = forms
        self._ground = ground
        self.paths: list[str] = []

    def build_words(self) -> list[str]:
        """Return the words of the form. Raises Unjudged."""
        rendered: list[str] = []
        opened = 0
        while True:
            while (value := self._words[0].value if self._words else None) in _FRONT:
                opened += value == "("
                rendered.append(self._take())
            if not self._words:
                raise Unjudged
            rendered += self._one()
            while self._words and self._words[0].value == ")" and self._kind == "[[":
                opened -= 1
                rendered.append(self._take())
            if not self._words and not opened:
                return rendered
            if not self._words or self._words[0].value not in _JOINS[self._kind] or opened < 0:
                raise Unjudged
            rendered.append(self._take())

    def _one(self) -> list[str]:
        first = self._words[0].value
        second = self._words[1].value if len(self._words) > 1 else None
        if second in _COMPARES | _COMPARES_NUMBERS | _COMPARES_FILES | {"=~"} and len(self._words) > 2:
            return self._binary(str(second))
        if first in _OF_FILES | _OF_TEXTS and len(self._words) > 1:
            return [self._take(), self._path() if first in _OF_FILES else self._text()]
        if first is not None and first.startswith("-"):
            raise Unjudged
        return ["-n", self._text()]

    def _binary(self, operator: str) -> list[str]:
        if operator in _COMPARES_FILES:
            return [self._path(), self._take(), self._path()]
        left, operator = self._text(), self._take()
        if operator == "=~":
            return [left, operator, self._regex()]
        right = self._text(may_match=self._kind == "[[" and operator in _COMPARES)
        plain = _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right)
        if operator in _COMPARES_NUMBERS and self._kind == "[[" and not plain:
            raise Unjudged
        return [left, operator, right]

    def _take(self) -> str:
        return str(self._words.pop(0).value)

    def _path(self) -> str:
        word = self._words.pop(0)
        if word.dynamic and (text := render_text(word, self._forms, self._ground)):
            checked = checked_word(word, text, self._ground)
            if checked.checked:
                return as_name(checked).source
        if word.value is None or word.text.startswith("-"):
            raise Unjudged
        self.paths.append(word.value)
        return shlex.quote(word.value)

    def _text(self, *, may_match: bool = False) -> str:
        word = self._words.pop(0)
        if may_match and word.is_pattern and not word.dynamic:
            return render(word)
        if word.value is not None and not word.verbatim:
            return shlex.quote(word.value)
        found = render_text(word, self._forms, self._ground)
        if found is None:
            raise Unjudged
        return found

    def _regex(self) -> str:
        word = self._words.pop(0)
        if not _REGEX.fullmatch(word.source):
            raise Unjudged
        return word.source
