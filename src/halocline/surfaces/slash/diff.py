"""`/diff`: the changes in the task's folders since it began, or in the last turn."""

from collections.abc import Sequence

from halocline.client.history import Comparison, FileDifference
from halocline.client.tasks import Client
from halocline.protocol.kinds import Diff
from halocline.surfaces.figures import format_plural
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashDiff

LAST = "last"
USAGE = "/diff       show what changed since this task began\n/diff last  show what changed since your latest prompt"


async def answer_diff(context: SlashContext, rest: str) -> SlashAnswer:
    if rest not in ("", LAST):
        return USAGE
    time, since = context.client.time, "in the last turn" if rest else "since this task began"
    found = await time.compare(context.workspace, time.since(context.task, completion=bool(rest)))
    return show_comparison(found, since)


async def complete_diff(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    return {} if given else {LAST: "only since your latest prompt"}


def show_comparison(found: Comparison, since: str) -> SlashAnswer:
    """Return the answer that shows files which differ `since` some point."""
    if not found.files:
        return f"Nothing changed {since}."
    return SlashDiff("\n".join(_sum_changes(found, since)), tuple(map(_make_diff, found.files)))


def _make_diff(file: FileDifference) -> Diff:
    """Return a file's difference as a diff to show, with the size of what is left out."""
    cut = f"\\ {file.cut:,} more bytes are left out\n" if file.cut else ""
    return Diff(file.path, file.diff + cut, file.added or 0, file.removed or 0)


def _sum_changes(found: Comparison, since: str) -> list[str]:
    counts = f"{format_plural(len(found.files), 'file')} changed {since}: +{found.added} −{found.removed}"
    return [counts, *map(_sum_change, found.files)]


def _sum_change(file: FileDifference) -> str:
    name = f"{file.before} → {file.path}" if file.before else file.path
    return f"  {file.kind:<8} {name}  {'binary' if file.added is None else f'+{file.added} −{file.removed}'}"
