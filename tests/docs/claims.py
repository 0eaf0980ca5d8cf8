"""The claims of a page: its sentences, and the cells of its tables, each with the names of its row and column."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROWS = Path(__file__).with_name("claims.toml")
TABLES_ONLY = {"docs/guide/approvals.md": "approval mode", "docs/comparison.md": "you get", "README.md": "no table"}
"""Pages of which only some claims are held: a table, by its first cell, and numbered items (the promises)."""
OTHERS = ("Claude Code", "Codex", "Cline", "opencode")
"""Columns about other programs: each cell has its source, which no test of ours can hold."""
_END = re.compile(r"(?<=[.!?])[*)]*\s+(?=[A-Z`\"(*\[])")
_LABEL = re.compile(r"^\*\*[^*]{1,40}\.\*\*\s*")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_ITEM = re.compile(r"^[-*] |^\d+\. ")


def read_rows() -> dict[str, dict[str, Any]]:
    """Return what holds each claim, by page."""
    return tomllib.loads(ROWS.read_text(encoding="utf-8"))


def claims_of(page: str) -> list[str]:
    """Return the claims of a page in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [claim for block in _blocks(text) for claim in _claims_in(block, TABLES_ONLY.get(page, ""))]


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the paragraphs, list items and tables, without headings."""
    block: list[str] = []
    for line in (*text.splitlines(), ""):
        if not line.strip() or line.startswith("#") or _ITEM.match(line):
            if block:
                yield block
            block = []
        if line.strip() and not line.startswith("#"):
            block.append(line.strip())


def _claims_in(block: list[str], only: str) -> Iterator[str]:
    if block[0].startswith("|"):
        yield from _cells_in([_split_row(line) for line in block], only)
    elif only and re.match(r"\d+\. ", block[0]):
        yield " ".join(block)
    elif not only:
        text = _LABEL.sub("", _ITEM.sub("", " ".join(block))).replace("**", "")
        yield from (sentence for part in _END.split(text) if (sentence := part.strip()))


def _cells_in(table: list[list[str]], only: str) -> Iterator[str]:
    head, _, *rows = table
    if only and head[0] != only:
        return
    for row in rows:
        cells = zip(head[1:], row[1:], strict=True)
        yield from (
            f"{_without_links(row[0])} | {column}: {_without_links(cell)}"
            for column, cell in cells
            if column not in OTHERS
        )


def _without_links(cell: str) -> str:
    return _LINK.sub(r"\1", cell)


def list_sources(page: str) -> list[tuple[str, str, str]]:
    """Return the cells about other programs: row, column and text."""
    tables = [block for block in _blocks((ROOT / page).read_text(encoding="utf-8")) if block[0].startswith("|")]
    return [
        (row[0], column, cell)
        for head, _, *rows in ([_split_row(line) for line in table] for table in tables)
        for row in rows
        for column, cell in zip(head[1:], row[1:], strict=True)
        if column in OTHERS
    ]


def _split_row(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]


@cache
def list_tests(file: Path) -> frozenset[str]:
    """Return the names of the tests in a file, those of classes with their class."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.ClassDef(name=name, body=body):
                names |= {
                    f"{name}::{one.name}" for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                }
    return frozenset(name for name in names if name.rpartition("::")[2].startswith("test_"))
