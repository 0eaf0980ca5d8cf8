import sys

import pytest

from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.input.clipboard import MAC, SCRIPT, WAYLAND, X11, list_programs, read_image

pytestmark = pytest.mark.process

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("platform", "env", "wanted"),
    [
        ("darwin", {}, (MAC, SCRIPT)),
        ("linux", {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, (WAYLAND, X11)),
        ("linux", {"DISPLAY": ":0"}, (X11,)),
        ("linux", {"WAYLAND_DISPLAY": "", "TERM": "xterm"}, ()),
    ],
)
def test_each_desktop_has_its_programs(platform, env, wanted):
    assert list_programs(platform, env) == wanted


@pytest.fixture
def desktop(tmp_path, monkeypatch):
    """Programs of a Wayland and X11 desktop, as scripts that print what they are told."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "w")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(sys, "platform", "linux")

    def add(name, data):
        (tmp_path / f"{name}.data").write_bytes(data)
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexec /bin/cat {tmp_path}/{name}.data\n")
        program.chmod(0o755)

    return add


async def test_the_picture_comes_from_the_first_program_that_has_one(desktop):
    desktop("wl-paste", b"")
    desktop("xclip", PNG)
    assert await read_image() == PNG


async def test_without_a_program_it_is_said_what_to_install(desktop):
    with pytest.raises(UsageError, match=r"install wl-clipboard \(wl-paste\) or xclip"):
        await read_image()


async def test_a_clipboard_with_text_holds_no_picture(desktop):
    desktop("wl-paste", b"some text")
    with pytest.raises(UsageError, match="No image in the clipboard"):
        await read_image()


async def test_without_a_desktop_there_is_no_clipboard(desktop, monkeypatch):
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY")
    with pytest.raises(UsageError, match="without a desktop"):
        await read_image()


async def test_a_macs_picture_comes_as_hexadecimal_digits(desktop, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    desktop("osascript", f"«data PNGf{PNG.hex().upper()}»\n".encode())
    assert await read_image() == PNG
