"""Halocline's own modules, parsed once for all tests of the architecture that a process runs."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "halocline"
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if "demo_project" not in path.parts]


@cache
def parse_modules() -> dict[str, ast.Module]:
    """The tree of each module by its path below the package; not made at import, where collecting would pay for it."""
    return {name_module(path): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def name_module(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()
