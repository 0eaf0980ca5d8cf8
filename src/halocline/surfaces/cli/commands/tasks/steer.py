"""`halo stop` and `halo send`: control a task from outside, whichever process runs it."""

import argparse

from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.commands import AnyCommand, Steer, SubmitPrompt
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.messages import Text
from halocline.protocol.queries.tasks import TaskQuery
from halocline.surfaces import event_loop
from halocline.surfaces.board.actions import stop_task
from halocline.surfaces.cli import background, pickers
from halocline.surfaces.cli.args.command_line import parse_arguments
from halocline.surfaces.cli.plain.questions import on_terminal
from halocline.surfaces.cli.session.prompt_source import prompt_text


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    background.cut_short.report_cut_short(client)
    return _send(client, arguments) if arguments.command == "send" else _stop(client, arguments)


def _stop(client: Client, arguments: argparse.Namespace) -> int:
    task = _find_task(client, arguments)
    if not client.tasks.writer(task):
        raise UsageError(f"Task {task} is not running.", "List the tasks: halo tasks list --all")
    event_loop.run_loop(stop_task(client, task))
    print(f"Stopped {task}. To continue it: halo -r {task}")
    return 0


def _send(client: Client, arguments: argparse.Namespace) -> int:
    """Send a message to a task that a process runs; any other task continues with it in the background."""
    task = _find_task(client, arguments)
    text, _ = prompt_text(arguments.text, needed=True)
    if not text and on_terminal():
        text = input("Message: ").strip()
    if not text:
        raise UsageError("No message.", f'Add one: halo send {task} "what to do"')
    if not client.tasks.writer(task):
        return background.hand_over.hand_over_prompt(parse_arguments(["run", "--bg", "-r", task, "--", text]))
    content = (Text(text),)
    _deliver(client, SubmitPrompt(task=task, content=content) if arguments.queue else Steer(task=task, content=content))
    print(f"Sent to {task}. To see what it does: halo logs -f {task}")
    return 0


def _find_task(client: Client, arguments: argparse.Namespace) -> str:
    if not arguments.id:
        return pickers.task_picker.pick_running_task(client)
    try:
        return client.find(arguments.id)
    except TaskNotFound:
        if found := _find_agents(client, arguments.id):
            return _require_one(found, arguments.id)
        raise


def _find_agents(client: Client, name: str) -> list[str]:
    """Return the tasks of the sub-agents with this name that run."""
    found: list[str] = []
    above = [info.task for info in client.tasks.search() if client.tasks.writer(info.task)]
    while above:
        below = [info for task in above for info in client.tasks.search(TaskQuery(parent=task))]
        running = [info for info in below if client.tasks.writer(info.task)]
        found += [info.task for info in running if info.title == name]
        above = [info.task for info in running]
    return found


def _require_one(found: list[str], name: str) -> str:
    if len(found) > 1:
        raise UsageError(f"Several agents {name} run: {', '.join(found)}.", "Give the ID of one.")
    return found[0]


def _deliver(client: Client, command: AnyCommand) -> None:
    event_loop.run_loop(client.tasks.deliver(command, client.name))
