"""Checks a turn's answer against the requested JSON Schema. Every answer is checked, none is trusted.

Only one thing is repaired: the answer may be in a code fence. `jsonschema` is imported when there is something to
check. Nothing is fetched: a schema may refer only to itself.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from halocline.context import notes
from halocline.protocol.events import AnswerAccepted, AnswerRefused
from halocline.protocol.messages import StopReason
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_FENCE = r"(?is)\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*"
_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 300


def judge_answer(state: State) -> tuple[AnswerAccepted | AnswerRefused, ...]:
    """Return the event on the turn's answer; none if no schema was requested, or the reply was cut or refused."""
    if state.answer.schema is None or state.last_message.stop_reason is not StopReason.END_TURN:
        return ()
    answer, problems = check_answer(final_text(state), state.answer.schema)
    if problems:
        return (AnswerRefused(problems=problems, content=(notes.answer_schema.build_mismatch_note(problems),)),)
    return (AnswerAccepted(answer=answer),)


def check_answer(text: str, schema: JsonObject) -> tuple[Any, tuple[str, ...]]:
    """Parse the answer; return its value and its problems."""
    from referencing.exceptions import Unresolvable

    fenced = re.fullmatch(_FENCE, text)
    try:
        value = msgspec.json.decode(fenced[1] if fenced else text)
        errors = list(_build_validator(schema).iter_errors(value))
    except msgspec.DecodeError as error:
        return None, (f"The answer is not one JSON value: {_describe_reason(error)}.",)
    except RecursionError:
        return None, ("The answer is nested too deeply.",)
    except Unresolvable:
        return None, ("The schema has a reference that cannot be resolved, so no answer can match it.",)
    return value, tuple(map(_describe_problem, errors[:_MOST_PROBLEMS]))


def schema_problem(schema: JsonObject) -> str:
    """Return what is wrong with the schema itself, and where; empty if it is valid."""
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    validator = _build_validator(schema)
    try:
        validator.check_schema(schema)
        for reference in _list_references(schema):
            _refuse_reference(schema, reference)
    except SchemaError as error:
        return _describe_problem(error)
    except Unresolvable:
        return f"The reference {reference} cannot be resolved within the schema; nothing is fetched."
    return ""


def _build_validator(schema: JsonObject) -> "Validator":
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    kind = validator_for(schema, default=Draft202012Validator)
    return kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)


def _refuse_reference(schema: JsonObject, reference: str) -> None:
    """Raises Unresolvable."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012, specification_with

    specification = specification_with(schema.get("$schema", ""), default=DRAFT202012)
    resource = specification.create_resource(schema)
    Registry().with_resource(resource.id() or "", resource).resolver(resource.id() or "").lookup(reference)


def _list_references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for inner in node.values():
            yield from _list_references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _list_references(inner)


def _describe_problem(error: "ValidationError") -> str:
    """Describe an error after its JSON pointer. If several alternatives fail, describe the first."""
    while error.context:
        error = error.context[0]
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path)
    words = error.message if len(error.message) <= _LONGEST_PROBLEM else error.message[:_LONGEST_PROBLEM] + "…"
    return f"At {pointer or 'the root'}: {words}."


def _describe_reason(error: msgspec.DecodeError) -> str:
    return str(error).removeprefix("JSON is malformed: ")
