"""Mentions, pictures and pasted texts at the terminal and in `halo run`."""

import re
import struct
import zlib

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open, open_terminal
from tests.surfaces.cli.live.tmux_terminal import READY, TmuxTerminal

from halocline.protocol import events as ev
from halocline.protocol.messages import Image, Note, Text, UserPart

__all__ = ["open_terminal"]

pytestmark = [pytest.mark.slow, pytest.mark.process]

HI = {"text": "Hello."}


def png(width: int = 2, height: int = 3) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (width + 1) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def prompt(halo: Halo) -> tuple[UserPart, ...]:
    """What the person sent, without the note on the environment."""
    (started,) = [event for event in halo.log() if isinstance(event, ev.TurnStarted)]
    return started.content[:-1]


def given(halo: Halo) -> list[Note]:
    resolved = [event for event in halo.log() if isinstance(event, ev.MentionsResolved)]
    return [part for event in resolved for part in event.content if isinstance(part, Note)]


@pytest.fixture
def clipboard(halo: Halo) -> Halo:
    """A desktop with a picture in its clipboard."""
    programs = halo.root / "programs"
    programs.mkdir()
    (programs / "picture").write_bytes(png())
    paste = programs / "wl-paste"
    paste.write_text(f"#!/bin/sh\nexec cat {programs}/picture\n")
    paste.chmod(0o755)
    halo.env |= {"WAYLAND_DISPLAY": "w", "PATH": f"{programs}:{halo.env['PATH']}"}
    return halo


def end(terminal: TmuxTerminal) -> None:
    """Wait for the reply, and quit."""
    terminal.sees("Hello.", READY).presses("C-d").sees("Resume this task")


def test_a_file_is_found_while_typing_and_given_along(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "src").mkdir()
    (halo.folder / "src" / "calculator.py").write_text("def add(): ...\n")
    terminal = open_terminal().starts("-m", halo.script({**HI, "expect": "def add"})).types("see @clc")
    terminal.sees("src/calculator.py").presses("Tab").sees("@src/calculator.py", "tokens").presses("Enter")
    end(terminal.sees("Included: src/calculator.py: 15 bytes"))
    assert prompt(halo) == (Text("see @src/calculator.py "),)


def test_enter_takes_a_choice_that_was_moved_to_and_sends_otherwise(halo: Halo, open_terminal: Open) -> None:
    for name in ("one.txt", "two.txt"):
        (halo.folder / name).write_text(f"{name}\n")
    terminal = open_terminal().starts("-m", halo.script(HI)).types("@txt").sees("two.txt")
    end(terminal.presses("Down", "Down", "Enter").sees("@two.txt", "tokens").presses("Enter"))
    assert prompt(halo) == (Text("@two.txt "),)


def test_a_long_pasted_text_is_a_chip_that_is_sent_whole_and_deleted_at_once(halo: Halo, open_terminal: Open) -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    terminal = open_terminal().starts("-m", halo.script({**HI, "expect": "line 19"}))
    terminal.types(pasted(text + "\nand one")).sees("[pasted 21 lines]").presses("BSpace").sees_no("[pasted 21 lines]")
    end(terminal.types(pasted(text)).sees("[pasted 20 lines]").says("why?"))
    assert prompt(halo) == (Text("[pasted 20 lines] why?"), Note(f"[pasted 20 lines]\n{text}", "pasted"))


def test_what_a_pasted_text_mentions_is_not_looked_up(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "a.py").write_text("x\n")
    terminal = open_terminal().starts("-m", halo.script(HI)).types(pasted("@a.py\n" * 20)).sees("[pasted")
    end(terminal.presses("Enter"))
    assert given(halo) == []


def test_a_dropped_file_is_mentioned(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "my notes.txt").write_text("the notes\n")
    terminal = open_terminal().starts("-m", halo.script({**HI, "expect": "the notes"}))
    end(terminal.types(pasted(f"'{halo.folder}/my notes.txt'")).sees('@"my notes.txt"').presses("Enter"))


def test_the_picture_in_the_clipboard_is_pasted(clipboard: Halo, open_terminal: Open) -> None:
    clipboard.home.mkdir()
    (clipboard.home / "settings.toml").write_text('image_models = ["scripted*"]\n')
    terminal = open_terminal().starts("-m", clipboard.script(HI)).types("see ").presses("C-v")
    end(terminal.sees("[picture 1]").presses("Enter"))
    words, label, image = prompt(clipboard)
    assert words == Text("see [picture 1] ")
    assert isinstance(label, Note)
    assert label.text.startswith("[picture 1: image/png, 2×3 pixels")
    assert isinstance(image, Image)


def test_a_model_that_sees_nothing_is_told_of_a_picture_and_so_is_the_person(
    clipboard: Halo, open_terminal: Open
) -> None:
    script = clipboard.script({**HI, "expect": "this model cannot view images"})
    terminal = open_terminal().starts("-m", script).presses("C-v").sees("This model does not accept images")
    end(terminal.sees("[picture 1]").presses("Enter"))


def test_without_a_desktop_the_person_is_told_what_else_can_be_done(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).types("x").presses("C-v")
    terminal.sees("without a desktop", "@path")


async def test_pictures_of_a_run_are_shown_to_the_model(halo: Halo) -> None:
    (halo.root / "shot.png").write_bytes(png())
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('image_models = ["scripted*"]\n')
    done = await halo.run("run", "-m", halo.script(HI), "--image", "../shot.png", "--image", "../shot.png", "see")
    assert (done.code, done.err) == (0, "")
    assert [type(part) for part in prompt(halo)] == [Text, Note, Image, Note, Image]
    assert "[shot.png: image/png, 2×3 pixels" in done.out


async def test_a_run_with_a_model_that_sees_nothing_says_so(halo: Halo) -> None:
    (halo.root / "shot.png").write_bytes(png())
    done = await halo.run("-p", "-m", halo.script(HI), "--image", "../shot.png", "see")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "This model does not accept images" in done.err


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("missing.png", None, "No such image: missing.png"),
        ("a.txt", b"words", "a.txt is not a supported image"),
        ("wide.png", png(7_501, 1), "wide.png is too large: 7,501×1 pixels; the limit is 7,500 per side"),
    ],
)
async def test_what_is_no_picture_or_too_large_begins_nothing(
    halo: Halo, name: str, data: bytes | None, told: str
) -> None:
    if data is not None:
        (halo.folder / name).write_bytes(data)
    done = await halo.run("run", "-m", halo.script(HI), "--image", name, "see")
    assert done.code == 2
    assert told in re.sub(r"\s+", " ", done.err)
    assert halo.tasks == []
