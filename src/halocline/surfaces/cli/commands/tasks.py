"""`halo tasks` and `halo export`: list, read, manage and export tasks."""

import argparse
import re
import sys
from pathlib import Path

from halocline.client import Choices, Client, Snapshot, open_client
from halocline.protocol import json_output
from halocline.protocol.commands import Label
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import MARKS, Order, TaskInfo, TaskQuery
from halocline.protocol.state.reducer import fold_events
from halocline.surfaces import event_loop, figures
from halocline.surfaces.cli.args.relative_time import parse_since
from halocline.surfaces.cli.commands.run import workspace_of
from halocline.surfaces.cli.output.line_mode import LineMode
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.table import entry, format_time
from halocline.surfaces.exporting import Form, export_task

TODOS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
STATUSES = {
    "end_turn": "done",
    "max_tokens": "cut off",
    "max_turn_requests": "at a limit",
    "refusal": "refused",
    "cancelled": "interrupted",
    "error": "failed",
    "unfinished": "unfinished",
}
"""Labels for the end of a task's last turn."""
FOUND = 50
"""Most tasks of a search without `--limit`."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    action = "export" if arguments.command == "export" else arguments.action
    _ACTIONS[action](client, arguments)
    return 0


def _list_tasks(client: Client, arguments: argparse.Namespace) -> None:
    everywhere = arguments.all or arguments.cwd == "all" or bool(arguments.subagents)
    workspace = "" if everywhere else str(workspace_of(arguments.cwd))
    query = _build_query(arguments, workspace, client.find(arguments.subagents) if arguments.subagents else "")
    tasks = client.history(query)
    for folder in client.half_restored():
        print(
            f"A restore of {clean(folder)} was interrupted, so only some of its files may be restored. "
            "To undo it: halo doctor --fix",
            file=sys.stderr,
        )
    if arguments.json:
        for info in tasks:
            print(json_output.encode(info).decode())
        return
    if not tasks:
        print(_describe_none(query))
    for info in tasks:
        print(_task_line(info, query))
        if info.snippet:
            print(f"  {mark_words(info.snippet)}")
        if everywhere and not query.parent:
            print(f"  {clean(info.workspace)}")
        if info.roots:
            print(f"  also in {', '.join(map(clean, info.roots))}")


def _build_query(arguments: argparse.Namespace, workspace: str, parent: str = "") -> TaskQuery:
    words = " ".join(arguments.search)
    return TaskQuery(
        words=words,
        workspace=workspace,
        model=arguments.model,
        status=frozenset(reason for reason, word in STATUSES.items() if word.replace(" ", "-") in arguments.status),
        tags=frozenset(map(tag_name, arguments.tag)),
        favourite=arguments.favourite,
        since=parse_since(arguments.since) if arguments.since else 0.0,
        order=Order(arguments.sort) if arguments.sort else None,
        limit=arguments.limit or (FOUND if words else None),
        parent=parent,
    )


def _describe_none(query: TaskQuery) -> str:
    if query.parent:
        return f"Task {query.parent} has no matching sub-agents."
    if query == TaskQuery():
        return "No tasks yet."
    if query == TaskQuery(workspace=query.workspace):
        return f"No tasks in {query.workspace}. To list all folders: --all"
    return "No matching tasks." + (" To search all folders: --all" if query.workspace else "")


def _task_line(info: TaskInfo, query: TaskQuery) -> str:
    """One line of the list, with the value it is sorted by."""
    status = STATUSES.get(info.status, info.status)
    facts = [info.task, format_time(info.changed_at), f"{status:<11}"]
    match query.order:
        case Order.COST:
            facts.append(f"{figures.format_money(info.cost):>8}")
        case Order.TOKENS:
            facts.append(f"{info.tokens:>11,}")
        case Order.SIZE:
            facts.append(f"{format_size(info.size):>8}")
    words = ["★"] if info.favourite else []
    words += [info.name or info.title, *(f"#{tag}" for tag in info.tags)]
    return entry(*facts, text=" ".join(words))


def mark_words(snippet: str) -> str:
    """Highlight the matches on a terminal."""
    begin, end = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    parts = re.split(f"([{''.join(MARKS)}])", snippet)
    return "".join({MARKS[0]: begin, MARKS[1]: end}.get(part, clean(part)) for part in parts)


def format_size(bytes_: float) -> str:
    """`820 B`, `4.1 kB`, `1.3 GB`."""
    for unit in ("B", "kB", "MB"):
        if bytes_ < 1000:
            return f"{bytes_:.0f} B" if unit == "B" else f"{bytes_:.1f} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.1f} GB"


def _rename_task(client: Client, arguments: argparse.Namespace) -> None:
    task, name = client.find(arguments.id), " ".join(" ".join(arguments.name).split())
    _label_task(client, Label(task=task, name=name))
    print(f"Renamed {task} to {clean(name)}." if name else f"Removed the name of {task}.")


def _mark_favourite(client: Client, arguments: argparse.Namespace) -> None:
    task = client.find(arguments.id)
    _label_task(client, Label(task=task, favourite=not arguments.off))
    print(f"Removed {task} from favorites." if arguments.off else f"Added {task} to favorites.")


def _tag_task(client: Client, arguments: argparse.Namespace) -> None:
    task = client.find(arguments.id)
    named = [tag_name(tag) for tag in arguments.tags]
    has = fold_events(client.past(task)).labels.tags
    tags = [tag for tag in has if tag not in named] if arguments.off else [*dict.fromkeys([*has, *named])]
    _label_task(client, Label(task=task, tags=tuple(tags)))
    print(f"Tags of {task}: {', '.join(tags)}" if tags else f"{task} has no tags.")


def tag_name(text: str) -> str:
    """Normalize a tag: `#Later` becomes `later`. Raises UsageError."""
    tag = text.lstrip("#").lower()
    if not tag or any(letter.isspace() or not letter.isprintable() for letter in tag):
        raise UsageError(f"{text!r} is not a tag.", "A tag is one word, such as later.")
    return tag


def _label_task(client: Client, command: Label) -> None:
    event_loop.run_loop(client.label(command))


def _show_task(client: Client, arguments: argparse.Namespace) -> None:
    task = client.find(arguments.id)
    past = client.past(task)
    if arguments.cost:
        from halocline.surfaces.costs import cost_table, turns_of

        print("\n".join(map(clean, cost_table(turns_of(past)))))
        from halocline.surfaces.cli.commands.context import cache_lines

        print("\nCache · " + "\n  ".join(map(clean, cache_lines(client.cache(task)))))
        return
    if arguments.points:
        for point in client.time.points(task):
            print(entry(f"{point.seq:>5}", format_time(point.at), f"{point.kind:<6}", text=point.text))
        return
    if arguments.at:
        then = client.at(task, arguments.at)
        past = list(then.events)
    view = LineMode(attended=False)
    for event in past:
        view.show(event)
    state = fold_events(past)
    if arguments.follow:
        event_loop.run_loop(_follow_task(client, task, state.seq, view))
        return
    view.close()
    about = [
        state.task,
        state.model.name,
        state.workspace,
        *state.roots,
        f"{state.budget.steps} steps",
        figures.format_money(state.budget.cost),
    ]
    print("\n" + " · ".join(filter(None, map(clean, about))))
    if arguments.at:
        _describe_point(then, task)


def _describe_point(then: Snapshot, task: str) -> None:
    """Describe a point in time: the to-do list, the files written, and how to continue from there."""
    print(f"\nAfter event {then.seq}, {format_time(then.state.last_at)}:")
    for todo in then.state.plan.todos:
        print(f"  {TODOS[todo.status]} {clean(todo.text)}")
    for path in then.files:
        print(f"  wrote {clean(path)}")
    saved = f"saved as {then.checkpoint[:10]}" if then.checkpoint else "not saved"
    print(f"  files {saved}")
    print(f"To restore it: halo checkpoints restore {task}@{then.seq} --what both")
    print(f"To continue from there in a new task: halo fork {task} --at {then.seq}")


async def _follow_task(client: Client, task: str, after: int, view: LineMode) -> None:
    async with view:
        async for event in client.events(task, after):
            view.show(event)


def _delete_tasks(client: Client, arguments: argparse.Namespace) -> None:
    """Delete tasks after confirmation; several are listed first."""
    chosen = _to_delete(client, arguments)
    if not chosen:
        print("No tasks are that old.")
        return
    if len(chosen) > 1:
        for info in chosen:
            print(_task_line(info, TaskQuery()))
        print(f"{len(chosen)} tasks, {format_size(sum(info.size for info in chosen))}.")
    what = f"{len(chosen)} tasks" if len(chosen) > 1 else f"task {chosen[0].task}"
    if not arguments.yes and not ask_yes_no(f"Move {what} to the trash?"):
        raise UsageError("Nothing was deleted.", "To delete without confirmation: --yes")
    for info in chosen:
        client.delete(info.task)
    undo = f"halo tasks undelete {chosen[0].task if len(chosen) == 1 else 'ID'}"
    print(f"Deleted {what.removeprefix('task ')}. To undo within {client.kept_days} days: {undo}")


def _to_delete(client: Client, arguments: argparse.Namespace) -> list[TaskInfo]:
    """Select the tasks to delete. Raises UsageError when none is named, TaskNotFound for an unknown one."""
    if bool(arguments.id) == bool(arguments.older):
        raise UsageError("Name the tasks to delete, or their age.", "Use: halo tasks delete ID …, or --older 30d")
    if arguments.older:
        before = parse_since(arguments.older)
        return [info for info in client.history() if info.changed_at < before and not info.favourite]
    named = dict.fromkeys(map(client.find, arguments.id))
    infos = {info.task: info for info in client.history()}
    return [infos.get(task) or client.info(task) or _unreadable_task(task) for task in named]


def _unreadable_task(task: str) -> TaskInfo:
    return TaskInfo(task, "", "", "", 0.0, 0.0, "unreadable", 0)


def _undelete_task(client: Client, arguments: argparse.Namespace) -> None:
    if arguments.id:
        print(f"Restored {client.undelete(arguments.id)}.")
        return
    deleted = client.deleted()
    for info, at in deleted:
        print(entry(info.task, f"deleted {format_time(at)}", text=info.name or info.title))
    if not deleted:
        print("The trash is empty.")


def ask_yes_no(question: str) -> bool:
    """Ask on the terminal; without one the answer is no. Earlier typing does not count."""
    if not sys.stdin.isatty():
        return False
    import termios

    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def _export_task(client: Client, arguments: argparse.Namespace) -> None:
    text = _write_export(client, arguments)
    if not arguments.output:
        sys.stdout.write(text)
        return
    try:
        Path(arguments.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot write {arguments.output}: {error.strerror}.", "Name another file with -o.") from error


def _write_export(client: Client, arguments: argparse.Namespace) -> str:
    return export_task(client.past(arguments.id), Form(arguments.format), client.without_secrets)


def markdown_of(client: Client, task: str) -> str:
    """Export a task as Markdown, with secrets redacted."""
    return export_task(client.past(task), Form.MARKDOWN, client.without_secrets)


_ACTIONS = {
    "list": _list_tasks,
    "show": _show_task,
    "rename": _rename_task,
    "favourite": _mark_favourite,
    "tag": _tag_task,
    "delete": _delete_tasks,
    "undelete": _undelete_task,
    "export": _export_task,
}
