"""`/clear`, `/resume`, `/fork`, `/add-dir`, `/export` and `/quit`: this task, and others of its folder."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from halocline.client.history import Fork
from halocline.client.tasks import Client
from halocline.protocol.commands import Label
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.surfaces.export.task import Form, export_task
from halocline.surfaces.figures import format_age
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import ANEW, LeaveTask, SlashAnswer, SlashContext

LISTED_TASKS = 15


async def answer_quit(context: SlashContext, rest: str) -> SlashAnswer:
    return LeaveTask()


async def answer_clear(context: SlashContext, rest: str) -> SlashAnswer:
    return LeaveTask(ANEW)


async def answer_resume(context: SlashContext, rest: str) -> SlashAnswer:
    others = _list_others(context.client, context.task)
    if rest:
        found = context.client.find(rest)
        if found == context.task:
            return "You are already in that task."
        here = found in (info.task for info in others)
        return LeaveTask(found) if here else f"That task belongs to another folder. To open it: halo --resume {found}"

    lines = [
        f"{info.task}  {format_age(info.changed_at, time.time()):<10}  {' '.join(info.title.split())}"
        for info in others
    ]
    more = [f"… and {len(lines) - LISTED_TASKS} more: halo tasks list"] if len(lines) > LISTED_TASKS else []
    how = "To resume one: /resume ID" if lines else "No other tasks in this folder."
    return "\n".join([*lines[:LISTED_TASKS], *more, how])


async def complete_resume(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {info.task: info.title for info in _list_others(client, task)}


def _list_others(client: Client, task: str) -> list[TaskInfo]:
    """List the other tasks of the folder."""
    here = client.state(task).workspace
    return [info for info in client.tasks.search(TaskQuery(workspace=here)) if info.task != task]


async def answer_add_dir(context: SlashContext, rest: str) -> SlashAnswer:
    state = context.client.state(context.task)
    if not rest:
        folders = "\n".join((state.workspace, *state.roots))
        return f"{folders}\nTo add one: /add-dir DIR"
    if context.client.is_attached(context.task):
        return f"This task is running in process {context.client.tasks.writer(context.task)}. Use /add-dir there."
    if going := context.client.running(context.task):
        return f"Adding a folder reopens the task, which would stop: {', '.join(going)}. Stop it first, or wait for it."
    with_programs = context.client.with_code(context.workspace, (rest,), state.roots)
    if any(folder not in (context.workspace, *map(Path, state.roots)) for folder in with_programs):
        context.view.say(f"The folder has its own hooks or MCP servers. To enable them: halo trust add {rest}")
    return LeaveTask(context.task, (rest,))


async def answer_export(context: SlashContext, rest: str) -> SlashAnswer:
    name = rest or f"halocline-{context.task}.md"
    text = export_task(context.client.past(context.task), Form.MARKDOWN, context.client.build_redactor())
    return await asyncio.to_thread(_write_export, context.workspace, name, text)


def _write_export(folder: Path, name: str, text: str) -> str:
    path = folder / Path(name).expanduser()
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return f"{path} already exists. Name another: /export FILE"
    except OSError as error:
        return f"Cannot write {path}: {error.strerror}. Name another: /export FILE"
    return f"Written to {path}"


async def answer_rename(context: SlashContext, rest: str) -> SlashAnswer:
    name = " ".join(rest.split())
    if not name:
        now = context.client.state(context.task).labels.name
        return f"This task is called {clean(now)}." if now else "This task has no name. To give it one: /rename NAME"
    context.client.send(Label(task=context.task, name=name))
    return f"This task is called {clean(name)} now."


async def answer_fork(context: SlashContext, rest: str) -> SlashAnswer:
    last = context.client.state(context.task).seq
    if rest and not rest.isdecimal():
        return f"Give an event number: /fork EVENT. To list them: halo tasks show {context.task} --points"
    return LeaveTask(await context.client.time.fork(Fork("", context.task, int(rest or last))))
