"""`/permissions`: list permissions with numbers, and revoke one."""

import time
from collections.abc import Sequence
from pathlib import Path

from halocline.client.policy import GivenGrant, PolicyService, list_grants
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.kinds import ApprovalMode, Scope
from halocline.protocol.permission_rules import Rule
from halocline.surfaces.rows.words import brief_grant
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.slash.context import SlashAnswer, SlashContext
from halocline.surfaces.slash.modes import answer_approvals

NONE = "No permissions. To grant one, allow something always when you are asked."
HOW = "To revoke one: /permissions forget N"
GONE = "Permission revoked: you will be asked again."
USAGE = """\
/permissions           list permissions
/permissions forget N  revoke one
/approvals MODE        set the approval mode"""


async def answer_permissions(context: SlashContext, rest: str) -> SlashAnswer:
    if rest in tuple(ApprovalMode):  # in older versions it was another name of /approvals
        return await answer_approvals(context, rest)
    client, task = context.client, context.task
    service = PolicyService.open()
    given = _list_given(client, task, service)
    match rest.split():
        case [] if not given:
            return NONE
        case []:
            return "\n".join([*(_grant_line(at, one) for at, one in enumerate(given, 1)), HOW])
        case ["forget", number] if number.isdecimal() and 0 < int(number) <= len(given):
            return _forget_grant(given[int(number) - 1], service, client, task)
        case ["forget", number]:
            return f"No permission {number}. To list them: /permissions"
    return USAGE


async def complete_permissions(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    listed = _list_given(client, task, PolicyService.open())
    numbered = {str(at): f"{_describe_place(one)}: {_describe_subject(one)}" for at, one in enumerate(listed, 1)}
    match given:
        case []:
            return {f"forget {number}": f"revoke: {text}" for number, text in numbered.items()}
        case ["forget"]:
            return numbered
    return {}


def _list_given(client: Client, task: str, service: PolicyService) -> list[GivenGrant | Rule]:
    """Return the permissions of the task, then those of its folder and those for everywhere."""
    of_task: list[GivenGrant | Rule] = [one for one in list_grants(client.past(task)) if one.scope is Scope.TASK]
    return of_task + list(service.kept(Path(client.state(task).workspace)))


def _forget_grant(one: GivenGrant | Rule, service: PolicyService, client: Client, task: str) -> str:
    if isinstance(one, GivenGrant):
        client.send(cmd.TakeBack(task=task, grant=one.grant))
        return "" if client.state(task).turn is None else GONE
    return GONE if service.take_out(one) else "It was already revoked."


def _grant_line(number: int, one: GivenGrant | Rule) -> str:
    return f"{number}  {_describe_place(one):<15}  {_describe_subject(one)}"


def _describe_place(one: GivenGrant | Rule) -> str:
    if isinstance(one, GivenGrant):
        return "in this task"
    return "in this project" if one.workspace else "everywhere"


def _describe_subject(one: GivenGrant | Rule) -> str:
    if isinstance(one, GivenGrant):
        when = time.strftime("%H:%M", time.localtime(one.at))
        who = f"{when}, {one.client}" if one.client else when
        return f"{reveal(brief_grant(one.grant))}  ({who})"
    subject = (
        one.command or " ".join(map(str, (*one.argv, *one.paths, *one.hosts, *_mcp_words(one)))) or ", ".join(one.kinds)
    )
    return f"{reveal(subject)}{f'  ({reveal(one.reason)})' if one.reason else ''}"


def _mcp_words(rule: Rule) -> tuple[str, ...]:
    return (rule.mcp,) if isinstance(rule.mcp, str) and rule.mcp else tuple(rule.mcp)
