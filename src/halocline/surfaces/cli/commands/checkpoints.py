"""`halo checkpoints`: list, compare and restore checkpoints of a workspace."""

import argparse
import re
import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from halocline.client.history import CheckpointInfo as Checkpoint, Comparison, Restored
from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol import json_output
from halocline.protocol.commands import GoBack
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events.rewind import brief_target
from halocline.protocol.queries.tasks import TaskQuery
from halocline.surfaces import event_loop, restore_plan
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import as_shown, print_message, print_raw
from halocline.surfaces.figures import format_age, format_plural, format_time
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry
from halocline.surfaces.terminal.drawing.task_line import describe_former

Action = Callable[[Client, Path, argparse.Namespace], Awaitable[None]]


def command(arguments: argparse.Namespace) -> int:
    workspace = _find_folder(arguments)
    client = open_client(Choices(), folder=workspace)
    action = {"list": _list_checkpoints, "diff": _diff_checkpoints, "restore": _restore_files}[arguments.action]
    event_loop.run_loop(_after_mending(action, client, workspace, arguments))
    return 0


def _find_folder(arguments: argparse.Namespace) -> Path:
    """Return the folder of the checkpoints. Raises UsageError; of one that was deleted it says how to get it back."""
    place = Path(arguments.cwd).expanduser()
    if arguments.action == "restore" and not place.exists():
        raise UsageError(f"{place} is not a folder.", _explain_deleted(place, arguments.checkpoint))
    return workspace_of(arguments.cwd)


def _explain_deleted(folder: Path, checkpoint: str) -> str:
    place = shlex.quote(str(folder))
    again = f"mkdir -p {place} && halo checkpoints restore {checkpoint} -C {place} --overwrite"
    return f"If it was deleted, make it again, and its checkpoints can be restored into it: {again}"


def _point_to_folder(client: Client, workspace: Path, checkpoint: str, error: UsageError) -> UsageError:
    """Return the error, with the folder of the checkpoint's task if that is another one."""
    info = client.tasks.info(re.split("[/@]", checkpoint)[0])
    if info is None or Path(info.workspace) == workspace:
        return error
    folder = Path(info.workspace)
    text = f"Task {info.task} works in {folder}, not in {workspace}."
    if not folder.is_dir():
        return UsageError(f"{text[:-1]}; its folder is not there.", _explain_deleted(folder, checkpoint))
    return UsageError(text, f"Run: halo checkpoints restore {checkpoint} -C {shlex.quote(str(folder))}")


