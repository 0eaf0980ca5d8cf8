"""`halo storage`: what is kept on the disk, and freeing what is not needed."""

import argparse
import os
from pathlib import Path

from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.services.storage import PrunePlan, Storage, prune, prune_plan, storage
from halocline.surfaces.cli.commands.tasks import confirmed
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.output.table import entry
from halocline.surfaces.figures import plural, size

SHOWN = 10
"""Folders and tasks that are named."""


def command(arguments: argparse.Namespace) -> int:
    if arguments.action == "prune":
        return _prune(arguments)
    kept = storage(os.environ)
    if arguments.json:
        print(json_output.encode(kept, enc_hook=_text).decode())
    else:
        _show(kept)
    return 0


def _text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError


def _show(kept: Storage) -> None:
    print(f"{kept.root} takes {size(kept.total)}.\n")
    unused = f"{size(kept.unused)} of it named by no task" if kept.unused else ""
    rows = [
        ("tasks", kept.tasks, plural(len(kept.by_task), "task")),
        ("contents", kept.blobs, unused),
        ("checkpoints", kept.checkpoints, f"of {plural(len(kept.stores), 'folder')}" if kept.stores else ""),
        ("trash", kept.trash, ""),
        ("caches", kept.caches, ""),
        ("other", kept.other, ""),
    ]
    for name, taken, remark in rows:
        print(f"  {name:<12}{size(taken):>9}  {remark}".rstrip())
    _show_folders(kept)
    _show_tasks(kept)
    print("\nTo free what no task needs: halo storage prune")


def _show_folders(kept: Storage) -> None:
    if kept.stores:
        print("\nCheckpoints by folder")
    for store in kept.stores[:SHOWN]:
        count = plural(sum(len(task.numbers) for task in store.tasks), "checkpoint")
        what = "damaged, put aside" if store.is_damaged else count
        print(entry(f"  {size(store.size):>9}", what, text=store.workspace or str(store.path)))
        if store.is_half_restored:
            print("             A restore was cut short here. To mend it: halo doctor --fix")
        if store.is_borrowing and not store.is_damaged:
            print("             Some of it is in the project's git only. To copy it: halo doctor --fix")


def _show_tasks(kept: Storage) -> None:
    largest = sorted(kept.by_task, key=lambda use: use.folder + use.blobs, reverse=True)[:SHOWN]
    if largest:
        print("\nThe largest tasks, with contents of their own")
    for use in largest:
        print(entry(f"  {size(use.folder + use.blobs):>9}", use.task, text=use.title))


def _prune(arguments: argparse.Namespace) -> int:
    plan = prune_plan(os.environ, arguments.older, arguments.keep)
    if not plan:
        print("There is nothing to free.")
        return 0
    _show_plan(plan)
    if arguments.dry_run:
        print("Nothing was freed: this is what prune would do.")
        return 0
    if not arguments.yes and not confirmed("Free it? This cannot be undone."):
        raise UsageError("Nothing was changed.", "To prune without being asked: --yes")
    done = prune(os.environ, plan, lambda step: print(clean(step), flush=True))
    print(f"Freed {size(done.freed)}.")
    for problem in done.problems:
        print(f"  {problem}")
    return 0


def _show_plan(plan: PrunePlan) -> None:
    for one in plan.checkpoints:
        what = f"{plural(one.count, 'checkpoint')} of {one.task} ({one.why})"
        print(f"  {what}  {clean(one.workspace)}")
    for store in plan.damaged:
        print(f"  {size(store.size)} of a damaged store that was put aside  {clean(store.workspace)}")
    if plan.blobs:
        print(f"  {size(plan.blob_bytes)} of contents that no task names")
