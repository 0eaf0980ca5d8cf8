"""Fills the tables of docs/guide/migrate: the words and settings of other programs, and what they are here.

`migration.toml` names their words, and the tables that `halo` itself goes by say what each is; so no page can say
anything else. A table stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from halocline.importers.program_settings import FOREIGN, Mapped
from halocline.protocol.config_locations import LOCATIONS
from halocline.runtime.prompts.slash_commands import ROWS
from halocline.surfaces.cli.args import foreign_words
from halocline.surfaces.cli.args.command_line import build_parser
from halocline.surfaces.cli.command_table import COMMANDS

FOLDER = Path(__file__).parent / "guide" / "migrate"
PROGRAMS = tomllib.loads(Path(__file__).with_name("migration.toml").read_text(encoding="utf-8"))
PAGES = {"cline": "cline.md", "claude": "claude-code.md", "codex": "codex.md", "aider": "aider.md"}
LOCATED = {"cline": "Cline", "claude": "Claude Code", "codex": "Codex", "aider": "aider"}
"""Programs as the locations of files name them."""
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SAME = "the same"

Rows = list[tuple[str, ...]]


def fill_page(program: str) -> str:
    """Return the page on a program with its tables as they are now."""
    text = (FOLDER / PAGES[program]).read_text(encoding="utf-8")
    return _TABLE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]](program)}\n{found[3]}", text)


def _list_words(kind: str, mark: str, derive: Callable[[str], str]) -> Callable[[str], str]:
    def make(program: str) -> str:
        given: Mapping[str, str] = PROGRAMS[program][kind]
        rows = [(f"`{mark}{word}`", text or derive(word)) for word, text in given.items()]
        return format_table(("theirs", "here"), rows)

    return make


def _derive_flag(flag: str) -> str:
    if hint := foreign_words.HINTS.get(flag):
        return hint
    match foreign_words.FLAGS.get(flag):
        case str() as ours:
            return f"the same word, as `{ours}`"
        case Mapping() as values:
            return "the same word: " + ", ".join(f"`{value}` is `{ours}`" for value, ours in values.items())
    if any(flag in action.option_strings for action in build_parser("")._actions):
        return SAME
    raise ValueError(f"Nothing says what {flag} is here.")


def _derive_command(name: str) -> str:
    if name in COMMANDS:
        return f"`halo {name}`"
    if ours := foreign_words.COMMANDS[name]:
        return ", or ".join(f"`{one}`" for one in ours.split(", or "))
    return "none"


def _derive_slash(name: str) -> str:
    if any(name in row.names for row in ROWS):
        return SAME
    raise ValueError(f"Nothing says what /{name} is here.")


def _list_settings(program: str) -> str:
    def shown(ours: Mapped | str) -> str:
        return f"`{ours.name}`" if isinstance(ours, Mapped) else ours

    rows: Rows = [(f"`{key}`", shown(ours)) for key, ours in FOREIGN[program].keys.items()]
    return format_table(("theirs", "here"), rows)


def _list_files(program: str) -> str:
    rows: Rows = [
        (f"`{row.shown}`", row.holds, "`halo import mcp`" if row.imported else "read in place")
        for row in LOCATIONS
        if row.program == LOCATED[program]
    ]
    return format_table(("file or folder", "holds", "use"), rows)


def _list_source(program: str) -> str:
    facts = PROGRAMS[program]
    return f"{facts['title']} {facts['version']}, by {facts['read']}.\n"


TABLES: Mapping[str, Callable[[str], str]] = {
    "flags": _list_words("flags", "", _derive_flag),
    "commands": _list_words("commands", "", _derive_command),
    "slash": _list_words("slash", "/", _derive_slash),
    "settings": _list_settings,
    "files": _list_files,
    "source": _list_source,
}


def format_table(head: tuple[str, ...], rows: Rows) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
