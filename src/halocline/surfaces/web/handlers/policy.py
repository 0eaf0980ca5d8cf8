"""Approvals: of a task, of each mode, and of one command."""

import asyncio
from typing import Any

from halocline.client.policy import Explanation, PolicyService, explain_command, list_grants
from halocline.protocol.kinds import ApprovalMode, Mode, Scope
from halocline.protocol.permission_rules import Rule
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import OfFolder, OfTask, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfRule(Value, frozen=True):
    """A rule as `read_policy` returned it."""

    rule: Rule


class OfCommand(OfFolder, frozen=True):
    command: str
    mode: Mode = Mode.ACT
    approval_mode: ApprovalMode | None = None


@query("policy")
async def read_policy(tasks: OpenTasks, which: OfTask) -> dict[str, Any]:
    """Return a task's approval mode, switches, permissions and rules, and what each mode allows."""
    task = tasks.known(which.task)
    place, state = PolicyService.open(), await asyncio.to_thread(tasks.state, task)
    workspace = tasks.workspace(task)
    book = await asyncio.to_thread(place.book, workspace, state.roots)
    given = list_grants(await asyncio.to_thread(tasks.client.past, task))
    postures = [
        place.policy_context(workspace, Mode.ACT, mode, known=state.roots, switches=state.permissions.switches)
        for mode in ApprovalMode
    ]
    modes = [
        {"mode": posture.approval_mode, "grid": await asyncio.to_thread(place.grid, posture)} for posture in postures
    ]
    return {
        "approval_mode": state.permissions.approval_mode,
        "modes": modes,
        "switches": await asyncio.to_thread(place.switches, state),
        "grants": [one for one in given if one.scope is Scope.TASK],
        "rules": book.rules,
        "problems": book.problems,
    }


@action("take_out")
async def remove_rule(tasks: OpenTasks, which: OfRule) -> bool:
    """Remove a permission for a project or everywhere; all tasks ask again from their next call."""
    async with tasks.writing:
        return await asyncio.to_thread(PolicyService.open().take_out, which.rule)


@query("explain")
async def explain_decision(tasks: OpenTasks, which: OfCommand) -> Explanation:
    """Explain the decision a command would get now."""
    posture = PolicyService.open().policy_context(which.folder(), which.mode, which.approval_mode)
    return await asyncio.to_thread(explain_command, which.command, posture)
