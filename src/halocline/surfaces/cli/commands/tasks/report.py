"""`halo report`: a bundle about a task for those who look into a problem. It is shown, then written, never sent."""

import argparse
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.storage import write_report
from halocline.client.tasks import open_client
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.figures import format_size

WARNING = "It has all that was said and read in the task, without keys of a known form. Look before you share it."


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    task = pickers.task_picker.choose_task(client, arguments.id)
    path = Path(arguments.output or f"halocline-report-{task}.zip")
    parts = event_loop.run_loop(client.collect_report(task, Path.cwd()))
    print(f"{path} is to have:\n")
    for part in parts:
        print(f"  {part.name:<22} {format_size(len(part.data)):>9}  {part.about}")
    print(f"\n{WARNING}")
    if not (arguments.yes or ask_yes_no("Write it? Nothing is sent.")):
        raise UsageError("Nothing was written.", "To write it without confirmation: --yes")
    write_report(parts, path)
    print(f"Written. To replay it: unzip {path}, then halo replay {parts[0].name}")
    return 0
