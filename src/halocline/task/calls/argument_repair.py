"""What certain families of models do to the text in their calls, and how it is undone. Pure; the families are data.

Nothing is touched for a model that is not listed, nor where the text shows that it was meant so: a file that holds
both `&lt;` and `<` was not escaped as a whole.
"""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath

from halocline.protocol.values import JsonObject

ENTITIES, FENCES, QUOTES = "entities", "fences", "quotes"

FAMILIES: Mapping[str, frozenset[str]] = {
    "*deepseek-chat*": frozenset({ENTITIES, FENCES}),
    "*deepseek-coder*": frozenset({ENTITIES, FENCES}),
    "*deepseek-v[23]*": frozenset({ENTITIES, FENCES}),
    "*deepseek-r1*": frozenset({ENTITIES, FENCES}),
    "*gemini-[12].*": frozenset({ENTITIES, QUOTES}),
    "*llama-[23]*": frozenset({FENCES}),
    "*llama[23]*": frozenset({FENCES}),
    "*codellama*": frozenset({FENCES}),
    "*mistral-7b*": frozenset({FENCES}),
    "*mixtral*": frozenset({FENCES}),
    "*qwen2*": frozenset({ENTITIES, FENCES}),
}
"""Which slips happen to which models; the patterns are of `provider/model` in small letters."""

_FIELDS: Mapping[str, frozenset[str]] = {
    "content": frozenset({ENTITIES, FENCES, QUOTES}),
    "diff": frozenset({ENTITIES, FENCES, QUOTES}),
    "command": frozenset({ENTITIES}),
}
"""In which arguments a slip is undone."""

_CHARACTERS = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'", "&amp;": "&"}
_PLAIN_AMPERSAND = re.compile(r"&(?!(?:lt|gt|quot|apos|#39|amp);)")
_PLAIN_QUOTE = re.compile(r'(?<!\\)"')
_FENCE = re.compile(r"```[\w.+#-]*[ \t]*")
_MARKUP = frozenset(
    {".md", ".mdx", ".markdown", ".mkd", ".rmd", ".qmd", ".html", ".htm", ".xhtml", ".xml", ".svg", ".vue", ".rst"}
)
"""Files in which entities and fences are content."""


def repair_arguments(arguments: JsonObject, model: str) -> JsonObject:
    """The arguments without the slips of this model's family; the same object when there is nothing to do."""
    slips = _slips_of(model)
    if not slips:
        return arguments
    fixed = {name: _repair_text(value, name, slips, arguments) for name, value in arguments.items()}
    return arguments if fixed == arguments else fixed


def _slips_of(model: str) -> frozenset[str]:
    name = model.lower()
    return frozenset[str]().union(*(slips for pattern, slips in FAMILIES.items() if fnmatchcase(name, pattern)))


def _repair_text(value: object, name: str, slips: frozenset[str], arguments: JsonObject) -> object:
    here = slips & _FIELDS.get(name, frozenset())
    if not (here and isinstance(value, str)):
        return value
    if PurePath(str(arguments.get("path", ""))).suffix.lower() in _MARKUP:
        here &= {QUOTES}
    for slip, undo in _UNDO.items():
        value = undo(value) if slip in here else value
    return value


def _without_entities(text: str) -> str:
    """Each entity becomes its character, if that never stands in the text by itself."""
    whole = text
    for entity, character in _CHARACTERS.items():
        plain = _PLAIN_AMPERSAND.search(whole) if character == "&" else character in whole
        text = text if plain else text.replace(entity, character)
    return text


def _without_fences(text: str) -> str:
    """Without a fence as the first line or as the last."""
    lines = text.split("\n")
    if _FENCE.fullmatch(lines[0]):
        del lines[0]
    last = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), None)
    if last is not None and lines[last].rstrip() == "```":
        lines[last:] = [""]
    return "\n".join(lines)


def _with_plain_quotes(text: str) -> str:
    """Quotes lose the backslash before them, if every one has it."""
    return text if _PLAIN_QUOTE.search(text) else text.replace('\\"', '"')


_UNDO: Mapping[str, Callable[[str], str]] = {
    FENCES: _without_fences,
    ENTITIES: _without_entities,
    QUOTES: _with_plain_quotes,
}
