"""Every block of code and every command that our pages show is read by what it is meant for, or named with a reason.

Sessions (`console`) of the guide run in test_guide.py, Python in test_sdk_page.py, `docs/contributing` in
test_contributing.py.
"""

import ast
import json
import re
import shlex
import subprocess
import tomllib
from argparse import _SubParsersAction
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest
import yaml
from tests.docs.followed_pages import read_changes
from tests.docs.guide_examples import PAGES as SESSIONS

from halocline.protocol.mcp_entries import is_server
from halocline.protocol.permission_rules import Source
from halocline.providers.scripted.script import load_script
from halocline.store.permissions.rules import read_file
from halocline.store.plugins.folder import PluginFile
from halocline.store.plugins.manifest import read_manifest
from halocline.store.settings.load import load_settings
from halocline.store.settings.settings import Settings
from halocline.store.themes import read_theme
from halocline.surfaces.cli.args.command_line import build_parser, parse_arguments
from halocline.surfaces.cli.command_table import COMMANDS
from halocline.surfaces.cli.live.own_keys import read_own_keys
from halocline.surfaces.cli.stream_input.lines import InputError, parse_line

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMED = tomllib.loads(Path(__file__).with_name("blocks.toml").read_text(encoding="utf-8"))["block"]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
MADE = ROOT / "docs" / "contributing"
OTHERS = {"cd", "export", "git", "harbor", "inspect", "kubectl", "pipx", "podman", "ray", "sbatch", "source", "uv"}
"""Programs of others in our commands."""
THEIRS = {"halo kanban", "halo update"}
"""Words that a page says are no commands of ours."""


def list_blocks(page: Path) -> Iterator[tuple[str, str]]:
    for _, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        yield language, dedent(text)


def is_named(page: Path, text: str) -> bool:
    found = [row for row in NAMED if (ROOT / row["page"]) == page and text.startswith(row["begins"])]
    return bool(found)


def split_commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in a line of shell; what is read or written is left out."""
    words, skips = list[str](), False
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for word in lexer:
        if set(word) <= set("|&;()<>"):
            skips = word in "<>"
            if words and not skips:
                yield words
                words = []
        elif not skips:
            words.append(word)
        else:
            skips = False
    if words:
        yield words


def check_shell(page: Path, text: str, folder: Path) -> None:
    subprocess.run(["bash", "-n"], input=text.encode(), check=True)
    if text.startswith("#!"):
        return
    verbs = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for program, *words in (command for line in text.splitlines() for command in split_commands(line)):
        match program:
            case "halo":
                parse_arguments(words)
            case "make":
                assert words[0] in verbs
            case _:
                assert program in OTHERS, f"{program}: see OTHERS"


def check_console(page: Path, text: str, folder: Path) -> None:
    assert page in SESSIONS, "Only pages of docs/guide run their sessions."


def check_toml(page: Path, text: str, folder: Path) -> None:
    title, file = text.partition("\n")[0], folder / "file.toml"
    file.write_text(text)
    if title == "# policy.toml":
        read_file(file, Source.USER)
    elif title == "# plugin.toml":
        assert read_manifest(
            {name: PluginFile(text.encode(), runs=False) for name in ("plugin.toml", "notes.py")}, "x"
        ).name
    elif title.startswith("# themes/"):
        assert read_theme(title[9:-5], text).name
    elif title == "# keys.toml":
        assert not read_own_keys(tomllib.loads(text)).problems
    elif title == "# script.toml":
        assert load_script(file).turns
    else:
        load_settings(file, {})


def check_json(page: Path, text: str, folder: Path) -> None:
    decoded = json.loads(text)
    for servers in (decoded.get("mcpServers", {}), decoded.get("agent_servers", {})):
        assert all(is_server(one) for one in servers.values())


def check_lines(page: Path, text: str, folder: Path) -> None:
    assert [line for line in text.splitlines() if isinstance(parse_line(line.encode(), "task"), InputError)] == []


def check_python(page: Path, text: str, folder: Path) -> None:
    compile(text, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def check_steps(page: Path, text: str, folder: Path) -> None:
    assert page.parent == MADE
    assert text in [dedent(block) for _, block, _ in read_changes(page)] or text.startswith("+++ ")


def check_front_matter(page: Path, text: str, folder: Path) -> None:
    _, head, body = text.split("---\n", 2)
    assert isinstance(yaml.safe_load(head), dict)
    assert body.strip()


def check_steps_of_a_workflow(page: Path, text: str, folder: Path) -> None:
    for step in yaml.safe_load(text):
        check_shell(page, step["run"], folder)


CHECKS: dict[str, Callable[[Path, str, Path], None]] = {
    "": lambda *_: None,
    "text": lambda *_: None,
    "bash": check_shell,
    "console": check_console,
    "diff": check_steps,
    "json": check_json,
    "jsonl": check_lines,
    "markdown": check_front_matter,
    "python": check_python,
    "sh": check_shell,
    "toml": check_toml,
    "yaml": check_steps_of_a_workflow,
}
"""By language. What has none is a drawing or a part of a screen."""


@pytest.mark.process
@EACH
def test_every_block_can_be_read_by_what_it_is_for(page: Path, tmp_path: Path) -> None:
    for language, text in list_blocks(page):
        if not is_named(page, text):
            assert language in CHECKS, f"Check {language} in CHECKS, or name the block in blocks.toml."
            CHECKS[language](page, text, tmp_path)


def test_every_block_that_is_named_is_in_its_page_and_says_why() -> None:
    texts = {row["page"]: [text for _, text in list_blocks(ROOT / row["page"])] for row in NAMED}
    gone = [row for row in NAMED if not any(text.startswith(row["begins"]) for text in texts[row["page"]])]
    assert gone == []
    assert all(row["begins"] and row["reason"] for row in NAMED)


def list_unknown(command: str) -> list[str]:
    """Return the words of a command that `halo` does not have."""
    first, *words = command.split()
    parser, known = build_parser(first if first in COMMANDS else ""), set[str]()
    unknown = [] if first in COMMANDS or not re.fullmatch(r"[a-z][a-z-]*", first) or "…" in command else [first]
    for word in [first, *words]:
        options = {name for action in parser._actions for name in action.option_strings}
        known |= options
        below = {
            name: sub
            for one in parser._actions
            if isinstance(one, _SubParsersAction)
            for name, sub in one.choices.items()
        }
        parser = below.get(word, parser)
        if word.startswith("--") and word.partition("=")[0].rstrip(",;.") not in known | {"--", "--help"}:
            unknown.append(word)
    return unknown


@EACH
def test_every_command_in_a_sentence_is_one_of_ours(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    commands = [found for found in re.findall(r"`halo ([^`]+)`", text) if f"halo {found}" not in THEIRS]
    assert {command: unknown for command in commands if (unknown := list_unknown(command))} == {}


@EACH
def test_every_setting_in_a_sentence_is_one_of_ours(page: Path) -> None:
    names = re.findall(r"\b[Ss]ettings? `([a-z_]+)", page.read_text(encoding="utf-8"))
    assert [name for name in names if name not in {one.name for one in msgspec.structs.fields(Settings)}] == []
