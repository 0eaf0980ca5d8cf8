"""Write text to the clipboard: with a program of the system, or by a code that terminals know (OSC 52)."""

import asyncio
import base64
import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from halocline.protocol.child_environment import child_environment

TIME_LIMIT = 5.0
BY_CODE = "your terminal"
LONGEST_CODE = 74_994
"""Characters of base64 that terminals are known to take."""
_BY_VARIABLE = (
    ("TMUX", ("tmux", "load-buffer", "-w", "-")),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)


def list_programs(platform: str, env: Mapping[str, str]) -> list[Sequence[str]]:
    """List the commands that may take text for the clipboard here, in the order to try them."""
    if platform == "darwin":
        return [("pbcopy",)]
    return [words for variable, words in _BY_VARIABLE if env.get(variable)]


async def write_text(text: str) -> str:
    """Give a text to the first program that takes it, and return its name; empty if none does."""
    for words in list_programs(sys.platform, os.environ):
        if shutil.which(words[0]) and await _feed_program(words, text):
            return words[0]
    return ""


def make_code(text: str) -> str:
    """Return the code that puts a text into the terminal's clipboard; empty if it is too long for one."""
    data = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return f"\x1b]52;c;{data}\a" if len(data) <= LONGEST_CODE else ""


async def _feed_program(words: Sequence[str], text: str) -> bool:
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=quiet, stderr=quiet, env=child_environment(os.environ)
    )
    try:
        async with asyncio.timeout(TIME_LIMIT):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode == 0
