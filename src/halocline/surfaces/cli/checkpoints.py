"""`halo checkpoints`: the saved states of a workspace."""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from halocline.controller.assembly import Choices
from halocline.controller.client import Client, open_client
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
    _show("create", plan.creates)
    _show("overwrite", plan.overwrites)
    _show("delete", plan.deletes)
    _show("leave as it is", plan.kept)
    if not (plan.creates or plan.overwrites or plan.deletes):
        print("The files are as they were at that checkpoint.")
        return
    if not arguments.yes and not confirmed("Put the files back?"):
        raise UsageError("Nothing was changed.", "To restore without being asked: --yes")
    restored = await client.restore(workspace, arguments.checkpoint)
    place = "" if arguments.cwd == "." else f" -C {shlex.quote(arguments.cwd)}"
    print(f"Put back {plural(len(restored.changed), 'file')}.")
    print(f"To undo: halo checkpoints restore {restored.undo[:10]}{place}")
    _show("could not put back", restored.kept)


def _show(what: str, paths: Sequence[str]) -> None:
    for path in paths[:SHOWN]:
        print(f"  {what}  {clean(path)}")
    if len(paths) > SHOWN:
        print(f"  {what}  … and {len(paths) - SHOWN} more")
