"""`halo export`: write a task as a document, its events or a trajectory."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Image
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.export.task import Form, export_task
from halocline.surfaces.figures import format_plural

SHORT = 16
"""Characters of an image's hash in its file's name."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    task = pickers.task_picker.choose_task(client, arguments.id)
    if arguments.format == "otlp":
        return _send_spans(client, task, arguments.output)
    past, form = client.past(task), Form(arguments.format)
    if form is Form.HTML and not arguments.output and sys.stdout.isatty():
        raise UsageError("A page of HTML is not for a terminal.", f"Write it to a file: -o {task}.html")
    keep_image = _keep_images(client, Path(arguments.output)) if arguments.output else None
    try:
        text = export_task(past, form, client.build_redactor(), client.past, keep_image)
        if arguments.output:
            Path(arguments.output).write_text(text, encoding="utf-8")
            print(f"Written: {arguments.output}", file=sys.stderr)
        else:
            print_raw(text, end="")
    except OSError as error:
        raise UsageError(f"Cannot write {arguments.output}: {error.strerror}.", "Name another file with -o.") from error
    return 0


def _send_spans(client: Client, task: str, output: str | None) -> int:
    if output:
        raise UsageError("Spans are sent to a collector, not written.", "Set OTEL_EXPORTER_OTLP_ENDPOINT, without -o.")
    print(f"Sent {format_plural(client.send_spans(task), 'span')}.", file=sys.stderr)
    return 0


def _keep_images(client: Client, output: Path) -> Callable[[Image], str]:
    """Return what stores an image in a folder beside the output; of one that is no longer stored it returns no path."""
    folder = output.with_name(f"{output.stem}.images")

    def keep(image: Image) -> str:
        try:
            _, data = client.handing.kept_picture(image.blob)
        except UsageError:
            return ""
        file = folder / f"{image.blob.removeprefix('sha256:')[:SHORT]}.{image.media_type.removeprefix('image/')}"
        folder.mkdir(exist_ok=True)
        file.write_bytes(data)
        return f"{folder.name}/{file.name}"

    return keep
