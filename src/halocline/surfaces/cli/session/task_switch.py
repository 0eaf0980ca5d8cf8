"""Switch to another task within one run of `halo`: a hand-over, `/clear`, `/resume ID`."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.client.history import format_handover
from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.stderr import describe_stopped
from halocline.surfaces.slash.context import ANEW, LeaveTask
from halocline.surfaces.terminal.view import View


class Next(Value, frozen=True):
    """The next task, the last event not to show again, a prompt that is not typed, and the past events."""

    task: str
    after: int = 0
    prompt: str = ""
    past: tuple[ev.DurableEvent, ...] = ()


def goes_on_elsewhere(client: Client, conversation: Conversation, view: View) -> bool:
    """True if the task was handed over in another process; the person is told how to join the new one."""
    if not conversation.handed_over or not client.is_attached(conversation.task):
        return False
    view.say(f"The work continues in a new task. To join it: halo attach {conversation.handed_over.to}")
    return True


async def open_next_task(client: Client, conversation: Conversation, options: TaskOptions, view: View) -> Next:
    """Open the next task and close this one. If the next cannot be opened, stay in this one."""
    task, leaves = conversation.task, conversation.leaves or LeaveTask()
    if leaves.roots:
        return await _reopen_with_folders(client, task, leaves.roots, options, view)
    handed = conversation.handed_over
    ended = client.running(task)
    try:
        found = await _open_next(client, task, handed, leaves.to, options)
    except HaloclineError as error:
        if handed:
            raise
        view.say(f"{error.text} {error.hint}".rstrip())
        return Next(task, client.state(task).seq)
    kept = await let_go(client, task)
    view.begin_anew()
    if leaves.to == ANEW:
        view.say(f"New task. To return to the previous one: /resume {task}" if kept else "New task.")
    if found.past:
        view.recall(found.past)
    if writer := client.is_attached(found.task) and client.tasks.writer(found.task):
        view.say(f"Joined task {found.task}, which is running in process {writer}.")
    if ended:
        view.show(ev.Noticed(describe_stopped(ended)))
    return found


async def _open_next(client: Client, task: str, handed: ev.HandedOver | None, to: str, options: TaskOptions) -> Next:
    if handed:
        return await _start_successor(client, task, handed, options)
    if to == ANEW:
        return await _start_new(client, task, options)
    return await open_past_task(client, to, options)


async def _start_successor(client: Client, task: str, handed: ev.HandedOver, options: TaskOptions) -> Next:
    """Start the task that continues another one's work, with that one's settings."""
    state = client.state(task)
    name = await client.start(Path(state.workspace), _as_now(client, task, options), handed.to)
    return Next(name, 0, format_handover(handed))


async def _start_new(client: Client, task: str, options: TaskOptions) -> Next:
    name = await client.start(Path(client.state(task).workspace), _as_now(client, task, options))
    return Next(name)


async def open_past_task(client: Client, task: str, options: TaskOptions) -> Next:
    """Open a past task; join it if another process has it open. Of one that is open, the running turn is shown."""
    opening = TaskOptions(attended=options.attended, trusted=options.trusted, asks_again=options.attended)
    if client.is_open(task) or client.tasks.writer(task):
        if not client.is_open(task):
            await client.join(task, opening)
        past = client.past(task)
        before = before_the_turn(past)
        return Next(task, before, past=tuple(past[:before]))
    past = client.past(task)
    await client.resume(task, opening)
    return Next(task, past[-1].seq, past=tuple(past))


async def _reopen_with_folders(
    client: Client, task: str, roots: tuple[str, ...], options: TaskOptions, view: View
) -> Next:
    """Reopen the task with more folders."""
    await client.let_go(task)
    await client.resume(task, TaskOptions(attended=options.attended, trusted=options.trusted, roots=roots))
    state = client.state(task)
    view.say(f"This task works in: {', '.join((state.workspace, *state.roots))}")
    return Next(task, state.seq)


def _as_now(client: Client, task: str, options: TaskOptions) -> TaskOptions:
    """Options with the task's current model, modes and folders."""
    state = client.state(task)
    model = client.only_model(task) or options.model
    return replace(
        options,
        model=model,
        mode=state.plan.mode,
        approval_mode=state.permissions.approval_mode,
        roots=state.roots,
        record=None,
    )


async def let_go(client: Client, task: str) -> bool:
    """Close a task, and delete it if it is empty. Returns True if it still exists."""
    state = client.state(task)
    empty = state.is_empty and not client.is_attached(task)
    await client.let_go(task)
    if empty:
        client.tasks.forget(task)
    return not empty


def before_the_turn(past: Sequence[ev.DurableEvent]) -> int:
    """Number of events before the running turn; all of them when none is running."""
    began = max((at for at, event in enumerate(past) if isinstance(event, ev.TurnStarted)), default=len(past))
    over = any(isinstance(event, ev.TurnEnded) for event in past[began:])
    return len(past) if over else began
