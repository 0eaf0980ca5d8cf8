import sys

import pytest

from halocline.protocol.errors import UsageError
from halocline.surfaces.clipboard import list_programs as list_text_programs, make_code, write_text
from halocline.surfaces.slash.copy import find_last_code
from halocline.surfaces.terminal.composing.clipboard import MAC, SCRIPT, WAYLAND, X11, list_programs, read_image

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


@pytest.mark.parametrize(
    ("platform", "env", "wanted"),
    [
        ("darwin", {}, ["pbcopy"]),
        ("linux", {"TMUX": "/tmp/t", "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, ["tmux", "wl-copy", "xclip", "xsel"]),
        ("linux", {"TERM": "xterm"}, []),
    ],
)
def test_text_goes_to_the_programs_of_the_place(platform, env, wanted):
    assert [words[0] for words in list_text_programs(platform, env)] == wanted


async def test_text_goes_to_the_first_program_that_takes_it(tmp_path, desktop):
    for name, code in (("wl-copy", 1), ("xclip", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\n/bin/cat > {tmp_path}/{name}.got\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    assert await write_text("é\n") == "xclip"
    assert (tmp_path / "xclip.got").read_text() == "é\n"


def test_a_text_that_is_too_long_for_a_terminal_has_no_code():
    assert make_code("hi") == "\x1b]52;c;aGk=\a"
    assert make_code("x" * 60_000) == ""


CODES = [
    ("no code", ""),
    ("a\n\n```py\none\n```\n\n~~~\ntwo\n```\n~~~\n", "two\n```"),
    ("1. do\n\n   ```sh\n   ls\n     -l\n   ```\n", "ls\n  -l"),
    ("````md\n```\nin\n```\n````", "```\nin\n```"),
    ("```\nnot closed", "not closed"),
]


@pytest.mark.parametrize(("text", "code"), CODES)
def test_the_last_code_block_of_a_reply_is_found(text, code):
    assert find_last_code(text) == code
