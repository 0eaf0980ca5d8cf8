"""`halo import`: tasks of Cline, Claude Code and Codex; what is there, and which of it is taken over."""

import argparse
from datetime import datetime

import msgspec

from halocline.controller.assembly import Choices
from halocline.controller.client import open_client
from halocline.controller.importing import Found, Importer, Standing, Taken
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.surfaces import figures
from halocline.surfaces.cli.listing import entry, moment
from halocline.surfaces.cli.run import workspace_of
from halocline.surfaces.cli.safe_text import clean
from halocline.surfaces.cli.telling import tell

NONE = "No tasks of other tools were found. Name a transcript: halo import cline|claude|codex PATH"
MOST = 3


def command(arguments: argparse.Namespace) -> int:
    """Exit code 1 says that something could not be taken over."""
    importer = open_client(Choices()).importer()
    since = _day(arguments.since)
    place = str(workspace_of(arguments.workspace)) if arguments.workspace else ""
    tasks = [one for one in importer.found(arguments.tool, arguments.path) if one.changed >= since]
    if not tasks and not arguments.json:
        print(NONE)
    failed = False
    for there in tasks:
        try:
            _serve(importer, there, place, arguments)
        except HaloclineError as error:
            failed = True
            tell(error.text, error.hint)
    return int(failed)


def _serve(importer: Importer, there: Found, place: str, arguments: argparse.Namespace) -> None:
    if arguments.list:
        standing = importer.standing(there)
        if arguments.json:
            print(msgspec.json.encode({"standing": standing, "found": there}).decode())
            return
        cost = "" if there.cost is None else figures.money(there.cost)
        size = f"{figures.count(there.size)}B"
        print(entry(moment(there.at), f"{there.origin.tool:<6}", f"{size:>7}", f"{cost:>7}", text=there.title))
        if standing is not Standing.NEW:
            print(f"  {standing}")
        return
    taken = importer.take(there, place, dry=arguments.dry_run)
    if arguments.json:
        print(msgspec.json.encode({"taken": taken, "found": there}).decode())
        return
    print("\n".join(_lines(there, taken, dry=arguments.dry_run)))


def _lines(there: Found, taken: Taken, *, dry: bool) -> list[str]:
    if taken.standing in (Standing.SAME, Standing.GOES_ON):
        return [entry(taken.task, taken.standing, text=there.title)]
    if not taken.turns:
        return [entry(there.origin.tool, "nothing in it", text=there.origin.path)]
    took = [
        figures.plural(taken.turns, "turn"),
        figures.plural(taken.steps, "step"),
        figures.tokens(taken.usage, taken.cost),
    ]
    said = "would be imported" if dry else "imported"
    lines = [entry(taken.task, text=there.title), f"  {said} · {' · '.join(took)}"]
    if taken.unread:
        more = f" and {len(taken.unread) - MOST} more" if len(taken.unread) > MOST else ""
        lines.append(clean(f"  not read: {', '.join(taken.unread[:MOST])}{more}"))
    return lines


def _day(text: str | None) -> float:
    """Midnight of a day, here. Raises UsageError."""
    if not text:
        return 0.0
    try:
        return datetime.strptime(text, "%Y-%m-%d").astimezone().timestamp()
    except ValueError:
        raise UsageError(f"{text!r} is no day.", "Write it as 2026-11-21.") from None
