"""`halo export`: write a task as Markdown, HTML or JSON lines."""

import argparse
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.session.named_task import choose_task
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.export.task import Form, export_task


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    text = export_task(client.past(choose_task(client, arguments.id)), Form(arguments.format), client.build_redactor())
    if not arguments.output:
        print_raw(text, end="")
        return 0
    try:
        Path(arguments.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot write {arguments.output}: {error.strerror}.", "Name another file with -o.") from error
    return 0
