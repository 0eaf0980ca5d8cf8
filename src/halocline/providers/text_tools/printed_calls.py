"""Read the tool calls that a model printed in its reply instead of making them. Pure.

The forms stand in `printed_forms.toml`. Markup is rewritten to the tags of the text protocol, whose reader reads it.
All else is JSON, or a call as in Python, behind a head that may name the tool. Only calls of offered tools count, only
where they end the reply, and arguments that do not decode are not repaired: such a call has none.
"""

import ast
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from halocline.ports.tool import ToolSpec
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject
from halocline.providers.reply import KIND, parse_arguments
from halocline.providers.text_tools.arguments import read_arguments
from halocline.providers.text_tools.reader import Called, Reader, Words
from halocline.providers.text_tools.tags import WHOLE, WRAPPERS, ToolTags, tags_of

_LONGEST, _LONGEST_ENDS = 200_000, 300
_MOST_CALLS, _MOST_HEADS = 20, 40
_FORMS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("printed_forms.toml").read_text(encoding="utf-8"))


def _fill_form(words: str | list[str]) -> str:
    """Write out the parts that a form names; the tool stays."""
    text = words if isinstance(words, str) else "|".join(words)
    parts = {"kind": KIND, **_FORMS["parts"]}
    return re.sub(r"«(\w+)»", lambda found: _fill_form(parts[found[1]]) if found[1] in parts else found[0], text)


_HEADS = "|".join(_fill_form(row["words"]) for row in _FORMS["head"])
_MARKS = [(row["does"], _fill_form(row["words"])) for row in _FORMS["mark"]]
_TOKEN = _fill_form(_FORMS["parts"]["token"])
_KEYS = _FORMS["keys"]
_AROUND = re.compile(rf"(?:\s|[,;]|\[(?=\s)|```(?:\w+(?=\s))?|{_TOKEN})*\Z")
_LEAD = re.compile(rf"(?:\s|```\w*|</?{KIND}(?:{'|'.join(WRAPPERS)}|TOOLCALL)(?::\w{{1,20}})?>|(?!</?\w)(?:{_TOKEN}))*")
"""Blanks, fences, wrappers and special tokens before calls."""
_OPENERS = re.compile(rf"\A(?:\s|```\w*|{_TOKEN})*")
_BLANKS = r"\s{0,8}"
_MORE = re.compile(rf"[}}\])]{_BLANKS}(?:```)?{_BLANKS}\n{_BLANKS}[^\s`}}\])\"{{\[,<]")
"""Words below an object: that object is no call."""
_IN_QUOTES = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_LIKELY = re.compile(r"[\[{]\s{0,8}[\"'{\[}\]]")
_BEGUN = re.compile(
    r'[\[{\s]*"(?:name|tool|tool_name|function|action)"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arg|param|input|action_in)'
)
_TEXT_IN_TOKENS = re.compile(r"(<escape>|<\|\"\|>)(.*?)\1|(?<=[{,])\s{0,8}(\w+)\s{0,8}(?=:)", re.DOTALL)
"""Of Gemma's arguments: a text between two tokens, or a name without quotes."""
_TOOL = re.compile(r"[A-Za-z]\w*_\w+")
_MINIMAX = "]<]minimax[>["
_MARKUP = re.compile("|".join(pattern for _, pattern in _MARKS))
_FOLLOWS = re.compile(rf"\s*(?:{'|'.join(pattern for kind, pattern in _MARKS if kind in ('field', 'end', 'mark'))}|\Z)")
_NO_CODE = (TypeError, MemoryError, RecursionError, OverflowError, msgspec.MsgspecError)


class Printed(NamedTuple):
    """A printed call; without arguments when they do not decode. `text` is the call without what is around it."""

    tool: str
    arguments: JsonObject | None
    text: str


class Reading(NamedTuple):
    """The calls that end a reply, and the text before them. `inline`: they begin behind words of the same line."""

    before: str
    calls: tuple[Printed, ...]
    inline: bool = False


def read_printed(text: str, tools: Sequence[ToolSpec], *, bare: bool = True) -> Reading | None:
    """Read the calls that a reply ends with; None if there is none. `bare`: JSON alone may be one, and no answer."""
    tags = tags_of(tool for tool in tools if tool.name in text)
    if not tags:
        return None
    kept, text = text[:-_LONGEST], text[-_LONGEST:]
    found = _read_markup(text, tools, tags) or (_read_objects(text, tags) if bare else None)
    return found and found._replace(before=kept + found.before)


