"""`halo tasks` and `halo export`: what was done before."""

import argparse
import asyncio
import sys
from pathlib import Path

import msgspec

from halocline.controller.assembly import Choices
from halocline.controller.client import Client, open_client
from halocline.protocol import codec
from halocline.protocol.errors import UsageError
from halocline.protocol.fold import fold
from halocline.surfaces import figures
from halocline.surfaces.cli.line_mode import LineMode
from halocline.surfaces.cli.listing import entry, moment
from halocline.surfaces.cli.run import workspace_of
from halocline.surfaces.cli.safe_text import clean
from halocline.surfaces.rows import rows_of

STATUSES = {
    "end_turn": "done",
    "max_tokens": "cut off",
    "max_turn_requests": "at a limit",
    "refusal": "refused",
    "cancelled": "interrupted",
    "error": "failed",
}
"""How the last turn of a task ended, in a word."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    action = "export" if arguments.command == "export" else arguments.action
    {"list": _list, "show": _show, "delete": _delete, "export": _export}[action](client, arguments)
    return 0


def _list(client: Client, arguments: argparse.Namespace) -> None:
    workspace = str(workspace_of(arguments.cwd))
    tasks = [info for info in client.history() if arguments.all or info.workspace == workspace]
    if arguments.json:
        for info in tasks:
            print(msgspec.json.encode(info).decode())
        return
    if not tasks:
        print("No tasks yet." if arguments.all else f"No tasks of {workspace}. See those of every folder: --all")
    for info in tasks:
        status = STATUSES.get(info.status, info.status)
        print(entry(info.task, moment(info.changed_at), f"{status:<11}", text=info.title))
        if arguments.all:
            print(f"  {clean(info.workspace)}")


def _show(client: Client, arguments: argparse.Namespace) -> None:
    task = client.find(arguments.id)
    past = client.past(task)
    if arguments.cost:
        from halocline.surfaces.costs import table, turns_of

        print("\n".join(map(clean, table(turns_of(past)))))
        from halocline.surfaces.cli.context import cache_lines

        print("\nCache · " + "\n  ".join(map(clean, cache_lines(client.cache(task)))))
        return
    view = LineMode(attended=False)
    for event in past:
        view.show(event)
    state = fold(past)
    if arguments.follow:
        asyncio.run(_follow(client, task, state.seq, view))
        return
    view.close()
    about = [state.task, state.model, state.workspace, f"{state.steps} steps", figures.money(state.cost)]
    print("\n" + " · ".join(filter(None, map(clean, about))))


async def _follow(client: Client, task: str, after: int, view: LineMode) -> None:
    async with view:
        async for event in client.events(task, after):
            view.show(event)


def _delete(client: Client, arguments: argparse.Namespace) -> None:
    task = client.find(arguments.id)
    if not arguments.yes and not confirmed(f"Delete task {task} for good?"):
        raise UsageError("Nothing was deleted.", "To delete without being asked: --yes")
    client.delete(task)
    print(f"Deleted {task}.")


def confirmed(question: str) -> bool:
    """Ask on the terminal; without one the answer is no."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def _export(client: Client, arguments: argparse.Namespace) -> None:
    from halocline.protocol.redaction import redacted

    text = redacted(_lines(client, arguments.id)) if arguments.format == "jsonl" else markdown_of(client, arguments.id)
    if not arguments.output:
        sys.stdout.write(text)
        return
    try:
        Path(arguments.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot write {arguments.output}: {error.strerror}.", "Name another file with -o.") from error


def _lines(client: Client, task: str) -> str:
    return "".join(f"{codec.encode(event).decode()}\n" for event in client.past(task))


def markdown_of(client: Client, task: str) -> str:
    """A task as a document, without what looks like a key."""
    from halocline.protocol.redaction import redacted
    from halocline.surfaces.export import to_markdown

    past = client.past(task)
    return redacted(to_markdown(rows_of(past), fold(past).title or "Task"))
