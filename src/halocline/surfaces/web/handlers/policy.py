"""What may be done without asking: of a task, in each mode, and of one command."""

import asyncio
from typing import Any

from halocline.protocol.events import ApprovalMode, Mode, Scope
from halocline.protocol.permission_rules import Rule
from halocline.protocol.values import Value
from halocline.services.policy.grants import leave_given
from halocline.services.policy.rules import Explanation, PolicyDesk, explained
from halocline.surfaces.web.handlers.route import OfFolder, OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import Desk, folder


class OfRule(Value, frozen=True):
    """A rule as `policy` told it."""

    rule: Rule


class OfCommand(OfFolder, frozen=True):
    command: str
    mode: Mode = Mode.ACT
    approval_mode: ApprovalMode | None = None


async def policy(desk: Desk, which: OfTask) -> dict[str, Any]:
    """A task's approval mode and switches, what each mode does without asking, leave that was given, rules in force."""
    task = desk.known(which.task)
    place, state = PolicyDesk.open(), await asyncio.to_thread(desk.state, task)
    workspace = desk.workspace(task)
    book = await asyncio.to_thread(place.book, workspace, state.roots)
    given = leave_given(await asyncio.to_thread(desk.client.past, task))
    postures = [
        place.posture(workspace, Mode.ACT, mode, known=state.roots, switches=state.switches) for mode in ApprovalMode
    ]
    modes = [
        {"mode": posture.approval_mode, "grid": await asyncio.to_thread(place.grid, posture)} for posture in postures
    ]
    return {
        "approval_mode": state.approval_mode,
        "modes": modes,
        "switches": await asyncio.to_thread(place.switches, state),
        "grants": [one for one in given if one.scope is Scope.TASK],
        "rules": book.rules,
        "problems": book.problems,
    }


async def take_out(desk: Desk, which: OfRule) -> bool:
    """Take leave back that was given for a project or everywhere; all tasks ask again from their next call on."""
    async with desk.writing:
        return await asyncio.to_thread(PolicyDesk.open().take_out, which.rule)


async def explain(desk: Desk, which: OfCommand) -> Explanation:
    """The decision on a command, were a task to ask for it now."""
    posture = PolicyDesk.open().posture(folder(which.workspace), which.mode, which.approval_mode)
    return await asyncio.to_thread(explained, which.command, posture)


QUERIES: Rows = {"policy": Row(OfTask, policy), "explain": Row(OfCommand, explain)}
ACTIONS: Rows = {"take_out": Row(OfRule, take_out)}
