import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import docx
import openpyxl
import pypdfium2
import pytest
from PIL import Image

from halocline.hosts.documents.documents import ChildDocuments
from halocline.ports.documents import DocumentKind
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Image as Picture

pytestmark = pytest.mark.process

PDF = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R
/Resources<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> >> >> >> endobj
4 0 obj <</Length 44>> stream
BT /F 12 Tf 20 100 Td (Salt and water) Tj ET
endstream endobj
trailer <</Root 1 0 R>>
"""


def word(path: Path) -> None:
    document = docx.Document()
    document.add_heading("Depths", 1)
    document.add_paragraph("Between layers.")
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "salt", "35"
    document.add_paragraph("After the table.", style="List Bullet")
    document.save(path)


def excel(path: Path, rows: int = 2) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Salinity")
    for row in range(1, rows + 1):
        sheet.append(["depth", row, None])
    hidden = book.create_sheet("Notes")
    hidden.sheet_state = "hidden"
    hidden.append(["secret"])
    book.save(path)


def notebook(path: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}}
    error = {"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m", "line 2"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "1+1", "outputs": [{"output_type": "stream", "text": ["2\n"]}, image, error]},
    ]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))


async def test_a_word_document_is_read_in_its_order(say, workspace: Path):
    word(workspace / "a.docx")
    text = await say("read_file", path="a.docx")
    assert text == (
        "1 | # Depths\n2 | Between layers.\n3 | salt | 35\n4 | - After the table.\n[4 lines of the text in a.docx]"
    )


async def test_the_sheets_of_a_workbook_are_read_with_the_numbers_of_their_rows(say, workspace: Path):
    excel(workspace / "a.xlsx")
    assert (await say("read_file", path="a.xlsx")).split("\n")[:-1] == [
        "1 | [sheet Salinity]",
        "2 | 1: depth\t1",
        "3 | 2: depth\t2",
        "4 | [sheet Notes (hidden)]",
        "5 | 1: secret",
    ]


async def test_a_pdf_is_read_page_by_page(say, workspace: Path):
    (workspace / "a.pdf").write_bytes(PDF)
    text = await say("read_file", path="a.pdf")
    assert text.startswith("1 | [page 1 of 1]\n2 | Salt and water\n")


async def test_a_pdf_without_text_says_so(say, workspace: Path):
    document = pypdfium2.PdfDocument.new()
    document.new_page(100, 100)
    document.save(workspace / "scan")
    assert "[page 1 of 1: no text, perhaps a scanned image]" in await say("read_file", path="scan")


async def test_a_notebook_shows_cells_and_text_outputs_and_names_pictures(say, workspace: Path):
    notebook(workspace / "a.ipynb")
    text = await say("read_file", path="a.ipynb")
    lines = [line.partition(" | ")[2] for line in text.split("\n")[:-1]]
    assert lines == [
        "[cell 1: markdown]",
        "# Title",
        "words",
        "[cell 2: code]",
        "1+1",
        "[output]",
        "2",
        "<Figure>",
        "ValueError",
        "line 2",
        "[1 picture: image/png]",
    ]


@pytest.mark.slow
async def test_a_huge_sheet_is_cut_and_can_be_read_on(say, workspace: Path):
    excel(workspace / "a.xlsx", 50_100)
    last = await say("read_file", path="a.xlsx", start_line=50_001)
    assert "[the workbook has more than 50,000 rows; the rest is omitted]" in last
    assert "read on with start_line=1001" in await say("read_file", path="a.xlsx")


@pytest.mark.slow
async def test_a_document_that_unpacks_to_very_much_is_refused_before_it_is_unpacked(call, workspace: Path):
    with zipfile.ZipFile(workspace / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(310_000_000))
    with pytest.raises(ToolFailure, match="would unpack to 310,000,000 bytes"):
        await call("read_file", path="bomb.docx")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", b"PK\x03\x04 broken"),
        ("a.xlsx", b"PK"),
        ("a.pdf", b"%PDF-1.7 no more"),
        ("a.ipynb", b"[1, 2]"),
        ("b.ipynb", b'{"cells": [{}]}'),
    ],
)
async def test_a_broken_document_is_told_in_a_sentence(call, workspace: Path, name: str, data: bytes):
    (workspace / name).write_bytes(data)
    with pytest.raises(ToolFailure, match=rf"{name} is a document .* It cannot be read: .*\."):
        await call("read_file", path=name)


async def test_reading_is_stopped_when_it_takes_too_long():
    with pytest.raises(ToolFailure, match=r"longer than 0\.001 s and was stopped"):
        await ChildDocuments(time_limit=0.001).text(DocumentKind.NOTEBOOK, b"{}")


def test_a_missing_library_is_told_by_its_exit_code():
    blocker = "import sys; sys.modules['docx'] = None; from halocline.hosts.documents.reader import main; "
    command = [sys.executable, "-c", blocker + "sys.exit(main(['docx']))"]
    ran = subprocess.run(command, input=b"PK", capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (3, b"docx")


def png(side: int, noise: bool = False) -> bytes:
    out = io.BytesIO()
    made = Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)) if noise else Image.new("1", (side, 10))
    made.save(out, "PNG")
    return out.getvalue()


async def test_a_picture_is_shown_as_a_picture(call, context, workspace: Path):
    (workspace / "a.png").write_bytes(png(40))
    said, picture = (await call("read_file", path="a.png")).content
    assert "image/png, 40×10 pixels" in said.text
    assert isinstance(picture, Picture)
    assert context.host.blobs.get(picture.blob) == (workspace / "a.png").read_bytes()


@pytest.mark.parametrize("data", [png(9_000), png(1_200, noise=True)], ids=["long", "heavy"])
async def test_a_picture_that_is_too_large_is_made_smaller(call, context, workspace: Path, data: bytes):
    (workspace / "a.png").write_bytes(data)
    said, picture = (await call("read_file", path="a.png")).content
    assert "scaled down to at most 1568 pixels" in said.text
    with Image.open(io.BytesIO(context.host.blobs.get(picture.blob))) as made:
        assert max(made.size) <= 1_568


async def test_a_broken_picture_that_is_too_large_is_told(call, workspace: Path):
    (workspace / "a.jpg").write_bytes(b"\xff\xd8\xff\0" + bytes(4_000_000))
    with pytest.raises(ToolFailure, match=r"too large to show in full size\. It cannot be read"):
        await call("read_file", path="a.jpg")
