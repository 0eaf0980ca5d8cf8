"""`halo storage`: show disk usage, and free space."""

import argparse
import os
from pathlib import Path

from halocline.client.storage import PrunePlan, Storage, measure_storage, plan_pruning, prune_storage
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.figures import format_plural, format_size
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry

SHOWN = 10
"""Most folders and tasks shown."""


def command(arguments: argparse.Namespace) -> int:
    if arguments.action == "prune":
        return _prune_storage(arguments)
    kept = measure_storage(os.environ)
    if arguments.json:
        print_raw(json_output.encode(kept, enc_hook=_read_text).decode())
    else:
        _show_storage(kept)
    return 0


def _read_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError


def _show_storage(kept: Storage) -> None:
    print(f"{kept.root} uses {format_size(kept.total)}.\n")
    unused = f"{format_size(kept.unused)} not used by any task" if kept.unused else ""
    rows = [
        ("tasks", kept.tasks, format_plural(len(kept.by_task), "task")),
        ("contents", kept.blobs, unused),
        ("checkpoints", kept.checkpoints, f"of {format_plural(len(kept.stores), 'folder')}" if kept.stores else ""),
        ("trash", kept.trash, ""),
        ("caches", kept.caches, ""),
        ("other", kept.other, ""),
    ]
    for name, taken, remark in rows:
        print(f"  {name:<12}{format_size(taken):>9}  {remark}".rstrip())
    _show_folders(kept)
    _show_tasks(kept)
    print("\nTo delete data that no task needs: halo storage prune")


def _show_folders(kept: Storage) -> None:
    if kept.stores:
        print("\nCheckpoints by folder")
    for store in kept.stores[:SHOWN]:
        count = format_plural(sum(len(task.numbers) for task in store.tasks), "checkpoint")
        what = "damaged, moved aside" if store.is_damaged else count
        print(entry(f"  {format_size(store.size):>9}", what, text=store.workspace or str(store.path)))
        if store.is_half_restored:
            print("             A restore was interrupted here. To repair it: halo doctor --fix")
        if store.is_borrowing and not store.is_damaged:
            print("             Some of it exists only in the project's Git. To copy it: halo doctor --fix")


def _show_tasks(kept: Storage) -> None:
    largest = sorted(kept.by_task, key=lambda use: use.folder + use.blobs, reverse=True)[:SHOWN]
    if largest:
        print("\nLargest tasks, with contents that only they use")
    for use in largest:
        print(entry(f"  {format_size(use.folder + use.blobs):>9}", use.task, text=use.title))


def _prune_storage(arguments: argparse.Namespace) -> int:
    plan = plan_pruning(os.environ, arguments.older, arguments.keep)
    if not plan:
        print("Nothing to free.")
        return 0
    _show_plan(plan)
    if arguments.dry_run:
        print("Nothing was deleted (dry run).")
        return 0
    if not arguments.yes and not ask_yes_no("Delete it? This cannot be undone."):
        raise UsageError("Nothing was deleted.", "To prune without confirmation: --yes")
    done = prune_storage(os.environ, plan, lambda step: print(clean(step), flush=True))
    print(f"Freed {format_size(done.freed)}.")
    for problem in done.problems:
        print_raw(f"  {problem}")
    return 0


def _show_plan(plan: PrunePlan) -> None:
    for one in plan.checkpoints:
        what = f"{format_plural(one.count, 'checkpoint')} of {one.task} ({one.why})"
        print(f"  {what}  {clean(one.workspace)}")
    for store in plan.damaged:
        print(f"  {format_size(store.size)} of a damaged store that was moved aside  {clean(store.workspace)}")
    if plan.blobs:
        print(f"  {format_size(plan.blob_bytes)} of contents that no task uses")
