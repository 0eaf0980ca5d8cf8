"""The person's own text editor: $VISUAL, $EDITOR, or one that is usually there."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

USUAL = ("editor", "nano", "vi")


def find_editor(env: Mapping[str, str]) -> list[str]:
    """Return the words that start the editor. Raises UsageError if there is none."""
    if named := env.get("VISUAL") or env.get("EDITOR"):
        return shlex.split(named)
    if found := next((name for name in USUAL if shutil.which(name)), ""):
        return [found]
    raise UsageError("There is no editor.", "Set EDITOR to the one that you use.")


async def run_editor(paths: Sequence[Path]) -> None:
    """Open files in the editor and wait until it ends, also if canceled: it has the terminal.

    Raises UsageError if it cannot start.
    """
    words = find_editor(os.environ)
    try:
        process = await asyncio.create_subprocess_exec(*words, *map(str, paths), env=child_environment(os.environ))
    except OSError as error:
        raise UsageError(
            f"Cannot start {words[0]}: {error.strerror}.", "Set EDITOR to the editor that you use."
        ) from error
    try:
        await process.wait()
    except asyncio.CancelledError:
        await process.wait()
        raise
