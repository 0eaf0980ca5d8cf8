"""A task's questions as forms for the user of an MCP client, and their answers as commands. Pure.

What must stay true: only an explicit yes approves; anything else rejects.
"""

from collections.abc import Sequence
from typing import Any

import mcp_types as types

from halocline.protocol import commands as cmd
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Choice
from halocline.protocol.state.state import State
from halocline.surfaces.figures import name_grade

Asked = ApprovalRequested | QuestionAsked

QUESTION = "question"
_FILE = "file_"
LONGEST = 6_000
NO_ANSWER = "The user gave no answer."
_CHOICES = {Choice.ALLOW_ONCE: "Yes, once", Choice.ALLOW_ALWAYS: "Yes, always in this task", Choice.REJECT_ONCE: "No"}


def is_open(event: Asked, state: State) -> bool:
    """True if the question still waits for an answer."""
    open_now = state.pending.approvals if isinstance(event, ApprovalRequested) else state.pending.questions
    return any(each.request == event.request for each in open_now)


def form_of(asked: Asked) -> types.ElicitRequestFormParams:
    """Build the form of a question."""
    if isinstance(asked, ApprovalRequested):
        diffs = "".join(f"\n{diff.text}" for diff in asked.diffs)
        reason = name_grade(asked.grade, asked.reason, asked.agent)
        text = f"Halocline asks for approval ({reason}):\n{asked.detail or asked.title}{diffs}"
        always = asked.grant is not None
        order = sorted(_CHOICES, key=Choice.REJECT_ONCE.__ne__) if asked.grade.is_grave else _CHOICES
        titled = [(choice, _CHOICES[choice]) for choice in order if always or choice is not Choice.ALLOW_ALWAYS]
        fields = {"decision": _choice_schema("Allow it?", titled), "note": _text_schema("Note to the agent")}
        paths = [diff.path for diff in asked.diffs] if len(asked.diffs) > 1 else []
        fields |= {f"{_FILE}{at}": _switch_schema(f"Change {path}") for at, path in enumerate(paths)}
        return _build_form(text, fields, ["decision"])
    if not asked.options:
        return _build_form(asked.question, {"answer": _text_schema("Your answer")}, ["answer"])
    options = [(option, option) for option in asked.options]
    return _build_form(
        asked.question, {"answer": _choice_schema("Your answer", options), "other": _text_schema("Another answer")}, []
    )


def answer_to(asked: Asked, given: types.ElicitResult | None) -> cmd.ResolveApproval | cmd.AnswerQuestion:
    """Turn the user's answer into a command."""
    content: dict[str, Any] = dict(given.content or {}) if given and given.action == "accept" else {}
    if isinstance(asked, QuestionAsked):
        answer = str(content.get("other") or content.get("answer") or NO_ANSWER)
        return cmd.AnswerQuestion(task=asked.task, request=asked.request, answer=answer)
    decision = content.get("decision")
    allowed = next((yes for yes in (Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS) if decision == yes.value), None)
    return cmd.ResolveApproval(
        task=asked.task,
        request=asked.request,
        decision=allowed or Choice.REJECT_ONCE,
        note=str(content.get("note") or ""),
        refused=tuple(diff.path for at, diff in enumerate(asked.diffs) if content.get(f"{_FILE}{at}") is False),
    )


def _build_form(text: str, fields: dict[str, Any], required: list[str]) -> types.ElicitRequestFormParams:
    message = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
    schema = {"type": "object", "properties": fields, "required": required}
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


def _choice_schema(title: str, options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    titled = [{"const": str(value), "title": text} for value, text in options]
    return {"type": "string", "title": title, "oneOf": titled}


def _switch_schema(title: str) -> dict[str, Any]:
    return {"type": "boolean", "title": title, "default": True}


def _text_schema(title: str) -> dict[str, Any]:
    return {"type": "string", "title": title}
