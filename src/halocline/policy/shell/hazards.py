"""Find what changes the meaning of later words, or runs text that is not written as a command.

Nothing is judged harmless because it is missing here.
"""

import re
from collections.abc import Iterator

from halocline.policy.shell.findings import Finding, Rule, unknown_finding
from halocline.policy.shell.programs.shell_builtins import rule_of_variables
from halocline.policy.shell.syntax.tree import Block, Chain, Expansion, Kind, Node, Simple, Word, every_node, words_of
from halocline.policy.shell.syntax.words import DECLARES
from halocline.policy.shell.values.name_patterns import EXTENDED, names_hidden_switch
from halocline.policy.shell.values.variables import NAME, names_in_expansions
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import set_of

_RUNS_TEXT = compile_later(
    r"PS[0124]|PROMPT_COMMAND|BASH_ENV|ENV|\w*_?PAGER|\w*EDITOR|VISUAL|BROWSER|LESS(OPEN|CLOSE)"
    r"|GIT_(SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))|SSH_ASKPASS|SUDO_ASKPASS"
)
_SUBSCRIPT_RUNS = compile_later(r"\[[^\]]*(\$\(|`|\$\{)")
_SUBSCRIPTED = DECLARES | set_of("let unset read printf test [ mapfile readarray getopts wait")
_SETS_VARIABLES = frozenset({"read", "mapfile", "readarray", "getopts", "wait", "let"})
_ROWS = read_pairs(read_lines(__file__)["hazards by words"])
_BY_WORDS = {name: row.partition("; ")[::2] for name, row in _ROWS.items()}


def find_hazard(simple: Simple) -> str:
    """Say why a command does more than its expanded words say; empty if nothing is known."""
    for one in simple.assignments:
        if one.name in ("BASH_ALIASES", "BASH_CMDS", "BASHOPTS", "SHELLOPTS"):
            return "it changes what command names mean"
        if _RUNS_TEXT.fullmatch(one.name) and not (one.name.endswith("PAGER") and one.value.value in ("", "cat")):
            return f"the text of {one.name} is run as a command"
    if why := hazard_of_words(tuple(words_of(simple))):
        return why
    name, texts = str(simple.words[0].value) if simple.words else "", [word.text for word in simple.words[1:]]
    pattern, why = _BY_WORDS.get(name, ("", ""))
    if pattern and any(re.search(pattern, text) for text in texts):
        return why
    runs = name in _SUBSCRIPTED and any(map(_SUBSCRIPT_RUNS.search, texts))
    return "an array subscript in it may run commands" if runs else ""


def find_extended(text: str) -> list[Finding]:
    """Return the finding for a text with a pattern such as `@(a|b)`, where such patterns may be on."""
    reason = "what its extended patterns match is known only when it runs"
    return [unknown_finding(text, reason, Rule.LEADS_ANYWHERE)] if EXTENDED.search(text) else []


def find_steering(tree: Node) -> Finding | None:
    """Return the finding for a variable that decides what later commands run, set by other than an assignment."""
    for node in every_node(tree):
        if isinstance(node, Chain):
            continue
        names = filter(str.isupper, _list_variables_set(node))
        if name := next((one for one in names if rule_of_variables([one]) is not Rule.SHELL), ""):
            rule = Rule.LEADS_ANYWHERE if _RUNS_TEXT.fullmatch(name) else Rule.UNKNOWN
            return unknown_finding(node.source, f"it sets {name}, which decides what later commands run", rule)
    return None


def _list_variables_set(node: Simple | Block) -> Iterator[str]:
    """Yield the names of the variables that a loop, arithmetic, an expansion or a builtin may set."""
    yield from names_in_expansions(node)
    if isinstance(node, Block):
        yield node.name
    elif node.words:
        name, *texts = (word.source for word in node.words)
        if name in _SETS_VARIABLES or (name == "printf" and any("-v" in text for text in texts)):
            yield from NAME.findall(" ".join(texts))


def runs_subscripts(tree: Node) -> str:
    """Say why text in one place may be run by an expression in another; empty if it may not."""
    words = [word for node in every_node(tree) if not isinstance(node, Chain) for word in words_of(node)]
    texts = (part.text for word in words for part in word.parts if not isinstance(part, Expansion))
    if not any(_SUBSCRIPT_RUNS.search(text) for text in texts):
        return ""
    evaluates = any(_does_evaluate(node) for node in every_node(tree))
    return "text in it may run as an array subscript in arithmetic" if evaluates else ""


def _does_evaluate(node: Node) -> bool:
    """Return True if a command may evaluate the text of a variable as an expression."""
    if isinstance(node, Chain):
        return False
    parts = [part for word in words_of(node) for part in word.parts if isinstance(part, Expansion)]
    if any(part.kind is Kind.ARITHMETIC or "[" in part.operator or part.operator in ("!", ":") for part in parts):
        return True
    if isinstance(node, Block):
        return node.kind in ("arithmetic", "test") or node.name == "(("
    named = bool(node.words) and node.words[0].text in _SUBSCRIPTED
    return named or any(one.subscript is not None for one in node.assignments)


def hazard_of_words(words: tuple[Word, ...]) -> str:
    """Say why expansions in words may run the text of a variable; empty if they may not."""
    for word in words:
        for part in word.parts:
            if isinstance(part, Expansion) and (why := _of_expansion(part)):
                return why
    return ""


def _of_expansion(part: Expansion) -> str:
    operator = part.operator.removeprefix("[")
    if operator.startswith("@") and operator[1:] not in {*"QUuLEAaKk"}:
        return f"{part.source} runs a variable's text as a command"
    if part.kind is Kind.ARITHMETIC and _SUBSCRIPT_RUNS.search(part.source.replace("\\", "")):
        return "an array subscript in it may run commands"
    return hazard_of_words((part.argument,)) if part.argument else ""


def splits_oddly(simple: Simple) -> bool:
    """Return True if a command may change the word separators."""
    texts = [word.text.partition("=")[0] for word in simple.words]
    return "IFS" in (*(one.name for one in simple.assignments if not simple.words), *texts)


def matches_hidden(simple: Simple) -> bool:
    """Return True if a command may make patterns match names with a leading dot."""
    texts = [one.text for word in simple.words for one in (word, *word.could)]
    return any(map(names_hidden_switch, (*(one.name for one in simple.assignments), *texts)))
