"""The person's own text editor: that of the settings, $VISUAL, $EDITOR, or one that is usually there."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

USUAL = ("editor", "nano", "vi")


def find_editor(env: Mapping[str, str], own: str = "") -> list[str]:
    """Return the words that start the editor. `own` is the setting. Raises UsageError if there is none."""
    if named := own or env.get("VISUAL") or env.get("EDITOR"):
        return shlex.split(named)
    if found := next((name for name in USUAL if shutil.which(name)), ""):
        return [found]
    raise UsageError("There is no editor.", "Set EDITOR to the one that you use.")


async def run_editor(paths: Sequence[Path], own: str) -> None:
    """Open files in the editor and wait until it ends, also if canceled: it has the terminal.

    Raises UsageError if it cannot start.
    """
    words = find_editor(os.environ, own)
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


async def edit_text(text: str, own: str) -> str:
    """Let the person edit a text in the editor, which has the terminal, and return it. Raises UsageError."""
    with TemporaryDirectory(prefix="halo-edit-") as folder:
        file = _write_text(Path(folder, "prompt.md"), text)
        await run_editor((file,), own)
        return read_edited(file).removesuffix("\n")


def _write_text(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8", newline="")
    return file


def read_edited(file: Path) -> str:
    """Read what the editor saved. Raises UsageError."""
    try:
        return file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read what the editor saved: {error}.", "The text is as it was.") from error
