"""`halo import`: list conversations of other programs and import them as tasks."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from halocline.client.imports import IMPORTABLE_PROGRAMS, FoundTranscript, ImportResult, ImportService, TranscriptStatus
from halocline.protocol import json_output
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.surfaces import figures
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.commands import import_mcp, import_settings
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.figures import format_plural, format_time
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry

COUNTED = {
    TranscriptStatus.GROWN: "of them updated",
    TranscriptStatus.MOVED: "of them for another folder",
    TranscriptStatus.IMPORTED: "already imported",
    TranscriptStatus.CONTINUED: "not changed",
    TranscriptStatus.FAILED: "failed",
}
"""Words for the counts of an import, in the order of its last line."""
BESIDES = (
    "Rules apply without importing: halo rules list\n"
    "To import MCP servers: halo import mcp\nTo import settings and modes: halo import settings"
)


def command(arguments: argparse.Namespace) -> int:
    if arguments.program == "mcp":
        return import_mcp.command(arguments)
    if arguments.program == "settings":
        return import_settings.command(arguments)
    desk = ImportService.open()
    found = _select_found(desk, arguments)
    for remark in desk.remarks:
        print_message(remark)
    if arguments.list or not (arguments.program or arguments.dry_run):
        return _list_found(desk, found, arguments)
    return _import_found(desk, found, arguments)


def _select_found(desk: ImportService, arguments: argparse.Namespace) -> list[FoundTranscript]:
    """Select conversations by program, place, name and time. Raises UsageError."""
    programs, named = _parse_source(arguments.program, arguments.path)
    path, since = Path(named).expanduser(), _parse_since(arguments.since)
    if not named:
        return desk.found(programs, since=since)
    if path.exists():
        found = desk.found(programs, path.absolute(), since)
        if not found:
            raise UsageError(f"{named} has no readable conversation.", "Name its file or folder.")
        return found
    found = [one for one in desk.found(programs, since=since) if one.id.startswith(named) or one.id.endswith(named)]
    if not found:
        raise UsageError(f"No file or conversation {named!r}.", "To list conversations: halo import --list")
    return found


def _parse_source(program: str, path: str) -> tuple[Sequence[str], str]:
    """Return the programs, and the path or name. A path may stand alone. Raises UsageError."""
    if program in IMPORTABLE_PROGRAMS:
        return (program,), path
    if program in ("", "all"):
        return IMPORTABLE_PROGRAMS, path
    if not path and Path(program).expanduser().exists():
        return IMPORTABLE_PROGRAMS, program
    raise UsageError(
        f"{program!r} is neither a known agent nor a file.",
        f"Use one of: {', '.join(IMPORTABLE_PROGRAMS)}, all, mcp, settings",
    )


def _parse_since(text: str) -> float:
    if not text:
        return 0.0
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is not a date.", "Use, for example: --since 2026-11-01") from error


def _list_found(desk: ImportService, found: list[FoundTranscript], arguments: argparse.Namespace) -> int:
    if arguments.json:
        for one in found:
            print_raw(json_output.encode({"standing": desk.standing(one), **msgspec.structs.asdict(one)}).decode())
        return 0
    for one in found:
        print(entry(format_time(one.changed), text=one.title or one.id))
        print(entry("", text=" · ".join(_list_facts(one, desk.standing(one)))))
    if found:
        print(
            f"\n{format_plural(len(found), 'conversation')}. To import them: halo import {arguments.program or 'all'}"
        )
        print(f"To import one: halo import {found[0].tool} {clean(found[0].id).rpartition('/')[2][-12:]}")
    else:
        print("No conversations of other programs found.")
    print(BESIDES)
    return 0


def _list_facts(one: FoundTranscript, standing: TranscriptStatus) -> list[str]:
    facts = [one.tool, _format_size(one.size)]
    facts += [figures.format_money(one.cost)] if one.cost is not None else []
    facts += [standing] if standing is not TranscriptStatus.NEW else []
    return [*facts, one.id, one.workspace] if one.workspace else [*facts, one.id]


def _format_size(number: int) -> str:
    return f"{number / 1e6:.1f} MB" if number >= 1e6 else f"{max(number / 1e3, 1):.0f} kB"


def _import_found(desk: ImportService, found: list[FoundTranscript], arguments: argparse.Namespace) -> int:
    given = bool(arguments.workspace)
    workspace = workspace_of(arguments.workspace or ".")
    counts = dict.fromkeys(TranscriptStatus, 0)
    for one in reversed(found):
        try:
            done = desk.take(one, workspace, always=given, dry=arguments.dry_run)
        except HaloclineError as error:
            done = ImportResult("", TranscriptStatus.FAILED, one.title, one.workspace, error=error.text)
        counts[done.standing] += 1
        print_raw(json_output.encode(done).decode()) if arguments.json else _report_progress(done, one)
    if not arguments.json:
        print(_describe_counts(counts, dry=arguments.dry_run))
    return ExitCode.ERROR if counts[TranscriptStatus.FAILED] else ExitCode.FINISHED


def _report_progress(done: ImportResult, one: FoundTranscript) -> None:
    if done.error:
        print(entry("not imported", text=one.title or one.id))
        print(f"  {clean(done.error)}")
        return
    if done.standing is TranscriptStatus.IMPORTED:
        return
    print(entry(done.task, text=one.title or one.id))
    if done.standing is TranscriptStatus.CONTINUED:
        print("  continued here, so not changed")
        return
    facts = [clean(done.workspace), format_plural(done.turns, "prompt")]
    print("  " + " · ".join(facts + ([figures.format_money(done.cost)] if done.cost else [])))
    if not Path(done.workspace).is_dir():
        print("  That folder does not exist; name another with --workspace DIR.")
    for lost in done.lost:
        print(f"  not imported: {clean(lost)}")


def _describe_counts(counts: dict[TranscriptStatus, int], *, dry: bool) -> str:
    """Summarize the counts in a sentence."""
    taken = sum(counts[status] for status in (TranscriptStatus.NEW, TranscriptStatus.GROWN, TranscriptStatus.MOVED))
    parts = [f"{taken} {'would be imported' if dry else 'imported'}"]
    parts += [f"{counts[status]} {text}" for status, text in COUNTED.items() if counts[status]]
    hint = " To list them: halo tasks list --all" if taken and not dry else ""
    return f"{', '.join(parts)}.{hint}"
