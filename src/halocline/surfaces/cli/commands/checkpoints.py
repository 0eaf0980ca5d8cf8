"""`halo checkpoints`: the saved states of a workspace."""

import argparse
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from halocline.client import Client, open_client
from halocline.protocol import json_output
from halocline.protocol.commands import GoBack
from halocline.protocol.errors import NotWhole, UsageError
from halocline.protocol.going_back import brief_target
from halocline.runtime.assembly.assembly import Choices
from halocline.runtime.history.actions import Comparison, FileDifference, Restored, RestorePlan
from halocline.runtime.history.undo_target import Checkpoint
from halocline.surfaces import event_loop
from halocline.surfaces.cli.commands.run import workspace_of
from halocline.surfaces.cli.commands.tasks import ask_yes_no
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.table import entry, moment
from halocline.surfaces.figures import format_plural

Action = Callable[[Client, Path, argparse.Namespace], Awaitable[None]]
SHOWN = 20
"""Paths of each kind that a plan names."""
KINDS = (
    ("creates", "create"),
    ("overwrites", "put back"),
    ("merges", "merge with yours"),
    ("deletes", "delete"),
    ("yours", "stays (you changed it)"),
    ("others", "stays (another task changed it)"),
    ("doubtful", "stays (it changed while a command ran, perhaps by you)"),
    ("conflicts", "stays (you and the task changed the same lines)"),
    ("kept", "stays (it cannot be written or removed)"),
    ("lost", "stays (its saved content is damaged)"),
)
"""What a plan may hold, and how it is said."""
LATE = "The files of {} were still being read when that checkpoint was due: what changed until then stays."
OVERWRITE = "To put them back all the same, and lose what others changed in them: --overwrite"


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    workspace = workspace_of(arguments.cwd)
    action = {"list": _list_checkpoints, "diff": _diff_checkpoints, "restore": _restore_files}[arguments.action]
    event_loop.run_loop(_after_mending(action, client, workspace, arguments))
    return 0


