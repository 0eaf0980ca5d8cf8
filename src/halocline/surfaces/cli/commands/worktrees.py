"""`halo worktrees`: list worktrees, see what they change, merge that into the main folder, and discard them."""

import argparse
import shlex
import sys
from collections.abc import Sequence

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.client.worktrees import Choice, WorktreeService
from halocline.protocol.errors import HaloclineError, NotWhole, UsageError
from halocline.protocol.left_out import name_some
from halocline.surfaces import event_loop, restore_plan, worktree_text
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.commands.checkpoints import show_diff
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.restore_plan import SHOWN
from halocline.surfaces.sanitize import clean


def command(arguments: argparse.Namespace) -> int:
    workspace = workspace_of(arguments.cwd)
    service = open_client(Choices(), folder=workspace).worktrees_in(workspace)
    action = {"list": _list, "diff": _diff, "merge": _merge, "undo": _undo, "discard": _discard}[arguments.action]
    event_loop.run_loop(action(service, arguments))
    return 0


async def _list(service: WorktreeService, arguments: argparse.Namespace) -> None:
    found = await service.list()
    for work in found:
        for line in worktree_text.describe_work(work, service.find_tasks(work)):
            print_raw(line)
    if not found:
        print_message(worktree_text.NONE)


async def _diff(service: WorktreeService, arguments: argparse.Namespace) -> None:
    found = await service.diff(arguments.name)
    if found.files:
        show_diff("".join(map(restore_plan.diff_text, found.files)))
    else:
        print("No difference.")


async def _merge(service: WorktreeService, arguments: argparse.Namespace) -> None:
    choice, only = Choice(arguments.choice), arguments.only
    done = await service.merge(arguments.name, choice, only=only, guarded=arguments.guarded)
    for line in worktree_text.describe_merge(arguments.name, done):
        print_raw(line)
    what, how = worktree_text.explain_rest(arguments.name, done)
    if what:
        raise NotWhole(what, how)


async def _undo(service: WorktreeService, arguments: argparse.Namespace) -> None:
    restored = await service.undo(arguments.name)
    place = "" if arguments.cwd == "." else f" -C {shlex.quote(arguments.cwd)}"
    done, *left = worktree_text.describe_undone(restored)
    for line in (done, *left):
        print_raw(line)
    if restored.changed:
        print_raw(f"To undo that: halo checkpoints restore {restored.undo[:10]}{place}")
    restore_plan.require_whole(restored.lost)
    if left:
        before = f"halo checkpoints diff {restored.checkpoint[:10]}{place}"
        raise NotWhole("Not all of the merge is undone.", f"To compare with what was before it: {before}")


async def _may_lose(files: Sequence[str]) -> bool:
    """Ask at a terminal about what no checkpoint can hold; elsewhere `--force` is the answer."""
    print_raw(f"No checkpoint can hold: {clean(name_some(files, SHOWN))}.")
    return not sys.stdin.isatty() or ask_yes_no("Discard it all the same?")


async def _discard(service: WorktreeService, arguments: argparse.Namespace) -> None:
    try:
        gone = await service.discard(arguments.name, force=arguments.force, may_lose=_may_lose)
    except UsageError:
        raise
    except HaloclineError as error:
        if not sys.stdin.isatty() or "--force" not in error.hint:
            raise
        print_raw(clean(error.text))
        if not ask_yes_no("Discard it all the same? A checkpoint keeps what it can of it."):
            raise
        gone = await service.discard(arguments.name, force=True, may_lose=_may_lose)
    for line in worktree_text.describe_discarded(gone):
        print_raw(line)
