"""The task that a command line names: a new one, or the one to resume; and the trust in its folders."""

import argparse
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.commands import Label
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli import session
from halocline.surfaces.cli.args.task_options import options_of, workspace_of
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.view import View

if TYPE_CHECKING:
    from halocline.surfaces.cli.session.debug_log import Follow


def enter_worktree(arguments: argparse.Namespace) -> None:
    """Make the worktree of `--worktree` the folder to work in. Raises UsageError."""
    if arguments.worktree is None or arguments.continue_ or arguments.resume is not None:
        return
    arguments.cwd = str(session.worktree.work_in_worktree(arguments, workspace_of(arguments.cwd)))


def settle_folders(client: Client, arguments: argparse.Namespace, workspace: Path, *, attended: bool) -> None:
    """Ask about trust before an event loop runs, as the loop would catch Ctrl-C."""
    info = None
    if arguments.resume:
        info = client.tasks.info(client.find(arguments.resume))
    elif arguments.continue_:
        info = client.tasks.newest(workspace)
    workspace = Path(info.workspace) if info else workspace
    known = info.roots if info else None
    for problem in client.rule_problems(workspace):
        print_message(f"{clean(problem)} Until you fix it, every call needs approval.")
    if asked := client.with_code(workspace, options_of(arguments, attended=attended).roots, known):
        from halocline.surfaces.cli.session.folder_trust import settle_trust

        for folder in asked:
            settle_trust(client, folder, attended=attended)


def refuse_ephemeral(arguments: argparse.Namespace) -> None:
    """Raise UsageError for `--ephemeral` where the task would be missed."""
    if arguments.ephemeral and (arguments.continue_ or arguments.resume is not None or not arguments.print):
        raise UsageError("--ephemeral is for new tasks, with -p.", "Add -p, and leave out -c and -r.")


def forget_ephemeral(client: Client, arguments: argparse.Namespace, task: str) -> None:
    """Delete the task of a run with `--ephemeral`, and those of its sub-agents."""
    if arguments.ephemeral and (client.home.tasks / task).exists():  # an empty one is gone
        client.tasks.forget(task)


def open_debug_log(arguments: argparse.Namespace, client: Client) -> "AbstractAsyncContextManager[Follow | None]":
    """Open the file of `--debug`, if there is one."""
    return session.debug_log.write_debug_log(arguments.debug, client) if arguments.debug else nullcontext()


async def forget_empty(client: Client, task: str) -> None:
    """Delete a task that was created for a prompt that failed."""
    if client.state(task).is_empty:
        await client.let_go(task)
        client.tasks.forget(task)


async def open_task(
    client: Client, arguments: argparse.Namespace, workspace: Path, options: TaskOptions, view: View
) -> tuple[str, int]:
    """Return the task and the number of the last event before this run."""
    name = client.find(arguments.resume) if arguments.resume else ""
    if arguments.continue_ and not name:
        name = find_newest(client, workspace)
    if name and (arguments.session_id or arguments.worktree is not None):
        raise UsageError("--session-id and --worktree are for new tasks.", "Leave out -c and -r, or them.")
    task, after = await (
        _resume_task(client, name, workspace, options, view)
        if name
        else _start_task(client, arguments.session_id or "", workspace, options, view)
    )
    if arguments.name is not None:
        client.send(Label(task=task, name=arguments.name))
    return task, after


async def _start_task(client: Client, name: str, workspace: Path, options: TaskOptions, view: View) -> tuple[str, int]:
    if name:
        client.tasks.check_new_id(name)
    name = await client.start(workspace, options, name)
    for remark in client.remarks(name):
        view.show(ev.Noticed(remark))
    return name, 0


async def _resume_task(client: Client, name: str, workspace: Path, options: TaskOptions, view: View) -> tuple[str, int]:
    past = client.past(name)
    require_folder(client, name, past)
    task = await client.resume(name, options)
    view.recall(past)
    place = client.state(task).workspace
    workspace_of(place)
    after = _show_closing(client, task, past[-1].seq if past else 0, view)
    if place != str(workspace):
        view.show(ev.Noticed(f"This task works in its own folder: {place}"))
    return task, after


def _show_closing(client: Client, task: str, after: int, view: View) -> int:
    """Show how a turn that a crash cut short was closed. Returns the last event shown; a running turn shows its own."""
    state = client.state(task)
    if state.turn is not None or state.seq == after:
        return after
    for event in client.past(task):
        if event.seq > after:
            view.show(event)
    return max(after, state.seq)


def require_folder(client: Client, task: str, past: Sequence[ev.DurableEvent]) -> None:
    """Raise UsageError when the task's folder does not exist."""
    place = info.workspace if (info := client.tasks.info(task)) else ""
    match past:
        case [ev.TaskStarted(origin=origin), *later] if place and not Path(place).is_dir():
            if origin and not any(isinstance(event, ev.TaskAdopted) for event in later):
                hint = f"Import it for another folder: halo import {origin.tool} {origin.id} --workspace DIR"
            else:
                hint = "Restore the folder, or go to where it was renamed to, then resume the task."
            raise UsageError(f"The folder of task {task} does not exist: {place}", hint)


def find_newest(client: Client, workspace: Path) -> str:
    if info := client.tasks.newest(workspace):
        return info.task
    raise UsageError(f"No task to resume in {workspace}.", 'Start one: halo "what to do"')
