"""`--image FILE`: pictures that go with the first prompt. They are read before anything begins."""

from collections.abc import Sequence
from pathlib import Path

from halocline.client import Client
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Image, UserPart
from halocline.surfaces.cli.output.view import View

MOST_PICTURES = 20
"""Pictures that one prompt takes."""
LARGEST = 50_000_000
BLIND = "The model sees no pictures: it is only told of them. Choose another with -m, or name it in image_models."

Pictures = Sequence[tuple[str, bytes]]


def read_images(paths: Sequence[str]) -> Pictures:
    """Each picture with its name. Raises UsageError."""
    if len(paths) > MOST_PICTURES:
        raise UsageError(f"{len(paths)} pictures are too many: a prompt takes {MOST_PICTURES}.", "Leave some out.")
    return [(Path(path).name, _read_data(path)) for path in paths]


def _read_data(text: str) -> bytes:
    path = Path(text).expanduser()
    try:
        if not path.is_file():
            raise UsageError(f"There is no picture {text}.", "Give the path of a PNG, JPEG, GIF or WebP file.")
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{text} is too large: more than {LARGEST:,} bytes.", "Make it smaller.")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{text} cannot be read: {error.strerror}.", "Check its permissions.") from error


async def attach_images(client: Client, task: str, pictures: Pictures, view: View) -> tuple[UserPart, ...]:
    """The parts of the prompt that are the pictures. Raises UsageError for what is none, or too large."""
    parts = [part for name, data in pictures for part in await client.attach(task, name, data)]
    if parts and not any(isinstance(part, Image) for part in parts):
        view.show(ev.Noticed(BLIND))
    return tuple(parts)
