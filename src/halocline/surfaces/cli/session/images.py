"""`--image FILE`: images for the first prompt. They are read before a task starts."""

from collections.abc import Sequence
from pathlib import Path

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import UserPart
from halocline.surfaces.terminal.composing.pasting import MOST_PICTURES

LARGEST = 50_000_000

Pictures = Sequence[tuple[str, bytes]]


def read_images(paths: Sequence[str]) -> Pictures:
    """Read each image, with its name. Raises UsageError."""
    if len(paths) > MOST_PICTURES:
        raise UsageError(f"Too many images: {len(paths)}; a prompt takes {MOST_PICTURES}.", "Remove some.")
    return [(Path(path).name, _read_data(path)) for path in paths]


def _read_data(text: str) -> bytes:
    path = Path(text).expanduser()
    try:
        if not path.is_file():
            raise UsageError(f"No such image: {text}", "Give the path of a PNG, JPEG, GIF or WebP file.")
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{text} is too large: the limit is {LARGEST:,} bytes.", "Use a smaller image.")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read {text}: {error.strerror}.", "Check its permissions.") from error


async def attach_images(client: Client, task: str, pictures: Pictures) -> tuple[UserPart, ...]:
    """Turn images into parts of the prompt. Raises UsageError for a file that is not an image, or too large."""
    return tuple([part for name, data in pictures for part in await client.attach(task, name, data)])