async def _after_mending(action: Action, client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    """Do something once a restore that was cut short is taken back, and say that it was."""
    if str(workspace) in client.half_restored():
        store = client.checkpoints(workspace)
        await store.list()
        if store.mended:
            print(store.mended, file=sys.stderr)
    await action(client, workspace, arguments)


def describe_plan(plan: RestorePlan) -> list[str]:
    """What a restore would do to which files, a line for each."""
    lines = [line for field, said in KINDS for line in _name_paths(said, getattr(plan, field))]
    return [*lines, *describe_assumed(plan), *(LATE.format(clean(folder)) for folder in plan.late)]


def describe_assumed(plan: RestorePlan) -> list[str]:
    """Say of which files only the time tells that the task changed them."""
    if not plan.assumed:
        return []
    one = len(plan.assumed) == 1
    return [
        f"  Changed while a command ran, so taken for its work: {_join_paths(plan.assumed)}.",
        f"  If you changed {'it' if one else 'one of them'} yourself at that moment, keep a copy first.",
    ]


def nothing_to_do(plan: RestorePlan) -> str:
    """Say why a restore would change no file. Raises NotWhole when that is because contents are lost."""
    _require_whole(plan.lost)
    if plan.yours or plan.conflicts or plan.others or plan.doubtful:
        return f"No file was put back: those that differ were not changed by the task alone.\n{OVERWRITE}"
    if plan.kept:
        return "No file was put back: those that differ cannot be written or removed."
    return "The files are as they were at that checkpoint."


def count_plan(plan: RestorePlan) -> str:
    """The same in one line of numbers."""
    stay = sum(map(len, (plan.yours, plan.others, plan.doubtful, plan.conflicts, plan.kept, plan.lost)))
    return f"{format_plural(plan.changes, 'file')} would change" + (
        f", {stay} would stay as they are." if stay else "."
    )


async def _list_checkpoints(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    store = client.checkpoints(workspace)
    found = await store.list()
    if store.unread:
        print(store.unread)
    if not found and not store.unread:
        print(f"No checkpoints of {workspace} yet. They are taken when a task begins and after each change.")
    for info in sorted(found, key=_time_key(found), reverse=True):
        print(entry(f"{info.task}/{info.n}", info.sha[:10], moment(info.at), text=info.label))


def _time_key(found: Sequence[Checkpoint]) -> Callable[[Checkpoint], tuple[float, int]]:
    """When each was made, as its task counted: a clock that was set back does not make it older than the one before."""
    latest: dict[str, float] = {}
    times = {}
    for info in found:  # by task and number
        latest[info.task] = times[info.ref] = max(info.at, latest.get(info.task, 0.0))
    return lambda info: (times[info.ref], info.n)


async def _diff_checkpoints(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    old = arguments.checkpoint
    if arguments.since_completion or arguments.since_start:
        if old:
            raise UsageError("Name a checkpoint or --since-…, not both.", "The task is named with --task.")
        task = arguments.task or _newest_checkpoint(client, workspace)
        old = client.time.since(task, completion=arguments.since_completion)
    if not old:
        raise UsageError("There is nothing to compare.", "Name a checkpoint, TASK@EVENT, or --since-completion.")
    found = await client.time.compare(workspace, old, arguments.other or "")
    if arguments.json:
        for file in found.files:
            print(json_output.encode(file).decode())
    elif not found.files:
        print("No difference.")
    elif arguments.stat:
        print("\n".join(_sum_changes(found)))
    else:
        _show_diff("".join(map(diff_text, found.files)))


def _newest_checkpoint(client: Client, workspace: Path) -> str:
    for info in client.history():
        if info.workspace == str(workspace):
            return info.task
    raise UsageError(f"There is no task of {workspace}.", "Name one with --task.")


def diff_text(file: FileDifference) -> str:
    """One file's diff, and how much of it is left out."""
    cut = f"\\ {file.cut:,} bytes more of {file.path} are left out\n" if file.cut else ""
    return file.diff + cut


def _sum_changes(found: Comparison) -> list[str]:
    lines = []
    for file in found.files:
        name = f"{file.before} → {file.path}" if file.before else file.path
        counts = "binary" if file.added is None else f"+{file.added} −{file.removed}"
        lines.append(f"  {file.kind:<8} {clean(name)}  {counts}")
    return [*lines, f"{format_plural(len(found.files), 'file')}, +{found.added} −{found.removed}"]


def _show_diff(text: str) -> None:
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
    plan = await client.time.plan(workspace, arguments.checkpoint, overwrite=arguments.overwrite)
    for line in describe_plan(plan):
        print(line)
    both = arguments.what == "both"
    if not plan.changes and not both:
        print(nothing_to_do(plan))
        return
    print(count_plan(plan))
    if both:
        print("The conversation goes back as well.")
    if not arguments.yes and not ask_yes_no("Put the files back?" if not both else "Go back?"):
        raise UsageError("Nothing was changed.", "To restore without being asked: --yes")
    restored = await client.time.restore(
        workspace, arguments.checkpoint, overwrite=arguments.overwrite, conversation=both
    )
    _report_restore(restored, arguments)


async def _restore_chat(client: Client, arguments: argparse.Namespace) -> None:
    task, _, seq = arguments.checkpoint.partition("@")
    if not seq.isdecimal():
        raise UsageError(
            "Where shall the chat go back to?", "Name it as TASK@EVENT; see: halo tasks show TASK --points"
        )
    task = client.find(task)
    last = client.past(task)[-1].seq
    if not arguments.yes and not ask_yes_no(f"Let the conversation of {task} go back to event {seq}?"):
        raise UsageError("Nothing was changed.", "To go back without being asked: --yes")
    await client.time.go_back(GoBack(task=task, to=int(seq), files=False))
    print(f"The conversation of {task} goes on from event {seq}; the files stay as they are.")
    print(f"To undo: halo checkpoints restore {task}@{last} --what chat")


def _report_restore(restored: Restored, arguments: argparse.Namespace) -> None:
    place = "" if arguments.cwd == "." else f" -C {shlex.quote(arguments.cwd)}"
    what = "" if arguments.what == "files" else f" --what {arguments.what}"
    print(f"Put back {format_plural(len(restored.changed), 'file')}.")
    print(f"To undo: halo checkpoints restore {brief_target(restored.undo, 10)}{what}{place}")
    if stay := sum(map(len, (restored.yours, restored.conflicts, restored.others, restored.doubtful))):
        print(
            f"{format_plural(stay, 'file')} stayed, because not only the task changed {'it' if stay == 1 else 'them'}."
        )
        print(OVERWRITE)
    for line in _name_paths("could not be written or removed", restored.kept):
        print(line)
    _require_whole(restored.lost)


def _require_whole(lost: Sequence[str]) -> None:
    """Raises NotWhole when contents are lost: what else goes back did."""
    if lost:
        files = format_plural(len(lost), "file")
        raise NotWhole(
            f"{files} stayed as they are, because what was saved of them is lost: {_join_paths(lost)}.",
            "Another checkpoint may have them: halo checkpoints list",
        )


def _join_paths(paths: Sequence[str]) -> str:
    return ", ".join(map(clean, paths[:SHOWN])) + (f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else "")


def _name_paths(what: str, paths: Sequence[str]) -> list[str]:
    more = [f"  {what}  … and {len(paths) - SHOWN} more"] if len(paths) > SHOWN else []
    return [*(f"  {what}  {clean(path)}" for path in paths[:SHOWN]), *more]
