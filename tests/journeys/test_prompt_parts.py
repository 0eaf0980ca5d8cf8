"""Every part of a request that a person put there is on the screen, in the rows that all surfaces share."""

import struct
import zlib

from acp import schema
from rich.console import Console

from halocline.hosts.documents.documents import ChildDocuments
from halocline.protocol.messages import Image, Note, Text, UserMessage
from halocline.protocol.state.reducer import fold_events
from halocline.providers.scripted.model import Turn
from halocline.runtime.prompts.attachments import attach_file, attach_image
from halocline.runtime.prompts.code_actions import make_code_action
from halocline.store.blobs import DiskBlobs
from halocline.surfaces.acp.prompts import read_prompt
from halocline.surfaces.cli.session.prompt_source import prompt_text
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.kinds import NoticeRow, PromptRow
from halocline.surfaces.terminal.composing.pasting import Chips
from halocline.surfaces.terminal.drawing.cards import prompt_card
from halocline.surfaces.terminal.drawing.theme import THEME

OURS = {"environment", "rules", "instructions", "memory", "todos", "mode", "diagnostics"}
"""Sources of notes that Halocline adds by itself."""


def picture():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0\0\0\0")) + chunk(b"IEND", b"")


async def given(journey):
    """Parts as each surface makes them: name of the kind, what is typed, what comes with it, and what names that."""
    blobs, documents = DiskBlobs(journey.home.blobs), ChildDocuments()
    shot = await attach_image("shot.png", picture(), documents, blobs)
    chips = Chips()
    pasted = chips.chip("a line\n" * 50)
    embedded = schema.EmbeddedResourceContentBlock(
        type="resource", resource=schema.TextResourceContents(uri=f"file://{journey.workspace}/c.py", text="c = 1\n")
    )
    linked = await read_prompt([embedded], journey.workspace, None)
    action = make_code_action("fix", "d.py", 1, 2, "d = 1\ne = 2\n", ["d is unused"])
    return {
        "file": ("Look", await attach_file("app.py", b"print(1)\n", documents, blobs), "app.py: a file of 9 bytes"),
        "file alone": ("", await attach_file("b.csv", b"1,2\n", documents, blobs), "b.csv: a file of 4 bytes"),
        "picture": ("Look", shot, "shot.png"),
        "picture without a caption": ("Look", shot[1:], "[image]"),
        "pasted text": (f"Read {pasted}", chips.parts(pasted), pasted),
        "piped text": (*prompt_text(["Sum up"], needed=False, piped="1\n2\n3"), "piped in: 3 lines"),
        "file of an editor": (linked[0].text, linked[1:], "c.py"),
        "code action": (action[0].text, action[1:], "d.py:1-2"),
        "problems": (action[0].text, action[1:], "Problems reported for this code"),
        "mention": ("See @notes.txt", (), "notes.txt"),
    }


async def test_every_part_of_a_request_that_a_person_put_there_is_in_the_rows(journey):
    journey.write("notes.txt", "some notes\n")
    hidden, sources = [], set()
    for kind, (typed, parts, name) in (await given(journey)).items():
        long = f"{typed}\n" + "and so on\n" * 60 if typed else ""
        await journey.run(Turn(text="Well."), prompt=long, along=parts)
        read = [one for one in fold_events(journey.logged).messages if isinstance(one, UserMessage)]
        content = [part for message in read for part in message.content]
        rows = rows_of(journey.logged)
        prompt = next(row for row in rows if isinstance(row, PromptRow))
        notices = [row.text for row in rows if isinstance(row, NoticeRow)]
        if not any(name in text for text in (prompt.text, *notices)):
            hidden.append(kind)
        if not any(name in text for text in (drawn(prompt), *notices)):
            hidden.append(f"{kind}, in a terminal")
        sources |= {part.source for part in content if isinstance(part, Note)} - OURS
        assert set(parts) <= set(content)
        assert {type(part) for part in content} <= {Text, Note, Image}
    assert hidden == []
    assert sources == {"pasted", "piped", "picture", "code", "problems", "file"}


def drawn(prompt):
    console = Console(width=100, force_terminal=False, theme=THEME)
    with console.capture() as capture:
        console.print(prompt_card(prompt))
    return capture.get()
