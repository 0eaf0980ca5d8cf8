"""Fields and parts that a server refuses: the request is sent again without a field, or with another form of a part.

For every API family. What must stay true: an effort that a person set is dropped only with a notice, and a field of
their settings never; later requests leave a field out or change a part only if the server answered then; and nothing of
the conversation is ever dropped. The form of an answer is a field: the task checks every answer itself. The parts are
in `refused_parts`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from halocline import providers
from halocline.ports.model import Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers.endpoint import Endpoint
from halocline.providers.json_cache import encode_json

FIELDS = (
    "stream_options",
    "include",
    "store",
    "reasoning.summary",
    "parallel_tool_calls",
    "response_format",
    "text.format",
    "output_config.format",
    "generationConfig.responseJsonSchema",
)
"""Fields of any family that a request can do without; a dot leads into an object."""
OF_THINKING = ("thinking", "generationConfig.thinkingConfig")
"""Those that a request can do without unless a person set the effort. Others are sent only then."""
OF_EFFORT = (
    *("reasoning_effort", "reasoning", "thinking", "think", "thinkingConfig", "thinking_budget", "enable_thinking"),
    "output_config.effort",
)
"""Those by which a set effort is sent, wherever they are; of an object all that is not in `FIELDS`."""

_EXTRA = "Remove it from [extra_body] in settings.toml."
WITHOUT_RESULTS = "{error}. The newest results of tools are left out"
WITHOUT_EFFORT = "{error}. It is asked without {fields}, so without the effort that you set"

_NEEDED_BY = {"generationConfig.responseMimeType": "generationConfig.responseJsonSchema"}
"""Fields that go with another one."""
_STATUSES = frozenset({400, 422})
_STATUSES_OF_PARTS = frozenset({400, 404, 422, 500})
"""Templates of local models fail as servers do; and what a request only refers to is not found."""
_KINDS_OF_PARTS = frozenset({ModelErrorKind.INVALID_REQUEST, ModelErrorKind.NOT_FOUND, ModelErrorKind.SERVER})
_KNOWN_ONES = compile_later(r"(?s)(expected|must be|allowed) (one|any) of.*")
"""The fields that a server knows, which some list behind the one they do not."""
_NAMES = compile_later(r"""["'`]\w+["'`]|\w[_.]\w|supplied: \w""")
"""Anything that may be the name of a field."""


class RefusedFields:
    """The fields that one server refused, and what is known of the parts that it refused."""

    def __init__(self) -> None:
        self.names: dict[object, frozenset[str]] = {}
        """By the effort that a person set."""
        self.parts: Mapping[str, Any] = {}


class Attempt:
    """One request, sent until the server takes its fields."""

    def __init__(self, known: RefusedFields, request: Request, endpoint: Endpoint) -> None:
        self._known = known
        self._request = request
        self._endpoint = endpoint
        self._effort = (request.effort, request.thinking_budget)
        self._names = known.names.get(self._effort, frozenset())
        self._parts = known.parts
        self._notice = ""

    def trim(self, body: Sequence[bytes]) -> Sequence[bytes]:
        """Return the body without the refused fields, and with other parts for the refused ones.

        Its first part is the head, an object that is still open.
        """
        if self._names:
            head = _read_head(body)
            for name in (*self._names, *(one for one, other in _NEEDED_BY.items() if other in self._names)):
                _drop_field(head, name)
            body = [encode_json(head)[:-1], *body[1:]]
        return [encode_json(self._change(body))] if self._parts else body

    def do_without(self, error: ModelError, body: Sequence[bytes]) -> None:
        """Do without what the error is about. Raises the error if that is nothing known, or set in the settings."""
        if not (self._change_part(error, body) or self._drop_fields(error, body)):
            raise self._explain(error, body) from error.__cause__

    def _change(self, body: Sequence[bytes]) -> dict[str, Any]:
        document = json_input.decode(b"".join(body), dict[str, Any])
        providers.refused_parts.change_parts(document, self._parts)
        return document

    def _change_part(self, error: ModelError, body: Sequence[bytes]) -> bool:
        if error.status not in _STATUSES_OF_PARTS or error.kind not in _KINDS_OF_PARTS:
            return False
        rows = providers.errors.read_table()["part"]
        named = {row["part"] for row in rows if re.search(row["words"], error.said, re.IGNORECASE)}
        for name in [name for name in providers.refused_parts.PARTS if name in named]:
            learned = providers.refused_parts.learn_change(name, self._change(body), error.said, self._parts.get(name))
            if learned is not None:
                self._parts = {**self._parts, name: learned}
                if name == "results":
                    self._notice = WITHOUT_RESULTS.format(error=error.text.rstrip("."))
                return True
        return False

    def _drop_fields(self, error: ModelError, body: Sequence[bytes]) -> bool:
        """Leave out what the error names, or everything optional if it names nothing; then of a set effort likewise."""
        if error.status not in _STATUSES:
            return False
        head = _read_head(body)
        sent = [
            name
            for name in _list_optional(self._request, self._endpoint)
            if _has_field(head, name) and name not in self._names
        ]
        if named := _find_named(sent, error.said):
            self._names |= set(named)
            return True
        sent = list(self._list_effort(head)) if _is_about_fields(error) else []
        named = [name for name in _find_named(_with_objects(sent, head), error.said) if name not in self._names]
        if not named:
            return False
        within = tuple(f"{outer}." for name in named if (outer := name.rpartition(".")[0]))
        self._names |= {*named, *(name for name in sent if name.startswith(within))}
        self._notice = WITHOUT_EFFORT.format(error=error.text.rstrip("."), fields=_show_names(named))
        return True

    def _list_effort(self, head: JsonObject) -> Iterator[str]:
        """Yield the fields by which a set effort is sent, without those of the settings."""
        others = {*_list_leaves(self._endpoint.extra_body), *FIELDS}
        for name in _list_leaves(head) if self._request.wishes_thinking else ():
            if name not in others and any(f".{one}." in f".{name}." for one in OF_EFFORT):
                yield name

    def _explain(self, error: ModelError, body: Sequence[bytes]) -> ModelError:
        """Return the error; if it is about fields of the settings, with what the person can do."""
        if not _is_about_fields(error):
            return error
        names = _find_named(_with_objects([*_list_leaves(self._endpoint.extra_body)], _read_head(body)), error.said)
        if not names:
            return error
        hint = f"{self._endpoint.vendor.title} refused {_show_names(names)}, which you set. {_EXTRA}"
        return ModelError(error.kind, error.text, hint, status=error.status, said=error.said)

    def take_notice(self) -> str:
        """Return what a person should know of the changes, once."""
        notice, self._notice = self._notice, ""
        return notice

    def succeed(self) -> None:
        """Remember what the server did not take: it answers without that."""
        self._known.names[self._effort] = self._names
        self._known.parts = {**self._known.parts, **self._parts}


def _list_optional(request: Request, endpoint: Endpoint) -> Sequence[str]:
    """List the optional fields, without those that a person set."""
    vendor = endpoint.vendor
    ours = (*FIELDS, *filter(None, [vendor.cache_key_field]), *vendor.claude_fields)
    if not request.wishes_thinking:
        ours += OF_THINKING
    return [name for name in ours if not _has_field(dict(endpoint.extra_body), name)]


def _find_named(names: Sequence[str], words: str) -> Sequence[str]:
    """Return the fields that a server's words name; all of them if the words name none."""
    said = _KNOWN_ONES.sub("", words)
    message = said.rpartition("\n")[2]
    if named := [name for name in names if _is_named(name, said)]:
        return named
    is_unnamed = not _NAMES.search(message) and providers.errors.find_words("unnamed_field").search(message)
    return names if is_unnamed else []


def _is_about_fields(error: ModelError) -> bool:
    return error.status in _STATUSES and error.kind is ModelErrorKind.INVALID_REQUEST


def _show_names(names: Sequence[str]) -> str:
    return " and ".join(f"`{one}`" for one in names if not any(f"{one}." in other for other in names))


def _list_leaves(fields: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Yield the names of all values within objects."""
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _list_leaves(value, f"{within}{name}.")
        else:
            yield f"{within}{name}"


def _with_objects(names: Sequence[str], head: JsonObject) -> Sequence[str]:
    """Return these fields, and the objects that have no others."""
    others = [name for name in _list_leaves(head) if name not in names]
    parts = {name[: found.start()] for name in names for found in re.finditer(r"\.", name)}
    return [*names, *sorted(part for part in parts if not any(other.startswith(f"{part}.") for other in others))]


def _is_named(name: str, said: str) -> bool:
    """True if a server's words name a field: as a name, or in the words that it has for what the field is."""
    last = name.rpartition(".")[2]
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower()
    spelt = "|".join(map(re.escape, [name] if snake == last else [name, last, snake]))
    if re.search(r"[_.A-Z]", name):
        pattern = rf"(?<![\w.])(body\.)?({spelt})\b"
    else:  # an ordinary word is a name only where it is marked as one
        pattern = (
            rf"""["'`]({spelt})["'`]|\b(parameters?|fields?|arguments?|propert\w+|supplied|name)\W{{1,3}}({spelt})\b"""
            rf"|(?<![\w.])(body\.)?({spelt})(\.\w+)*: "
        )
    if re.search(pattern, said):
        return True
    rows = providers.errors.read_table()["field"]
    return any(row["field"] == name and re.search(row["words"], said, re.IGNORECASE) for row in rows)


def _read_head(body: Sequence[bytes]) -> dict[str, Any]:
    return json_input.decode(body[0] + b"}", dict[str, Any])


def _has_field(head: JsonObject, name: str) -> bool:
    for part in name.split("."):
        if not isinstance(head, dict) or part not in head:
            return False
        head = head[part]
    return True


def _drop_field(head: JsonObject, name: str) -> None:
    """Remove a field, and the object around it if that becomes empty."""
    outer, _, inner = name.partition(".")
    if inner and isinstance(head.get(outer), dict):
        _drop_field(head[outer], inner)
    if not inner or head.get(outer) == {}:
        head.pop(outer, None)
