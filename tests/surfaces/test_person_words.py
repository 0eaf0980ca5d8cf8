"""Each sentence that goes to the model and to a person has two wordings, or says what happened first.

The list is not written by hand: it is every text of a `ToolFailure`, and the refusals of the task.
"""

import ast
import re

from tests.architecture.sources import MODULES, SOURCE
from tests.tables import for_each

from halocline.surfaces.rows.person_words import WRONG_CALL, tell_person
from halocline.task.calls import admission, tool_calls
from halocline.tools import execute_command

FOR_THE_MODEL = re.compile(
    r"\b(nothing was run|send it again|continue without|try again|instead of an answer|correct (it|them)|the user\b|"
    r"you (have|last|know|read)|hidden from you|(call|use|run|read|set|send|launch|fetch) (it|them|the|one) )",
    re.IGNORECASE,
)
"""Words that a person would take for a mistake: they speak to a model."""
REFUSALS = {
    name: text
    for module in (admission, tool_calls)
    for name, text in vars(module).items()
    if name.isupper() and isinstance(text, str) and " " in text
}
NOT_SHOWN = {
    "NOT_ALONE",  # a note in a result that is good
    "IN_PART",
    "UNKNOWN_TOOL",  # a beginning
    "WARNED",
}


def list_failures() -> dict[str, str]:
    """The texts of all failures of tools by their place; what is known only when one happens is an x."""
    found: dict[str, str] = {}
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            node.targets[0].id: text
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and (text := read_text(node.value))
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ToolFailure" and node.args:
                text = read_text(node.args[0], names)
                if text and "not included:" not in text and "sampling" not in str(path):  # only a person, a server
                    found[f"{path.relative_to(SOURCE)}:{node.lineno}"] = re.sub(r"\{[^}]*\}", "x", text)
    return found


def read_text(node: ast.expr, names: dict[str, str] | None = None) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(read_text(part, names) for part in node.values)
        case ast.FormattedValue():
            return "x"
        case ast.BinOp(op=ast.Add()):
            return (read_text(node.left, names) or "x") + (read_text(node.right, names) or "x")
        case ast.Name(id=name):
            return (names or {}).get(name, "")
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            return read_text(text, names)
    return ""


def test_no_failure_of_a_tool_speaks_to_the_model_where_a_person_reads_it() -> None:
    failures = list_failures()
    assert len(failures) > 150
    told = {place: tell_person(text) for place, text in failures.items()}
    assert {place: text for place, text in told.items() if FOR_THE_MODEL.search(text)} == {}
    assert {place: text for place, text in told.items() if not text or len(text) > 200} == {}


def test_no_refusal_speaks_to_the_model_where_a_person_reads_it() -> None:
    told = {
        name: tell_person(re.sub(r"\{[^}]*\}", "x", text)) for name, text in REFUSALS.items() if name not in NOT_SHOWN
    }
    assert {name: text for name, text in told.items() if FOR_THE_MODEL.search(text)} == {}


@for_each(
    "told, read",
    (
        (
            "Not allowed: it deletes /: no mode allows that (rule never). Nothing was run; continue without it.",
            "blocked: it deletes / (never allowed)",
        ),
        ("There is no tool 'use_subagents'. Available tools: read_file.", WRONG_CALL),
        (
            "Invalid arguments for read_file: Object missing required field `path`. Nothing was run; correct them.",
            WRONG_CALL,
        ),
        (tool_calls.OVERTAKEN_ANSWER, "answered below"),
        (execute_command._LEFT[execute_command.Left.PERSON].format(job="job-1"), "in the background (job-1)"),
        (
            "Edit 1 of 1 failed: its search text occurs 11 times.\nREADME.md is unchanged. Read that part of the file.",
            "Edit 1 of 1 failed: its search text occurs 11 times.",
        ),
        ("No page is open. Use the launch action first.", "No page is open."),
        ("a.py does not exist.", "a.py does not exist."),
    ),
)
def test_a_person_reads_what_happened(told: str, read: str) -> None:
    assert tell_person(told) == read
