"""What a task asks, as a form for the person of an MCP client, and what they say, as a command. Pure.

What must stay true: only a clear yes is one; whatever else comes back declines.
"""

from collections.abc import Sequence
from typing import Any

import mcp_types as types

from halocline.protocol import commands as cmd
from halocline.protocol.events import ApprovalRequested, Choice, QuestionAsked
from halocline.protocol.state.state import State

Asked = ApprovalRequested | QuestionAsked

QUESTION = "question"
LONGEST = 6_000
NO_ANSWER = "They gave no answer."
_CHOICES = {
    Choice.ALLOW_ONCE: "Yes, once",
    Choice.ALLOW_ALWAYS: "Yes, always in this task",
    Choice.REJECT_ONCE: "No",
}


def is_open(event: Asked, state: State) -> bool:
    """Whether it still waits; what was asked before may have its answer."""
    open_now = state.approvals if isinstance(event, ApprovalRequested) else state.questions
    return any(each.request == event.request for each in open_now)


def form_of(asked: Asked) -> types.ElicitRequestFormParams:
    """The form."""
    if isinstance(asked, ApprovalRequested):
        diffs = "".join(f"\n{diff.text}" for diff in asked.diffs)
        text = f"Halocline wants to do this, and asks ({asked.reason}):\n{asked.detail or asked.title}{diffs}"
        always = asked.grant is not None
        titled = [(choice, said) for choice, said in _CHOICES.items() if always or choice is not Choice.ALLOW_ALWAYS]
        fields = {"decision": _choice_schema("Allow it?", titled), "note": _text_schema("What you want to say to it")}
        return _build_form(text, fields, ["decision"])
    if not asked.options:
        return _build_form(asked.question, {"answer": _text_schema("Your answer")}, ["answer"])
    options = [(option, option) for option in asked.options]
    return _build_form(
        asked.question, {"answer": _choice_schema("Your answer", options), "other": _text_schema("Another answer")}, []
    )


def answer_to(asked: Asked, given: types.ElicitResult | None) -> cmd.ResolveApproval | cmd.AnswerQuestion:
    """What the person said, as a command."""
    content: dict[str, Any] = dict(given.content or {}) if given and given.action == "accept" else {}
    if isinstance(asked, QuestionAsked):
        said = str(content.get("other") or content.get("answer") or NO_ANSWER)
        return cmd.AnswerQuestion(task=asked.task, request=asked.request, answer=said)
    decision = content.get("decision")
    allowed = next((yes for yes in (Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS) if decision == yes.value), None)
    return cmd.ResolveApproval(
        task=asked.task,
        request=asked.request,
        decision=allowed or Choice.REJECT_ONCE,
        note=str(content.get("note") or ""),
    )


def _build_form(text: str, fields: dict[str, Any], required: list[str]) -> types.ElicitRequestFormParams:
    message = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
    schema = {"type": "object", "properties": fields, "required": required}
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


def _choice_schema(title: str, options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    titled = [{"const": str(value), "title": said} for value, said in options]
    return {"type": "string", "title": title, "oneOf": titled}


def _text_schema(title: str) -> dict[str, Any]:
    return {"type": "string", "title": title}
