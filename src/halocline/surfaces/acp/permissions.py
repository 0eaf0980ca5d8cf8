"""Approvals and questions as ACP permission requests, and their outcomes as commands."""

from acp import schema

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import Choice, Scope
from halocline.surfaces.grants import describe_rule, name_grant
from halocline.surfaces.sanitize import reveal

_NAMES = {Choice.ALLOW_ONCE: "Allow", Choice.REJECT_ONCE: "Reject", Choice.REJECT_ALWAYS: "Reject, also from now on"}
_ORDER = [Choice.ALLOW_ONCE, Choice.REJECT_ONCE, Choice.REJECT_ALWAYS, Choice.ALLOW_ALWAYS]
BY_FILE = "by_file"
"""The option to decide on each file of an edit."""
FILE_OPTIONS = {Choice.ALLOW_ONCE: "Change this file", Choice.REJECT_ONCE: "Leave this file as it is"}
TYPED = "type"
"""The option of a question that lets the person type an answer: the next prompt."""


def list_options(event: ev.ApprovalRequested) -> list[schema.PermissionOption]:
    """Return the options of an approval, the most careful ones first: a narrow panel does not show the last ones.

    What is grave is rejected by the first, which editors choose with Enter.
    """
    found: list[schema.PermissionOption] = []
    order = _ORDER if not event.grade.is_grave else [*_ORDER[1:3], _ORDER[0], _ORDER[3]]
    for choice in sorted(event.options, key=order.index):
        if choice is Choice.ALLOW_ALWAYS and event.grant:
            found += [
                _make_option(f"{choice}:{scope}", f"Always allow {name_grant(event.grant, scope)}", choice)
                for scope in Scope
            ]
        elif choice in _NAMES:
            found.append(_make_option(choice.value, _NAMES[choice], choice))
    by_file = [_make_option(BY_FILE, "Decide file by file", Choice.ALLOW_ONCE)] if len(event.diffs) > 1 else []
    return found + by_file


def list_file_options() -> list[schema.PermissionOption]:
    """Return the options for one file of an edit."""
    return [_make_option(choice.value, name, choice) for choice, name in FILE_OPTIONS.items()]


def explain_always(event: ev.ApprovalRequested) -> str:
    """Return all of what *always* allows if the options have only a part of it; else nothing."""
    if event.grant is None or Choice.ALLOW_ALWAYS not in event.options:
        return ""
    rule = describe_rule(event.grant)
    return "" if name_grant(event.grant, Scope.TASK).startswith(rule) else f"“Always” allows {rule}."


def make_decision(task: str, event: ev.ApprovalRequested, option: str) -> cmd.ResolveApproval:
    """Return the command for a chosen option. An unknown option rejects."""
    name, _, scope = option.partition(":")
    try:
        choice, reach = Choice(name), Scope(scope) if scope else Scope.TASK
    except ValueError:
        choice, reach = Choice.REJECT_ONCE, Scope.TASK
    if choice not in event.options:
        choice = Choice.REJECT_ONCE
    return cmd.ResolveApproval(task=task, request=event.request, decision=choice, scope=reach)


def list_choices(event: ev.QuestionAsked) -> list[schema.PermissionOption]:
    """Return the answers on offer for a question that takes no other: to agree first, then not to."""
    return [
        schema.PermissionOption(
            option_id=str(number), name=reveal(answer), kind="reject_once" if number else "allow_once"
        )
        for number, answer in enumerate(event.options)
    ]


def list_answers(event: ev.QuestionAsked) -> list[schema.PermissionOption]:
    """Return the answers on offer for a question, and one to type another."""
    answers = [
        schema.PermissionOption(option_id=str(number), name=reveal(answer), kind="allow_once")
        for number, answer in enumerate(event.options)
    ]
    return [*answers, schema.PermissionOption(option_id=TYPED, name="Type another answer", kind="reject_once")]


def read_answer(event: ev.QuestionAsked, option: str) -> str | None:
    """Return the chosen answer; None if the person wants to type one."""
    names = {str(number): answer for number, answer in enumerate(event.options)}
    return names.get(option)


def _make_option(option: str, name: str, choice: Choice) -> schema.PermissionOption:
    return schema.PermissionOption(option_id=option, name=name, kind=choice.value)
