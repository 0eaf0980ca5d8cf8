"""`halo editor`: serve the extension of an editor over stdin and stdout."""

import argparse
import os
from pathlib import Path

from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.stdio import is_file


def command(arguments: argparse.Namespace) -> int:
    """Serve one extension until it closes our stdin. Raises UsageError if there is none."""
    if os.isatty(0) or any(map(is_file, (0, 1))):
        raise UsageError(
            "halo editor talks to the extension of an editor over pipes.",
            "Install the extension; it starts this command itself. In a terminal, use: halo",
        )
    from halocline.surfaces.editor.server import serve_extension

    folders = tuple(Path(folder).expanduser().resolve() for folder in arguments.folders or ["."])
    event_loop.run_loop(serve_extension(tuple(folder for folder in folders if folder.is_dir()) or (Path.home(),)))
    return 0
