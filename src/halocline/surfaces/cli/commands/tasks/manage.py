"""`halo tasks`: list, read and label tasks."""

import argparse
import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client, open_client
from halocline.protocol import json_output
from halocline.protocol.commands import Label
from halocline.protocol.errors import UsageError
from halocline.protocol.events import (
    AssistantMessageCompleted,
    CheckpointTaken,
    DurableEvent,
    FileChanged,
    StepStarted,
    TaskStarted,
    ToolCallEnded,
    ToolCallStarted,
    TurnStarted,
)
from halocline.protocol.queries.tasks import Order, TaskQuery
from halocline.protocol.state.points import HistoryState
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import State
from halocline.surfaces import event_loop, figures
from halocline.surfaces.cli import background, pickers
from halocline.surfaces.cli.args.relative_time import parse_since
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.commands.tasks.delete import delete_tasks, undelete_task
from halocline.surfaces.cli.plain.line_mode import LineMode
from halocline.surfaces.cli.session.closing import close_client
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.context_report import cache_lines
from halocline.surfaces.costs import cost_table, turns_of
from halocline.surfaces.figures import STATUSES, format_time
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry
from halocline.surfaces.terminal.drawing.task_line import describe_former, mark_words, task_line

if TYPE_CHECKING:
    from halocline.client.history import Snapshot

