"""Each sentence that goes to the model and to a person serves both, or has a second wording where it is made.

The lists are not written by hand: they are every `ToolFailure` and `NotAdmitted`, and every end that the task gives a
call itself. A person reads the first sentence, or what was given as `person`.
"""

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import MODULES, SOURCE
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage, Text, ToolCall, ToolResult
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.words import first_sentence
from halocline.task.calls import admission

FOR_THE_MODEL = re.compile(
    r"\b(nothing was run|send it again|continue without|try again|instead of an answer|correct (it|them)|the user\b|"
    r"you (have|last|know|read)|hidden from you|(call|use|run|read|set|send|launch|fetch) (it|them|the|one) |"
    r"invalid arguments|^not allowed)|[;:,] (?:and )?(?:use|read|send|set|name|write|list|run|make|combine|add)\b|"
    r"^(?:use|read|send|set|name|write|search|find|check|copy|launch|start|give|call|choose)\b",
    re.IGNORECASE,
)
"""Words that a person would take for a mistake: they speak to a model."""
SERVE_BOTH = {
    "NOT_HERE": "named in another module, which is in the list itself",
    "refused": "the row has the decision",
    "why": "a call that was skipped says only that",
    "failure.text": "another failure, which is in the list itself",
    "error.text": "an error that is shown to people elsewhere",
    "str(broken)": "an error of the browser",
    "flaw": "what is wrong with a picture",
    "text": "made of what an MCP server, a page or an agent wrote",
    "answer_cut_call": "the model wrote a call that was cut off, and says so in its first sentence",
    "describe_reports": "reports of agents, each with its name first",
    "self._unusable()": "the state of an MCP server",
    "self._describe_break": "the state of an MCP server",
    "found": "what syntax checks found",
    "await": "a mention of a file that is not there",
}
"""Texts that are known only when a call fails, and why they serve both; by how they are written."""
NOT_FOR_PEOPLE = ("sampling", "mentions/", "policy/shell/", "services/replay/")
"""Places whose failures a server, a judge or the person's own prompt gets, and no call."""


def list_ends() -> Iterator[tuple[str, ast.expr, str, bool]]:
    """Yield each place that makes an end for the model: its text as written, if that is known, and a person's one."""
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = read_names(tree)
        for node in ast.walk(tree):
            name = getattr(getattr(node, "func", None), "id", "") if isinstance(node, ast.Call) else ""
            if name in ("ToolFailure", "NotAdmitted") and isinstance(node, ast.Call) and node.args:
                place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                has_wording = any(one.arg == "person" for one in node.keywords)
                if not any(part in place for part in NOT_FOR_PEOPLE):
                    yield place, node.args[0], read_text(node.args[0], names), has_wording


def read_names(tree: ast.Module) -> dict[str, str]:
    """The texts that a module names."""
    return {
        node.targets[0].id: text
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and (text := read_text(node.value))
    }


def read_text(node: ast.expr, names: dict[str, str] | None = None) -> str:
    """The text of an expression; what is known only when it is used is an x."""
    match node:
        case ast.Constant(value=str(text)):
            return re.sub(r"\{[^}]*\}", "x", text)
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
        case ast.IfExp(body=one, orelse=other):
            return f"{read_text(one, names)}. {read_text(other, names)}"
    return ""


def test_each_end_for_the_model_says_first_what_a_person_may_read_or_has_a_second_wording() -> None:
    ends = [(place, text) for place, _, text, has_wording in list_ends() if text and not has_wording]
    ends = [
        (place, text) for place, text in ends if not text.startswith(admission.DECLINED)
    ]  # the row has the decision
    assert len(ends) > 120
    told = {place: first_sentence(text) for place, text in ends}
    assert {place: text for place, text in told.items() if FOR_THE_MODEL.search(text)} == {}
    assert {place: text for place, text in told.items() if not text or len(text) > 200} == {}


def test_each_end_whose_text_is_not_known_before_has_a_second_wording_or_a_reason_why_it_needs_none() -> None:
    unknown = {place: ast.unparse(node) for place, node, text, has_wording in list_ends() if not (text or has_wording)}
    assert {place: text for place, text in unknown.items() if not any(map(text.startswith, SERVE_BOTH))} == {}


CALL = AssistantMessage((ToolCall("c", "execute_command", {"command": "make"}),), "m")


def read_end(told: str, for_person: str = "", status: CallStatus = CallStatus.FAILED) -> r.CallRow:
    result = ToolResult("c", (Text(told),))
    end = ev.ToolCallEnded("c", "execute_command", status, result, for_person=for_person)
    (row,) = rows_of([ev.AssistantMessageCompleted(CALL), end])
    assert isinstance(row, r.CallRow)
    return row


def test_a_row_has_the_second_wording_and_the_whole_text() -> None:
    row = read_end("There is no tool 'x'. Available tools: read_file.", "the model called a tool wrongly")
    assert (row.for_person, row.output) == (
        "the model called a tool wrongly",
        "There is no tool 'x'. Available tools: read_file.",
    )


@for_each(
    "told, read",
    (
        ("No page is open. Use the launch action first.", "No page is open."),
        (
            "Edit 1 of 1 failed: its search text occurs 11 times.\nREADME.md is unchanged.",
            "Edit 1 of 1 failed: its search text occurs 11 times.",
        ),
        ("a.py does not exist.", "a.py does not exist."),
    ),
)
def test_an_old_log_without_a_second_wording_shows_the_first_sentence(told: str, read: str) -> None:
    assert read_end(told).for_person == read


@for_each(
    "told, for_person, read",
    (
        (
            "1\n[the user moved it to the background; still running as job-1]",
            "in the background (job-1)",
            "1\n[in the background (job-1)]",
        ),
        ("1\n[exit code 0 in 0.1 s]", "", "1\n[exit code 0 in 0.1 s]"),
        (
            "a\n[… the middle of 1,001 bytes is left out here; /o.txt has all of it; use it …]\nb\n[exit code 0]",
            "",
            "a\n[… the middle of 1,001 bytes is left out here; /o.txt has all of it …]\nb\n[exit code 0]",
        ),
    ),
)
def test_a_command_says_its_end_and_its_gaps_to_a_person(told: str, for_person: str, read: str) -> None:
    row = read_end(told, for_person, CallStatus.COMPLETED)
    assert (row.output, row.for_person) == (read, "")