async def _after_mending(action: Action, client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    """Run the action after undoing an interrupted restore, and report that."""
    if str(workspace) in client.tasks.half_restored():
        store = client.checkpoints(workspace)
        await store.list()
        if store.mended:
            print(as_shown(store.mended, sys.stderr), file=sys.stderr)
            store.forget_mended()
    await action(client, workspace, arguments)


async def _list_checkpoints(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    store = client.checkpoints(workspace)
    found = await store.list()
    if store.unread:
        print_raw(store.unread)
    for line in describe_former(client.tasks.search(TaskQuery(workspace=str(workspace)))):
        print_message(line)
    lost = client.tasks.lost_checkpoints(workspace)
    for task, count in lost.items():
        print_raw(restore_plan.describe_loss(task, count))
    if not found and not store.unread and not lost:
        print(f"No checkpoints of {workspace} yet. A task takes one when it starts and after each change.")
    titles: dict[str, str] = {}
    newest_first = sorted(found, key=_time_key(found), reverse=True)
    for info in newest_first:
        title = titles.setdefault(info.task, _read_title(client, info.task))
        text = f"{info.label} · {title}" if title else info.label
        print(entry(f"{info.task}/{info.n}", info.sha[:10], _format_when(info.at), text=text))
    for newest in newest_first[:1]:
        for line in restore_plan.describe_unsaved(await store.list_left_out(newest.sha)):
            print_message(line)


def _format_when(at: float) -> str:
    """The age of a checkpoint for a person; its time for a file or another program."""
    return f"{format_age(at, time.time()):<10}" if sys.stdout.isatty() else format_time(at)


def _read_title(client: Client, task: str) -> str:
    """Return the title of a checkpoint's task; empty if the task is gone."""
    info = client.tasks.info(task)
    return info.name or info.title if info else ""


def _time_key(found: Sequence[Checkpoint]) -> Callable[[Checkpoint], tuple[float, int]]:
    """Sort key by time, then number. A clock that was set back does not reorder a task's checkpoints."""
    latest: dict[str, float] = {}
    times = {}
    for info in found:  # by task and number
        latest[info.task] = times[info.ref] = max(info.at, latest.get(info.task, 0.0))
    return lambda info: (times[info.ref], info.n)


async def _diff_checkpoints(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    old = arguments.checkpoint
    if arguments.since_completion or arguments.since_start:
        if old:
            raise UsageError("Use a checkpoint or --since-…, not both.", "To name the task, use --task.")
        task = arguments.task or _newest_checkpoint(client, workspace)
        old = client.time.since(task, completion=arguments.since_completion)
    if not old:
        raise UsageError("Nothing to compare.", "Name a checkpoint or TASK@EVENT, or use --since-completion.")
    found = await client.time.compare(workspace, old, arguments.other or "")
    if arguments.json:
        for file in found.files:
            print_raw(json_output.encode(file).decode())
    elif not found.files:
        print("No difference.")
    elif arguments.stat:
        print("\n".join(_sum_changes(found)))
    else:
        show_diff("".join(map(restore_plan.diff_text, found.files)))


def _newest_checkpoint(client: Client, workspace: Path) -> str:
    for info in client.tasks.search(TaskQuery(workspace=str(workspace), limit=1)):
        return info.task
    raise UsageError(f"No task in {workspace}.", "Name one with --task.")


def _sum_changes(found: Comparison) -> list[str]:
    lines = []
    for file in found.files:
        name = f"{file.before} → {file.path}" if file.before else file.path
        counts = "binary" if file.added is None else f"+{file.added} −{file.removed}"
        lines.append(f"  {file.kind:<8} {clean(name)}  {counts}")
    return [*lines, f"{format_plural(len(found.files), 'file')}, +{found.added} −{found.removed}"]


def show_diff(text: str) -> None:
    """Print a unified diff, in color on a terminal."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(clean(text), "diff", theme="ansi_dark", background_color="default"))
    else:
        sys.stdout.write(text)


async def _restore_files(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    if arguments.what == "chat":
        await _restore_chat(client, arguments)
        return
    try:
        plan = await client.time.plan(workspace, arguments.checkpoint, overwrite=arguments.overwrite)
    except UsageError as error:
        raise _point_to_folder(client, workspace, arguments.checkpoint, error) from error
    for line in restore_plan.describe_plan(plan):
        print_raw(line)
    both = arguments.what == "both"
    if not plan.changes and not both:
        why = restore_plan.explain_no_change(plan)
        if restore_plan.stays_different(plan):
            raise HaloclineError(*why.split("\n", 1))
        print_raw(why)
        return
    print(restore_plan.count_plan(plan))
    if both:
        print("The conversation is restored as well.")
    if not arguments.yes and not ask_yes_no("Restore the files?" if not both else "Restore both?"):
        raise UsageError("Nothing was changed.", "To restore without confirmation: --yes")
    restored = await client.time.restore(
        workspace, arguments.checkpoint, overwrite=arguments.overwrite, conversation=both
    )
    _report_restore(restored, arguments)


async def _restore_chat(client: Client, arguments: argparse.Namespace) -> None:
    task, _, seq = arguments.checkpoint.partition("@")
    if not seq.isdecimal():
        raise UsageError("A chat is restored to an event.", "Name it as TASK@EVENT. See: halo tasks show TASK --points")
    task = client.find(task)
    last = client.past(task)[-1].seq
    if not arguments.yes and not ask_yes_no(f"Rewind the conversation of {task} to event {seq}?"):
        raise UsageError("Nothing was changed.", "To rewind without confirmation: --yes")
    await client.time.go_back(GoBack(task=task, to=int(seq), files=False))
    print(f"The conversation of {task} continues from event {seq}; files are unchanged.")
    print(f"To undo: halo checkpoints restore {task}@{last} --what chat")


def _report_restore(restored: Restored, arguments: argparse.Namespace) -> None:
    place = "" if arguments.cwd == "." else f" -C {shlex.quote(arguments.cwd)}"
    what = "" if arguments.what == "files" else f" --what {arguments.what}"
    undo = f"halo checkpoints restore {brief_target(restored.undo, 10)}{what}{place}"
    for line in restore_plan.describe_restored(restored, undo):
        print_raw(line)
    restore_plan.require_whole(restored.lost)
