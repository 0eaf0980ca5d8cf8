"""Tells the desktop that a task needs its person. Nothing that a model wrote is shown there."""

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import suppress

from halocline.client.tasks import Client
from halocline.protocol.child_environment import child_environment
from halocline.protocol.waiting import wait_at_most
from halocline.surfaces.terminal.application import own_command

PATIENCE = 5.0
_SCRIPT = "on run words\ndisplay notification (item 2 of words) with title (item 1 of words)\nend run"
_PROGRAMS = {
    "notify-send": ("--app-name=Halocline", "--"),
    "osascript": ("-e", _SCRIPT, "--"),
}


async def notify_desktop(client: Client, task: str, what: str, environment: Mapping[str, str]) -> None:
    """Show a notification, if the settings want it and there is a desktop and a program for it.

    A command of the person does it instead, unless it fails.
    """
    settings = client.terminal_settings
    if settings.notify != "off" and settings.notify_command:
        with suppress(OSError, TimeoutError):
            await own_command.run_own_command(settings.notify_command, b"", f"Halocline: a task {what}")
            return
    if settings.notify != "desktop":
        return
    found = ((shutil.which(name, path=environment.get("PATH")), words) for name, words in _PROGRAMS.items())
    program, words = next(((path, words) for path, words in found if path), ("", ()))
    if program:
        texts = (f"Halocline: a task {what}", f"halo attach {task}")
        await wait_at_most(PATIENCE, _run_program((program, *words, *texts), environment))


async def _run_program(words: tuple[str, ...], environment: Mapping[str, str]) -> None:
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=quiet, stdout=quiet, stderr=quiet, env=child_environment(environment)
        )
    except OSError:
        return
    try:
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
