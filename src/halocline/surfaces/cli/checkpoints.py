"""`halo checkpoints`: the saved states of a workspace."""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from halocline.controller.assembly import Choices
from halocline.controller.client import Client, open_client
from halocline.controller.undoing import Plan
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.listing import entry, moment
from halocline.surfaces.cli.run import workspace_of
from halocline.surfaces.cli.safe_text import clean
from halocline.surfaces.cli.tasks import confirmed
from halocline.surfaces.figures import plural

SHOWN = 20
"""Paths of each kind that a plan names."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    workspace = workspace_of(arguments.cwd)
    action = {"list": _list, "diff": _diff, "restore": _restore}[arguments.action]
    asyncio.run(action(client, workspace, arguments))
    return 0


async def _list(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    found = await client.checkpoints(workspace).list()
    if not found:
        print(f"No checkpoints of {workspace} yet. They are taken when a task begins and after each change.")
    for info in sorted(found, key=lambda info: (info.at, info.n), reverse=True):
        print(entry(f"{info.task}/{info.n}", info.sha[:10], moment(info.at), text=info.label))


async def _diff(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    text = await client.checkpoints(workspace).diff(arguments.checkpoint, arguments.other)
    if not text:
        print("No difference.")
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(clean(text), "diff", theme="ansi_dark", background_color="default"))
    else:
        sys.stdout.write(text)


async def _restore(client: Client, workspace: Path, arguments: argparse.Namespace) -> None:
    plan = await client.checkpoints(workspace).plan(arguments.checkpoint)
    for line in planned(plan):
        print(line)
    if not (plan.creates or plan.overwrites or plan.deletes):
        print("The files are as they were at that checkpoint.")
        return
    if not arguments.yes and not confirmed("Put the files back?"):
        raise UsageError("Nothing was changed.", "To restore without being asked: --yes")
    restored = await client.restore(workspace, arguments.checkpoint)
    place = "" if arguments.cwd == "." else f" -C {shlex.quote(arguments.cwd)}"
    print(f"Put back {plural(len(restored.changed), 'file')}.")
    print(f"To undo: halo checkpoints restore {restored.undo[:10]}{place}")
    for line in _named("could not put back", restored.kept):
        print(line)


def planned(plan: Plan) -> list[str]:
    """What a restore would do to which files."""
    return [
        *_named("create", plan.creates),
        *_named("overwrite", plan.overwrites),
        *_named("delete", plan.deletes),
        *_named("leave as it is", plan.kept),
    ]


def _named(what: str, paths: Sequence[str]) -> list[str]:
    more = [f"  {what}  … and {len(paths) - SHOWN} more"] if len(paths) > SHOWN else []
    return [*(f"  {what}  {clean(path)}" for path in paths[:SHOWN]), *more]
