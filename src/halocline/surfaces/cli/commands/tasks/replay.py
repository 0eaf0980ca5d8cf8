"""`halo replay`: re-run a recorded task and report differences."""

import argparse
from typing import TYPE_CHECKING

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean

if TYPE_CHECKING:
    from halocline.client.history import Replay  # with all that restores need


def command(arguments: argparse.Namespace) -> int:
    """Exit code 1 when something differed, or the recording ends in the middle of a turn."""
    folder = workspace_of(arguments.tools_in) if arguments.tools_in else None
    client = open_client(Choices())
    recording = arguments.recording or pickers.task_picker.choose_task(client)
    done = event_loop.run_loop(client.replay(recording, strict=not arguments.tolerant, folder=folder))
    print_raw(
        json_output.encode(done).decode()
        if arguments.json
        else clean(describe_replay(done, strict=not arguments.tolerant))
    )
    return ExitCode.FINISHED if done.same and not done.unfinished else ExitCode.ERROR


def describe_replay(done: "Replay", *, strict: bool) -> str:
    """Describe a replay's outcome."""
    extent = f"{format_plural(done.steps, 'step')} and {format_plural(done.events, 'event')} of task {done.task}"
    if done.same and done.unfinished:
        return (
            f"Unfinished: identical as far as it goes, {extent}, {_count_requests(done)}. It ends in the middle of a "
            "turn: the task still runs or was killed, or the file is not whole."
        )
    if done.same:
        return f"Identical: {extent}, {_count_requests(done)}."
    lines = [f"Different: replayed {extent}, of {done.recorded_events} events; {_count_requests(done)}."]
    for difference in done.differences:
        lines += [
            f"\n{difference.place}{', ' if difference.path else ''}{difference.path}",
            f"  recorded  {difference.recorded}",
            f"  now       {difference.now}",
        ]
    if strict and done.events < done.recorded_events:
        lines.append("\nThe replay stopped at the first difference; --tolerant continues if possible.")
    return "\n".join(lines)


def _count_requests(done: "Replay") -> str:
    if not done.requests:
        return "no requests compared (a log and a report have none; halo run --record saves them)"
    return f"{format_plural(done.requests, 'request')} compared"