def read_unknown(text: str) -> Printed | None:
    """Read a reply that is nothing but an object that calls a tool by name with arguments, whatever the tool."""
    said = _OPENERS.sub("", _strip_ends(text[:_LONGEST])).strip()
    value = _decode(said, "", {}) if said[:1] == "{" else None
    match value:
        case {"name": str(name), **others} if list(others) in (["arguments"], ["parameters"]) and _TOOL.fullmatch(name):
            (arguments,) = others.values()
            return Printed(name, arguments, said) if arguments and isinstance(arguments, dict) else None
    return None


def _read_markup(text: str, tools: Sequence[ToolSpec], tags: Mapping[str, ToolTags]) -> Reading | None:
    reader = Reader(tools)
    pieces = [*reader.feed(_as_tags(text, tags)), *reader.finish(cut=False)]
    said = [piece for piece in pieces if isinstance(piece, Words | Called)]
    while said and isinstance(last := said[-1], Words) and _AROUND.fullmatch(last.text):
        said.pop()
    at = next((at for at in range(len(said), 0, -1) if not isinstance(said[at - 1], Called)), 0)
    calls = [piece for piece in said[at:] if isinstance(piece, Called)]
    before = "".join(piece.text if isinstance(piece, Words) else "" for piece in said[:at])
    made = tuple(_read_called(one, tags[one.tool]) for one in calls)
    return Reading(_strip_openers(before), made, _is_inline(_strip_openers(before), text)) if calls else None


def _is_inline(before: str, text: str) -> bool:
    """True if calls begin behind words of their line, unless a special token or wrapper ends these, or behind signs."""
    said = before.rstrip()
    line, around = said.rpartition("\n")[2], _LEAD.match(text, text.find(said) + len(said))
    if not line or around is None or "\n" in around[0]:
        return False
    return not around[0].strip() or not any(map(str.isalpha, line))


def _read_called(called: Called, tool: ToolTags) -> Printed:
    arguments = read_arguments(called.body, tool) if called.whole else None
    return Printed(called.tool, arguments, f"<{called.tool}>{called.body}</{called.tool}>")


def _as_tags(text: str, tags: Mapping[str, ToolTags]) -> str:
    """Rewrite other markup as tags. A value that may be any text ends only where a closing tag belongs."""
    tool = field = ""
    is_marked = False

    def rewrite(found: re.Match[str]) -> str:
        nonlocal tool, field, is_marked
        kind, name = _MARKS[(found.lastindex or 1) - 1][0], found[found.lastindex or 1]
        if kind == "open" and not tool and name in tags:
            tool, is_marked = name, text.endswith(_MINIMAX, 0, found.start())
            return f"<{tool}>"
        if kind == "field" and tool and not field:
            field = name
            return f"<{field}>"
        if kind == "shut" and field and (field not in WHOLE or _FOLLOWS.match(text, found.end())):
            tag, field = f"</{field}>", ""
            return tag
        if kind == "end" and tool and not field:
            tag, tool = f"</{tool}>", ""
            return tag
        return "" if kind == "mark" and (is_marked or not tool) else found.group()

    return _MARKUP.sub(rewrite, text) + (f"</{tool}>" if tool and not field else "")


def _read_objects(text: str, tags: Mapping[str, ToolTags]) -> Reading | None:
    """Read calls from the last to the first."""
    names = "|".join(map(re.escape, tags))
    name = re.compile(rf"(?:{names})(?!\w)")
    heads = _HEADS.replace("«tool»", name.pattern).replace("\\s*", _BLANKS).replace("[ \\t]*", r"[ \t]{0,40}")
    head = re.compile(heads, re.MULTILINE)
    calls: list[Printed] = []
    rest = before = _strip_ends(text)
    while rest and len(calls) < _MOST_CALLS:
        found = _last_call(rest, head, name, tags) or (None if calls else _broken_call(rest, head, name, tags))
        if found is None:
            break
        start, made = found
        calls[:0] = made
        before = rest[:start]
        rest = _strip_ends(before)
    return Reading(_strip_openers(before), tuple(calls), _is_inline(_strip_openers(before), text)) if calls else None


def _last_call(
    text: str, head: re.Pattern[str], name: re.Pattern[str], tags: Mapping[str, ToolTags]
) -> tuple[int, list[Printed]] | None:
    """Return where the last call begins, and what is called there: the first head whose rest is whole."""
    if text.endswith(("}", "]", ")")):
        for found in islice(head.finditer(text), _MOST_HEADS):
            named, rest = name.search(found.group()), text[found.end() :]
            tool = named[0] if named else ""
            if "print(" in found.group():
                rest = rest.removesuffix(")")
            if calls := list(_calls_in(_decode(rest, tool, tags), tool, tags)):
                whole = _OPENERS.sub("", text[found.start() :]).strip()
                return found.start(), [Printed(tool, arguments, whole) for tool, arguments in calls]
    return None


