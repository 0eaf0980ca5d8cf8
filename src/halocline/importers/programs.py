"""Programs whose transcripts can be imported; each module is imported on demand."""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from halocline.context.other_tools import CLAUDE, CLINE, CODEX, Theirs
from halocline.importers.transcript import Program

IMPORTABLE_PROGRAMS = ("cline", "claude", "codex", "aider")
_MODULES = {"cline": "cline.tasks"}
THEIRS: Mapping[str, Mapping[str, Theirs]] = {"cline": CLINE, "claude": CLAUDE, "codex": CODEX}


def load_program(name: str) -> Program:
    """Import the module for one program."""
    return cast(Program, import_module(f"halocline.importers.{_MODULES.get(name, name)}"))
