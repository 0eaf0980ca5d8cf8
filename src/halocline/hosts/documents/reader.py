"""The program that reads one document from standard input: `python -m halocline.hosts.documents.reader KIND`.

It runs as a separate process because documents are untrusted. What must stay true: it limits its own memory and time
before it reads a byte, writes no more than `MOST_CHARACTERS`, and exits with a code for what went wrong.
"""

import json
import re
import resource
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

MEMORY = 1 << 30
SECONDS = 20
MOST_CHARACTERS = 4_000_000
MOST_UNPACKED = 300_000_000
MOST_ROWS = 50_000
MOST_OUTPUT = 20_000
"""Characters of the outputs of one notebook cell."""
LIBRARY_MISSING, BROKEN = 3, 4
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
Cell = dict[str, Any]


class Broken(Exception):
    """The document cannot be read; the text says why."""


def read_pdf(data: bytes) -> Iterator[str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        text = document[number].get_textpage().get_text_bounded().replace("\r\n", "\n").strip()
        yield f"[page {number + 1} of {len(document)}{'' if text else ': no text, perhaps a scanned image'}]"
        yield text


def read_docx(data: bytes) -> Iterator[str]:
    import docx as library

    _require_modest(data)
    yield from _docx_blocks(library.Document(BytesIO(data)))


def _docx_blocks(container: Any) -> Iterator[str]:
    """Paragraphs and tables in order; headings and lists as Markdown."""
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            yield from (" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in block.rows)
        elif block.text.strip():
            yield _heading_prefix(block.style.name if block.style is not None else "") + block.text


def _heading_prefix(style: str) -> str:
    if found := re.fullmatch(r"Heading (\d)", style):
        return "#" * int(found[1]) + " "
    return "# " if style == "Title" else "- " if style.startswith("List") else ""


def read_xlsx(data: bytes) -> Iterator[str]:
    import openpyxl

    _require_modest(data)
    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
    left = MOST_ROWS
    for sheet in book.worksheets:
        yield f"[sheet {sheet.title}{' (hidden)' if sheet.sheet_state != 'visible' else ''}]"
        for row in _sheet_rows(sheet):
            if not left:
                yield f"[the workbook has more than {MOST_ROWS:,} rows; the rest is omitted]"
                return
            left -= 1
            yield row


def _sheet_rows(sheet: Any) -> Iterator[str]:
    """The rows that are not empty, as `number: value, tab, value`."""
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = ["" if value is None else " ".join(str(value).split()) for value in values]
        if text := "\t".join(cells).rstrip("\t"):
            yield f"{number}: {text}"


def read_ipynb(data: bytes) -> Iterator[str]:
    try:
        book = json.loads(data)
        cells = book["cells"] if "cells" in book else [c for sheet in book["worksheets"] for c in sheet["cells"]]
        for number, cell in enumerate(cells, 1):
            yield f"[cell {number}: {cell['cell_type']}]"
            yield _join_lines(cell.get("source", cell.get("input", "")))
            yield from _cell_outputs(cell.get("outputs") or [])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Broken(f"it is not a notebook ({type(error).__name__}: {error})") from error


def _cell_outputs(outputs: list[Cell]) -> Iterator[str]:
    """The outputs of a cell as text; pictures are counted and named by type."""
    texts = [text for output in outputs if (text := _output_text(output))]
    if texts:
        text = "\n".join(texts)
        cut = f"\n[{len(text) - MOST_OUTPUT:,} more characters]" if len(text) > MOST_OUTPUT else ""
        yield f"[output]\n{text[:MOST_OUTPUT]}{cut}"
    kinds = [kind for output in outputs for kind in output.get("data") or {} if kind.startswith("image/")]
    if kinds:
        yield f"[{len(kinds)} picture{'s' * (len(kinds) > 1)}: {', '.join(sorted(set(kinds)))}]"


def _output_text(output: Cell) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _COLOURS.sub("", _join_lines(output.get("traceback") or output.get("evalue", ""), "\n")).strip()
    text = output.get("text") or (output.get("data") or {}).get("text/plain", "")
    return _COLOURS.sub("", _join_lines(text)).rstrip()


def _join_lines(lines: str | list[str], between: str = "") -> str:
    return lines if isinstance(lines, str) else between.join(lines)


def _require_modest(data: bytes) -> None:
    """Refuse an archive that would unpack to too much, before unpacking anything."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_UNPACKED:
        raise Broken(f"it would unpack to {size:,} bytes; the limit is {MOST_UNPACKED:,}")


def shrink_image(data: bytes, side: int, most: int) -> bytes:
    """Fit a picture into `side` pixels and `most` bytes: PNG if that fits, else JPEG."""
    from PIL import Image

    picture: Any = Image.open(BytesIO(data))
    while True:
        picture.thumbnail((side, side))
        for form, options in (("PNG", {"optimize": True}), ("JPEG", {"quality": 85})):
            out = BytesIO()
            shape = picture.convert("RGB") if form == "JPEG" else picture
            shape.save(out, form, **options)
            if out.tell() <= most:
                return out.getvalue()
        side = side * 3 // 4


def cut_lines(pieces: Iterable[str], most: int) -> Iterator[str]:
    """The pieces as lines, up to `most` characters."""
    for piece in pieces:
        most -= len(piece) + 1
        if most < 0:
            yield "[the document has more text; the rest is omitted]\n"
            return
        yield piece + "\n"


READERS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "xlsx": read_xlsx,
    "ipynb": read_ipynb,
}


def _limit_resources() -> None:
    # Some systems cannot set one of these limits; the parent's timeout remains.
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def main(arguments: list[str]) -> int:
    """Read, write, and return the exit code."""
    _limit_resources()
    kind, *numbers = arguments
    data = sys.stdin.buffer.read()
    try:
        if kind == "picture":
            sys.stdout.buffer.write(shrink_image(data, *map(int, numbers)))
        else:
            for line in cut_lines(READERS[kind](data), MOST_CHARACTERS):
                sys.stdout.buffer.write(line.encode("utf-8", "replace"))
    except ImportError as error:
        return _answer(LIBRARY_MISSING, error.name or "")
    except MemoryError:
        return _answer(BROKEN, "it needs too much memory")
    except Exception as error:
        # The libraries raise any kind of error; this process isolates them.
        return _answer(BROKEN, str(error) or type(error).__name__)
    return 0


def _answer(code: int, text: str) -> int:
    sys.stderr.write(" ".join(text.split())[:300])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