TODOS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
FOUND = 50
"""Most tasks of a search without `--limit`."""
SHOWN_STEPS = 200
"""Most steps that are shown on a terminal, unless all are asked for: to draw a step takes milliseconds."""
_OF_TEXTS = (AssistantMessageCompleted, ToolCallStarted, ToolCallEnded, FileChanged, CheckpointTaken)
"""Events of the conversation, most of a task: nothing that is said about a task as a whole depends on them."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    background.cut_short.report_cut_short(client)
    _ACTIONS[arguments.action](client, arguments)
    return 0


def _list_tasks(client: Client, arguments: argparse.Namespace) -> None:
    everywhere = arguments.all or arguments.cwd == "all" or bool(arguments.subagents)
    workspace = "" if everywhere else str(workspace_of(arguments.cwd))
    query = _build_query(arguments, workspace, client.find(arguments.subagents) if arguments.subagents else "")
    tasks = client.tasks.search(query)
    for folder in client.tasks.half_restored():
        print(
            f"A restore of {clean(folder)} was interrupted, so only some of its files may be restored. "
            "To undo it: halo doctor --fix",
            file=sys.stderr,
        )
    for line in describe_former(tasks):
        print_message(line)
    if arguments.json:
        for info in tasks:
            print_raw(json_output.encode(info).decode())
        return
    if not tasks:
        print(_describe_none(query))
    waiting = client.tasks.list_waiting(info.task for info in tasks if info.status == "unfinished")
    opened = client.tasks.list_open()
    for info in tasks:
        print(task_line(info, query, waiting, opened))
        if info.snippet:
            print(f"  {mark_words(info.snippet)}")
        if everywhere and not query.parent:
            print(entry("", text=info.workspace))
        if info.roots:
            print(f"  also in {', '.join(map(clean, info.roots))}")


def _build_query(arguments: argparse.Namespace, workspace: str, parent: str = "") -> TaskQuery:
    words = " ".join(arguments.search)
    return TaskQuery(
        words=words,
        workspace=workspace,
        model=arguments.model,
        status=frozenset(
            reason for reason, label in STATUSES.items() if {reason, label.replace(" ", "-")} & {*arguments.status}
        ),
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


def _rename_task(client: Client, arguments: argparse.Namespace) -> None:
    task = pickers.task_picker.choose_task(client, arguments.id)
    typed = " ".join(arguments.name) if arguments.id else input("New name (none removes it): ")
    name = " ".join(typed.split())
    _label_task(client, Label(task=task, name=name))
    print(f"Renamed {task} to {clean(name)}." if name else f"Removed the name of {task}.")


def _mark_favourite(client: Client, arguments: argparse.Namespace) -> None:
    task = pickers.task_picker.choose_task(client, arguments.id)
    _label_task(client, Label(task=task, favourite=not arguments.off))
    print(f"Removed {task} from favorites." if arguments.off else f"Added {task} to favorites.")


def _tag_task(client: Client, arguments: argparse.Namespace) -> None:
    task = pickers.task_picker.choose_task(client, arguments.id)
    named = [tag_name(tag) for tag in arguments.tags]
    has = fold_events(client.past(task)).labels.tags
    tags = [tag for tag in has if tag not in named] if arguments.off else [*dict.fromkeys([*has, *named])]
    _label_task(client, Label(task=task, tags=tuple(tags)))
    print_raw(f"Tags of {task}: {', '.join(tags)}" if tags else f"{task} has no tags.")


def tag_name(text: str) -> str:
    """Normalize a tag: `#Later` becomes `later`. Raises UsageError."""
    tag = text.lstrip("#").lower()
    if not tag or any(letter.isspace() or not letter.isprintable() for letter in tag):
        raise UsageError(f"{text!r} is not a tag.", "A tag is one word, such as later.")
    return tag


def _label_task(client: Client, command: Label) -> None:
    event_loop.run_loop(client.label(command))


def _show_task(client: Client, arguments: argparse.Namespace) -> None:
    task = pickers.task_picker.choose_task(client, arguments.id)
    if arguments.cost:
        print("\n".join(map(clean, cost_table(turns_of(client.read_past(task))))))
        print("\nCache · " + "\n  ".join(map(clean, cache_lines(client.cache(task)))))
        return
    if arguments.points:
        for point in client.time.points(task):
            print(entry(f"{point.seq:>5}", format_time(point.at), f"{point.kind:<6}", text=point.text))
        return
    then = client.time.at(task, arguments.at) if arguments.at else None
    view = LineMode(attended=False)
    state = _print_past(view, lambda: then.events if then else client.read_past(task), every=arguments.all)
    if arguments.follow:
        event_loop.run_loop(_follow_task(client, task, state.seq, view))
        return
    view.close()
    about = [
        state.task,
        state.model.name,
        state.workspace,
        *state.roots,
        figures.format_plural(state.budget.steps, "step"),
        figures.format_known_cost(state.budget),
    ]
    print("\n" + " · ".join(filter(None, map(clean, about))))
    if then:
        _describe_point(then, task)


def _print_past(view: LineMode, read: Callable[[], Iterable[DurableEvent]], *, every: bool) -> State:
    """Print a task, on a terminal its last steps unless `every` one is asked for. Returns its state without texts."""
    begin = 0 if every or not sys.stdout.isatty() else _find_begin(read())
    state, prompt, seq = State(), None, 0
    for event in read():
        seq = event.seq
        if event.seq == begin:
            earlier = figures.format_plural(state.budget.steps, "earlier step")
            view.say(f"… {earlier}. To print all: halo tasks show {state.task} --all")
            if prompt and state.turn:
                view.show(prompt)
        if event.seq >= begin or isinstance(event, TaskStarted):
            view.show(event)
        elif isinstance(event, TurnStarted):
            prompt = event
        if not isinstance(event, _OF_TEXTS):
            state = _without_texts(reduce_event(state, event))
    return replace(state, seq=seq)


def _find_begin(past: Iterable[DurableEvent]) -> int:
    """Return the number of the event that begins the last steps of a task that has more; 0 if it has not."""
    begins: deque[int] = deque(maxlen=SHOWN_STEPS + 1)
    begins.extend(event.seq for event in past if isinstance(event, StepStarted))
    return begins[1] if len(begins) > SHOWN_STEPS else 0


def _without_texts(state: State) -> State:
    """Return a state without the conversation, which may be long; only what is said about a task is needed."""
    return replace(state, messages=(), draft=None, history=HistoryState())


def _describe_point(then: "Snapshot", task: str) -> None:
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


def _print_log(client: Client, arguments: argparse.Namespace) -> None:
    """Print a task; with `--follow`, as long as a process runs it."""
    arguments.id = pickers.task_picker.choose_task(client, arguments.id)
    if arguments.follow and client.tasks.writer(arguments.id):
        every = LineMode(attended=False)
        state = _print_past(every, lambda: client.read_past(arguments.id), every=arguments.all)
        event_loop.run_loop(_watch_task(client, arguments.id, state.seq, every))
        return
    arguments.follow = False
    _show_task(client, arguments)
    if pid := client.tasks.writer(arguments.id):
        needs_you = arguments.id in client.tasks.list_waiting([arguments.id])
        what, hint = ("waits for you", f"Answer: halo attach {arguments.id}") if needs_you else ("runs", "")
        print_message(f"Process {pid} has it open; it {what}.", hint)


async def _watch_task(client: Client, task: str, after: int, view: LineMode) -> None:
    """Show what a task does until it is closed. Raises what `Client.join` does."""
    try:
        async with view:
            await client.join(task, TaskOptions())
            async for event in client.events(task, after):
                view.show(event)
    finally:
        await close_client(client)


async def _follow_task(client: Client, task: str, after: int, view: LineMode) -> None:
    async with view:
        async for event in client.events(task, after):
            view.show(event)


_ACTIONS = {
    "list": _list_tasks,
    "show": _show_task,
    "logs": _print_log,
    "rename": _rename_task,
    "favourite": _mark_favourite,
    "tag": _tag_task,
    "delete": delete_tasks,
    "undelete": undelete_task,
}
