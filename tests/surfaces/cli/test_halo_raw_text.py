"""Whatever prints the text of a model, a tool or a file on a terminal shows what that terminal would obey."""

import json
import re

import pexpect
import pytest
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import Halo, call, shell

from halocline.surfaces.sanitize import reveal

pytestmark = [pytest.mark.process, pytest.mark.slow]

SEQUENCES = (
    *("\x9b2J", "\x9d52;c;ZXZpbA==\x9c", "\u202e", "\u2066", "\u200b", "\x7f", "\x08", "\x1bc", "\x1b[2J", "\x1b[8m"),
    *("\x1b]52;c;ZXZpbA==\x07", "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b]0;title\x07", "\x1b]2;title\x1b\\", "\x1b]9;a\x07"),
    *(
        "\x1b]8;;https://evil.example\x1b\\",
        "\x1b[1;1H",
        "\x1b[?1049h",
        "\x1b[201~",
        "\x1bP$q\x1b\\",
        "\x1b_Gi=1\x1b\\",
    ),
)
"""What copies, renames, clears, hides, moves, ends a paste or turns text around."""
NEEDLES = tuple(f"{sequence}end{number:02}" for number, sequence in enumerate(SEQUENCES))
EVIL = " ".join(NEEDLES)
WORKS = (
    {"call": [shell(f"printf %s {EVIL!r}")]},
    {"call": [call("update_todos", todos=[{"text": EVIL, "status": "pending"}])]},
    {"call": [call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content=EVIL + "\n")]},
    {"text": EVIL},
)
RUN = ("run", "-y", "-m", "@MODEL@", EVIL)
PLACES = {
    "the answer": ("run", "-p", *RUN[1:]),
    "the answer as text": ("run", "-p", "--output-format", "text", *RUN[1:]),
    "one result": ("run", "--output-format", "json", *RUN[1:]),
    "events": ("run", "--output-format", "stream-json", *RUN[1:]),
    "events and pieces": ("run", "--output-format", "stream-json", "--include-partial-messages", *RUN[1:]),
    "an error": ("run", "-p", "-m", f"{EVIL}/x", "hi"),
    "an error as JSON": ("run", "--output-format", "json", "-m", f"{EVIL}/x", "hi"),
    "tasks": ("tasks", "list"),
    "tasks as JSON": ("tasks", "list", "--json"),
    "tasks that are found": ("tasks", "list", "--search", "end00"),
    "a task": ("tasks", "show", "@TASK@"),
    "points of a task": ("tasks", "show", "@TASK@", "--points"),
    "a tag": ("tasks", "tag", "@TASK@", EVIL),
    "a name": ("tasks", "rename", "@TASK@", EVIL),
    "an export": ("export", "@TASK@"),
    "an export as JSON": ("export", "@TASK@", "--format", "jsonl"),
    "the system prompt": ("context", "@TASK@", "--prompt"),
    "the system prompt as JSON": ("context", "@TASK@", "--prompt", "--json"),
    "a list": ("todos", "@TASK@"),
    "checkpoints": ("checkpoints", "list"),
    "a diff": ("checkpoints", "diff", "@TASK@/1"),
    "a diff as JSON": ("checkpoints", "diff", "@TASK@/1", "--json"),
    "an explanation": ("policy", "explain", f"echo {EVIL!r}"),
    "an explanation as JSON": ("policy", "explain", "--json", f"echo {EVIL!r}"),
    "servers": ("mcp", "list"),
    "servers as JSON": ("mcp", "list", "--json"),
    "a setting": ("config", "get", "append_system_prompt"),
    "settings": ("config", "list"),
    "settings as JSON": ("config", "list", "--json"),
}


def shown(halo: Halo, *words: str) -> str:
    """All that a terminal gets, which is too wide to break a line."""
    terminal = HaloTerminal(words, env=halo.env, cwd=halo.folder, size=(30, 9_000))
    terminal.expect(pexpect.EOF)
    return terminal.before


def fill(word: str, known: dict[str, str]) -> str:
    return re.sub("@[A-Z]+@", lambda found: known[found[0]], word)


async def prepare(halo: Halo) -> dict[str, str]:
    model = halo.script(*WORKS)
    (halo.folder / "AGENTS.md").write_text(EVIL)
    (halo.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"s": {"command": EVIL}}}))
    (halo.folder / "a.txt").write_text("old\n")
    assert (await halo.run("-p", "-y", "-m", model, EVIL)).code == 0
    quoted = json.dumps(EVIL).replace("\x7f", "\\u007f")
    (halo.home / "settings.toml").write_text(f"append_system_prompt = {quoted}\n")
    return {"@TASK@": halo.tasks[0], "@MODEL@": model}


async def test_a_terminal_is_shown_what_it_would_obey_wherever_text_of_others_is_printed(halo: Halo) -> None:
    known = await prepare(halo)
    out = {place: shown(halo, *(fill(word, known) for word in words)) for place, words in PLACES.items()}
    obeyed = {place: [each for each in NEEDLES if each in text] for place, text in out.items()}
    assert {place: found for place, found in obeyed.items() if found} == {}
    assert [place for place, text in out.items() if "end00" not in text] == []


async def test_a_page_of_html_is_not_poured_over_a_terminal(halo: Halo) -> None:
    known = await prepare(halo)
    told = shown(halo, "export", known["@TASK@"], "-f", "html")
    assert "<style>" not in told
    assert f"-o {known['@TASK@']}.html" in told


async def test_a_pipe_gets_the_text_as_it_is(halo: Halo) -> None:
    known = await prepare(halo)
    done = await halo.run("-p", "-y", "-m", known["@MODEL@"], "hi")
    assert done.out == EVIL + "\n" != reveal(EVIL) + "\n"
    assert EVIL in (await halo.run("export", known["@TASK@"])).out
