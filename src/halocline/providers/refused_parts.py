"""Parts of a request that some servers do not take, and the form that they take: one list for all API families. Pure.

Which words mean which part stands in `refusals.toml`. What must stay true: it ends, as every change finds nothing to do
a second time; and nothing that was said is lost, except thoughts that the server itself calls invalid and results that
its filter refuses.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject, Value, set_of
from halocline.providers.accepted import fit_id
from halocline.providers.json_cache import encode_json

_NINE = compile_later(r"[a-zA-Z0-9]{9}"), 9
_NOTHING = "(nothing)"
"""Stands for text where a server takes no empty one."""
_NUMBER = compile_later(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+\b|(?<![\w.-])\d+(?![\w-])")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
_LEAST_BUDGET = 1024
"""Tokens of thoughts, of which Anthropic takes no fewer."""
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ORNAMENTS = set_of("cache_control strict phase detail reasoning_content reasoning_details reasoning thinking_blocks")
"""Keys within messages and tools that a request can do without."""
_IDS = ("id", "tool_call_id", "tool_use_id", "call_id")
_RESULTS = (
    ("tool", "tool_call_id", "content"),
    ("tool_result", "tool_use_id", "content"),
    ("function_call_output", "call_id", "output"),
)
"""Roles or types of results, with the fields of their id and their content."""
_MOST_RESULTS = 6
"""Results that one filter may cost: each is a request."""
LEFT_OUT = "[This result is left out: the server of the model refused it.]"

Learned = Any
"""Knowledge that a change of a part takes; empty if there is nothing to change."""


class _Part(Value, frozen=True):
    """`learn` reads from the request and the words of its refusal what `change` has to know to edit a body."""

    change: Callable[[JsonObject, Learned], object]
    learn: Callable[[JsonObject, str], Learned] = lambda body, said: True


def learn_change(part: str, body: JsonObject, said: str, known: Learned) -> Learned:
    """Return what to know about a part that was refused, and change the body; None if there is nothing to change."""
    learned = PARTS[part].learn(body, said)
    before = encode_json(body)
    PARTS[part].change(body, learned)
    if encode_json(body) == before:
        return None
    return known | learned if isinstance(known, frozenset) else learned


def change_parts(body: JsonObject, known: Mapping[str, Learned]) -> None:
    """Change all parts about which something is known, in the order of the list."""
    for name, part in PARTS.items():
        if name in known:
            part.change(body, known[name])


def _put_system_first(body: JsonObject, _: Learned) -> None:
    """Put the system prompt into the first prompt: the templates of many models know no other place."""
    name = next((name for name in ("messages", "input", "contents") if isinstance(body.get(name), list)), "")
    messages = body.get(name, [])
    if messages and messages[0].get("role") in ("system", "developer"):
        said = _join_texts(messages.pop(0)["content"])
    else:
        names = ("system", "instructions", "systemInstruction")
        said = next((_join_texts(body.pop(one)) for one in names if name and one in body), "")
    if not said:
        return
    field, kind = ("parts", {}) if name == "contents" else ("content", {"type": "text"})
    if not messages or messages[0].get("role") != "user":
        messages.insert(0, {"role": "user", field: [] if name == "contents" else ""})
    first, kind = messages[0], {"type": "input_text"} if name == "input" else kind
    content = first[field]
    first[field] = f"{said}\n\n{content}".strip() if isinstance(content, str) else [kind | {"text": said}, *content]


def _join_texts(content: Any) -> str:
    parts = content.get("parts", ()) if isinstance(content, dict) else content
    return parts if isinstance(parts, str) else "\n\n".join(part["text"] for part in parts)


def _join_system(body: JsonObject, _: Learned) -> None:
    if isinstance(body.get("system"), list):
        body["system"] = _join_texts(body["system"])


def _fill_content(body: JsonObject, filler: Learned) -> None:
    """Write something for the content of messages that have none."""
    without = (None, "") if filler else (None,)
    for one in _list_objects(body, "messages"):
        if "role" in one and one.get("content") in without:
            one["content"] = filler


def _shorten_ids(body: JsonObject, _: Learned) -> None:
    """Give the calls ids of nine letters and digits."""
    for one in _list_all(body):
        one |= {name: fit_id(id, *_NINE) for name in _IDS if isinstance(id := one.get(name), str)}


def _find_newest_result(body: JsonObject, _: str) -> Learned:
    """Return the id of the newest result that is still sent; it may be what a filter does not let through."""
    results = [(id, one[field]) for id, one, field in _list_results(body)]
    found = [id for id, content in results if content != LEFT_OUT]
    return frozenset(found[-1:] if len(results) - len(found) < _MOST_RESULTS else ())


def _omit_results(body: JsonObject, ids: Learned) -> None:
    for id, one, field in _list_results(body):
        if id in ids:
            one[field] = LEFT_OUT


def _list_results(body: JsonObject) -> Iterator[tuple[str, JsonObject, str]]:
    """Yield the id of each result of a tool, the object that has it, and the field that it is in."""
    for one in _list_all(body):
        for mark, name, field in _RESULTS:
            if mark in (one.get("role"), one.get("type")) and field in one:
                yield one[name], one, field


def _list_thoughts(body: JsonObject, _: str) -> Learned:
    return frozenset(hash(encode_json(one)) for one in _list_all(body) if one.get("type") in _THOUGHTS)


def _drop_thoughts(body: JsonObject, dropped: Learned) -> None:
    """Leave out the thoughts of a request that was refused, but not later ones."""

    def is_kept(one: Any) -> bool:
        is_thought = isinstance(one, dict) and one.get("type") in _THOUGHTS
        return not is_thought or hash(encode_json(one)) not in dropped

    for holder, field in [(body, "input"), *((one, "content") for one in _list_objects(body, "messages"))]:
        if isinstance(all := holder.get(field), list):
            kept = [one for one in all if is_kept(one)]
            holder[field] = kept or ([{"type": "text", "text": _NOTHING}] if all else all)


def _stop_thinking(body: JsonObject, _: Learned) -> None:
    """Ask for no thoughts while calls are answered whose own thoughts were left out."""
    replies = [one["content"] for one in _list_objects(body, "messages") if one.get("role") == "assistant"]
    if replies and isinstance(replies[-1], list) and replies[-1][0].get("type") not in _THOUGHTS:
        body.pop("thinking", None)


def _read_limit(body: JsonObject, said: str) -> Learned:
    """Return the largest number in the words of a refusal that is below the limit that was sent; 0 for none."""
    sent = next((value for one, name in _list_limits(body) if (value := one[name])), 0)
    numbers = (int(found.replace(",", "")) for found in _NUMBER.findall(said.rpartition("\n")[2]))
    return max((number for number in numbers if 0 < number < sent), default=0)


def _lower_limit(body: JsonObject, most: Learned) -> None:
    """Ask for a reply as long as the server allows, with thoughts of half that length at most."""
    if not most:
        return
    for one, name in _list_limits(body):
        one[name] = min(one[name], most)
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("budget_tokens", 0) >= most:
        thinking["budget_tokens"] = max(_LEAST_BUDGET, most // 2)


def _read_limits_name(body: JsonObject, said: str) -> Learned:
    return next((name for name in _LIMITS if re.search(rf"use\W+{name}\b", said, re.IGNORECASE)), "")


def _rename_limit(body: JsonObject, name: Learned) -> None:
    for one, old in _list_limits(body):
        if name not in ("", old):
            one[name] = one.pop(old)


def _list_limits(body: JsonObject) -> list[tuple[JsonObject, str]]:
    holders = [body, *(body[name] for name in ("generationConfig", "options") if isinstance(body.get(name), dict))]
    return [(one, name) for one in holders for name in _LIMITS if isinstance(one.get(name), int)]


def _list_refused_keys(body: JsonObject, said: str) -> Learned:
    return frozenset(name for name in _ORNAMENTS if re.search(rf"(?<![\w-]){name}(?![\w-])", said))


def _drop_keys(body: JsonObject, names: Learned) -> None:
    for one in _list_all(body):
        for name in names:
            one.pop(name, None)


def _list_all(body: JsonObject) -> Iterator[JsonObject]:
    """Yield all objects of a request in which a key of the format may stand: not those of schemas and arguments."""
    for name in ("system", "tools", "messages", "input"):
        yield from _list_objects(body, name)


def _list_objects(body: JsonObject, name: str) -> Iterator[JsonObject]:
    """Yield the objects of a list in a body, and those directly within them."""
    for one in _only_objects(body.get(name)):
        yield one
        for inner in ("content", "tool_calls", "output"):
            yield from _only_objects(one.get(inner))
        yield from _only_objects([one.get("function")])


def _only_objects(all: Any) -> list[JsonObject]:
    return [one for one in all if isinstance(one, dict)] if isinstance(all, list) else []


PARTS: Mapping[str, _Part] = {
    "system": _Part(_put_system_first),
    "system blocks": _Part(_join_system),
    "thoughts": _Part(_drop_thoughts, _list_thoughts),
    "thinking": _Part(_stop_thinking),
    "no content": _Part(_fill_content, lambda body, said: ""),
    "empty content": _Part(_fill_content, lambda body, said: _NOTHING),
    "ids": _Part(_shorten_ids),
    "length": _Part(_lower_limit, _read_limit),
    "name of the length": _Part(_rename_limit, _read_limits_name),
    "results": _Part(_omit_results, _find_newest_result),
    "keys": _Part(_drop_keys, _list_refused_keys),
}
"""All changes, by the names that `refusals.toml` has for them."""
