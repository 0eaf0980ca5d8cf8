"""The task that continues the work of another one: started here, or joined if the process that ran the other has it."""

from pathlib import Path

from msgspec.structs import replace

from halocline.client.history import format_handover
from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import TaskBusy
from halocline.protocol.messages import Text
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.waiting import wait_until

HANDOVER_LIMIT = 10.0
"""Seconds for the process that ran a task to start the one that continues its work; then it is started here."""
PAUSE = 0.05


async def open_successor(client: Client, old: str, event: ev.HandedOver, opening: TaskOptions, turn: str) -> None:
    """Join the successor of a task if another process has it, or start it, with a name for its first turn.

    Raises TaskBusy.
    """
    is_elsewhere = client.is_attached(old) or bool(client.tasks.writer(event.to))
    if is_elsewhere and await _join(client, old, event.to, opening):
        return
    try:
        await _start(client, old, event, opening, turn)
    except TaskBusy:  # another process was faster
        if not await _join(client, old, event.to, opening):
            raise


async def _join(client: Client, old: str, new: str, opening: TaskOptions) -> bool:
    """Join the successor of a task. Return False if no other process starts it."""
    await client.let_go(old)  # or this process would take the old task over
    if not await _find_writer(client, new):
        return False
    await client.join(new, TaskOptions(attended=True, asks_again=True, editor=opening.editor))
    return True


async def _start(client: Client, old: str, event: ev.HandedOver, opening: TaskOptions, turn: str) -> None:
    """Start the successor of a task, with its settings, and its first turn."""
    state = fold_events(client.past(old))
    model = client.only_model(old) if client.is_open(old) else state.model.name
    now = replace(opening, model=model or None, mode=state.plan.mode)
    now = replace(now, approval_mode=state.permissions.approval_mode, roots=state.roots)
    await client.start(Path(state.workspace), now, event.to)
    await client.let_go(old)
    content = (Text(format_handover(event)),)
    client.send(cmd.SubmitPrompt(task=event.to, content=content, verbatim=True, turn=turn))


async def _find_writer(client: Client, task: str) -> bool:
    """Wait until another process has started a task; False if none does. It has its lock first, then its log."""

    async def has_started() -> bool:
        return bool(client.tasks.writer(task) and client.tasks.info(task))

    return await wait_until(has_started, HANDOVER_LIMIT, PAUSE)