def _broken_call(
    text: str, head: re.Pattern[str], name: re.Pattern[str], tags: Mapping[str, ToolTags]
) -> tuple[int, list[Printed]] | None:
    """Return the last call whose JSON names its tool and does not decode."""
    for found in islice(head.finditer(text), _MOST_HEADS):
        rest = text[found.end() :]
        named, begun = name.search(found.group()), _BEGUN.match(rest)
        if rest[:1] not in ("{", "[") or _MORE.search(rest) or _decode(rest, "", tags) is not None:
            continue
        if (tool := named[0] if named else begun[1] if begun else "") in tags:
            return found.start(), [Printed(tool, None, rest)]
    return None


def _decode(text: str, named: str, tags: Mapping[str, ToolTags]) -> object:
    """Decode JSON, with line breaks in its texts if need be, or a call as in Python. None if it is neither."""
    if _LIKELY.match(text):
        for attempt in (text, _IN_QUOTES.sub(lambda found: found[0].replace("\n", "\\n").replace("\t", "\\t"), text)):
            with suppress(msgspec.DecodeError):
                return json_input.decode(attempt)
    if text[:1] == "{" and ("<escape>" in text or '<|"|>' in text):
        with suppress(msgspec.DecodeError):
            return json_input.decode(_TEXT_IN_TOKENS.sub(_quote, text))
    code = named + text if text[:1] == "(" else text
    if len(code) < _LONGEST // 10:
        with suppress(ValueError, SyntaxError, *_NO_CODE), warnings.catch_warnings(action="ignore"):
            return json_input.decode(msgspec.json.encode(_value_of(ast.parse(code, mode="eval").body, tags)))
    return None


def _quote(found: re.Match[str]) -> str:
    return msgspec.json.encode(found[3] or found[2]).decode()


def _value_of(tree: ast.expr, tags: Mapping[str, ToolTags]) -> object:
    """Return a Python literal, or calls as objects. Raises ValueError for other code."""
    if isinstance(tree, ast.List):
        return [_value_of(one, tags) for one in tree.elts]
    if not isinstance(tree, ast.Call):
        return ast.literal_eval(tree)
    tool = tree.func.id if isinstance(tree.func, ast.Name) else ""
    given = {one.arg or "": ast.literal_eval(one.value) for one in tree.keywords}
    values = [ast.literal_eval(one) for one in tree.args]
    if len(values) == 1 and not given and tool in tags:
        required = tags[tool].required
        given = values[0] if isinstance(values[0], dict) else dict.fromkeys(required[:1], values[0])
    elif values:
        raise ValueError
    return {"name": tool, "arguments": given}


def _calls_in(value: object, named: str, tags: Mapping[str, ToolTags]) -> Iterator[tuple[str, JsonObject | None]]:
    """Yield the calls that a value says, or nothing if it says anything else. `named`: the tool in the head."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _KEYS["lists"]:
        (value,) = value.values()
    rows = value if isinstance(value, list) else [value]
    made = [_call_of(row, named, tags) for row in rows]
    yield from (one for one in made if one) if all(made) else ()


def _call_of(row: object, named: str, tags: Mapping[str, ToolTags]) -> tuple[str, JsonObject | None] | None:
    if not isinstance(row, dict) or not all(isinstance(key, str) for key in row):
        return None
    fields = {key: value for key, value in row.items() if key not in _KEYS["besides"]}
    if len(fields) == 1:
        ((key, inner),) = fields.items()
        if key in tags and isinstance(inner, dict):
            return key, inner
        if key in ("function", "function_call", "tool_call") and isinstance(inner, dict):
            return _call_of(inner, named, tags)
    name = next((key for key in _KEYS["names"] if isinstance(fields.get(key), str)), "")
    tool = str(fields.get(name, "")).removeprefix("functions.")
    if tool in tags and named in ("", tool):
        others = {key: value for key, value in fields.items() if key != name}
        key = next(iter(others), "")
        if len(others) == 1 and key in _KEYS["arguments"] and isinstance(others[key], dict | str):
            return tool, parse_arguments(others[key]) if isinstance(others[key], str) else others[key]
        fields, named = others, tool
    if not named or not fields.keys() <= {*tags[named].parameters}:
        return None
    return (named, fields) if {*tags[named].required} <= {tags[named].parameters[key] for key in fields} else None


def _strip_ends(text: str) -> str:
    """Strip what may stand around calls."""
    around = _AROUND.search(text, max(0, len(text) - _LONGEST_ENDS))
    return text[: around.start()] if around else text


def _strip_openers(text: str) -> str:
    """Strip what may stand before calls, but no fence that closes another block."""
    stripped = _strip_ends(text)
    fence = text.find("```", len(stripped))
    return text[: fence + 3] if fence >= 0 and text[:fence].count("```") % 2 else stripped
