"""The picture in the clipboard, by whichever program of the desktop can give it."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from typing import NamedTuple

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

TIME_LIMIT = 10.0
LARGEST = 50_000_000
EMPTY = "There is no picture in the clipboard. For its text, use the terminal's own key, mostly Ctrl+Shift+V."
HOPELESS = "To paste pictures, install"


class Program(NamedTuple):
    """How a picture is asked for; `hex` when it comes as AppleScript's «data PNGf…»."""

    words: tuple[str, ...]
    package: str
    hex: bool = False


WAYLAND = Program(("wl-paste", "--no-newline", "--type", "image/png"), "wl-clipboard (wl-paste)")
X11 = Program(("xclip", "-selection", "clipboard", "-target", "image/png", "-out"), "xclip")
MAC = Program(("pngpaste", "-"), "pngpaste")
SCRIPT = Program(("osascript", "-e", "get the clipboard as «class PNGf»"), "osascript", hex=True)


def list_programs(platform: str, env: Mapping[str, str]) -> tuple[Program, ...]:
    """The programs to try here, in order; none without a desktop."""
    if platform == "darwin":
        return (MAC, SCRIPT)
    by_display = (("WAYLAND_DISPLAY", WAYLAND), ("DISPLAY", X11))
    return tuple(program for variable, program in by_display if env.get(variable))


async def read_image() -> bytes:
    """The picture as PNG. Raises UsageError, which says what is missing."""
    wanted = list_programs(sys.platform, os.environ)
    if not wanted:
        raise UsageError(
            "There is no desktop here whose clipboard could be read.", "Save the picture and type its @path."
        )
    there = [program for program in wanted if shutil.which(program.words[0])]
    if not there:
        raise UsageError(f"{HOPELESS} {' or '.join(program.package for program in wanted)}.", "Or type @path.")
    for program in there:
        if data := await _run_program(program):
            return data
    raise UsageError(EMPTY)


async def _run_program(program: Program) -> bytes:
    """What the program gives, if that is a PNG."""
    process = await asyncio.create_subprocess_exec(
        *program.words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=child_environment(os.environ),
    )
    try:
        async with asyncio.timeout(TIME_LIMIT):
            data, _ = await process.communicate()
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    data = _decode_hex(data) if program.hex else data
    return data if data.startswith(b"\x89PNG") and len(data) <= LARGEST else b""


def _decode_hex(data: bytes) -> bytes:
    digits = data.decode("utf-8", "replace").strip().removeprefix("«data PNGf").removesuffix("»")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return b""
