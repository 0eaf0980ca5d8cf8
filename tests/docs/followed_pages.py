"""Does what a page of `docs/contributing` says, in a copy of the package.

A `python` block is a new file: the first path in its step. A `diff` block changes that file, or those it names after
`+++`: lines after a blank stand there already, exactly once, in this order; those after `+` are added, those after `-`
are removed.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
COPIED = (
    *("src/halocline", "docs/reference", "docs/guide/migrate", "docs/migration.toml"),
    *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.py")),
)
_STEP = re.compile(r"^\d+\. ", re.MULTILINE)
_BLOCK = re.compile(r"^ *```(python|diff)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"`((?:src|tests)/[\w./-]+\.(?:py|json))`")


def read_changes(page: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield the files that a page writes or changes: path, text of the block, and True if it is a change."""
    for step in _STEP.split(page.read_text(encoding="utf-8"))[1:]:
        for kind, text in _BLOCK.findall(step):
            block = dedent(text)
            if kind == "diff" and block.startswith("+++ "):
                parts = re.split(r"^\+\+\+ (.+)\n", block, flags=re.MULTILINE)
                yield from ((path, part, True) for path, part in zip(parts[1::2], parts[2::2], strict=True))
            else:
                yield _PATH.findall(step)[0], block, kind == "diff"


def follow_page(page: Path, root: Path) -> dict[str, str]:
    """Copy the package into a folder and do there what the page says; returns the variables of programs that run it."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, root / name)
    for path, block, is_change in read_changes(page):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() and is_change:
            shutil.copy2(ROOT / path, file)
        file.write_text(change_text(file.read_text(encoding="utf-8"), block) if is_change else block, encoding="utf-8")
    env = {"PYTHONPATH": f"{root / 'src'}:{root}"}
    subprocess.run([sys.executable, "-m", "docs.generate"], cwd=root, env=env, check=True)
    return env


def change_text(text: str, block: str) -> str:
    """Apply the lines of a diff that names no places. Raises AssertionError if a line is not there exactly once."""
    lines, marked = text.splitlines(), [(line[:1], line[1:]) for line in block.splitlines()]

    def find(line: str, after: int) -> int:
        found = [number for number, known in enumerate(lines) if known == line and number > after]
        assert len(found) == 1, f"This does not stand there once: {line}"
        return found[0]

    at = find(next(line for mark, line in marked if mark != "+"), -1) - 1
    for mark, line in marked:
        if mark == "+":
            lines.insert(at := at + 1, line)
            continue
        at = find(line, at)
        if mark == "-":
            del lines[at]
            at -= 1
    return "\n".join(lines) + "\n"
