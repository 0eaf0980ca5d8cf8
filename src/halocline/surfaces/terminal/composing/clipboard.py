"""Read the image in the clipboard, with whichever desktop program is available."""

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
EMPTY = "No image in the clipboard. To paste text, use your terminal's key, usually Ctrl+Shift+V."
HOPELESS = "To paste images, install"


class Program(NamedTuple):
    """A command that prints the image; `hex` when it prints AppleScript's «data PNGf…»."""

    words: tuple[str, ...]
    package: str
    hex: bool = False


WAYLAND = Program(("wl-paste", "--no-newline", "--type", "image/png"), "wl-clipboard (wl-paste)")
X11 = Program(("xclip", "-selection", "clipboard", "-target", "image/png", "-out"), "xclip")
MAC = Program(("pngpaste", "-"), "pngpaste")
SCRIPT = Program(("osascript", "-e", "get the clipboard as «class PNGf»"), "osascript", hex=True)


def list_programs(platform: str, env: Mapping[str, str]) -> tuple[Program, ...]:
    """Programs to try on this platform, in order; none without a desktop."""
    if platform == "darwin":
        return (MAC, SCRIPT)
    by_display = (("WAYLAND_DISPLAY", WAYLAND), ("DISPLAY", X11))
    return tuple(program for variable, program in by_display if env.get(variable))


async def read_image() -> bytes:
    """Return the image as PNG. Raises UsageError."""
    wanted = list_programs(sys.platform, os.environ)
    if not wanted:
        raise UsageError("Cannot read the clipboard without a desktop.", "Save the image and type its @path.")
    there = [program for program in wanted if shutil.which(program.words[0])]
    if not there:
        raise UsageError(f"{HOPELESS} {' or '.join(program.package for program in wanted)}.", "Or type @path.")
    for program in there:
        if data := await _run_program(program):
            return data
    raise UsageError(EMPTY)


async def _run_program(program: Program) -> bytes:
    """Return the program's output if it is a PNG, else nothing."""
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
