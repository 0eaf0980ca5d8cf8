"""The JavaScript of the page and of the extension for VS Code, read once for all tests of its shape."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tests.architecture.sources import ROOT, SOURCE

PAGE = SOURCE / "surfaces" / "web" / "static" / "js"
EXTENSION = ROOT / "editors" / "vscode"
_PARAMETERS = r"\([^()]*(?:\([^()]*\)[^()]*)*\)"
_FUNCTION = re.compile(rf"\bfunction\*? +(\w+)\(|\b(?:const|let) (\w+) = (?:async )?(?:{_PARAMETERS}|\w+) =>")


@cache
def read_modules() -> dict[PurePosixPath, str]:
    """The page's modules by their paths below `static/js`."""
    return {PurePosixPath(path.relative_to(PAGE).as_posix()): path.read_text("utf-8") for path in PAGE.rglob("*.js")}


def list_scripts() -> list[Path]:
    """The files of the page and of the extension."""
    return [*PAGE.rglob("*.js"), EXTENSION / "extension.js", *(EXTENSION / "src").rglob("*.js")]


def list_functions() -> Iterator[str]:
    """The names of all functions and components, those within others too."""
    for path in list_scripts():
        yield from (declared or assigned for declared, assigned in _FUNCTION.findall(path.read_text("utf-8")))


def is_component(name: str) -> bool:
    """Components begin with a capital letter, as functions never do."""
    return name[:1].isupper()
