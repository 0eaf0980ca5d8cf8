"""Errors tell a person at the page what to do in the page: no command, no flag, where the page has its own place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.tables import for_each

import halocline
from halocline.client.models import ModelConnection
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import CONTINUE
from halocline.protocol.state.state import CARRY_ON
from halocline.surfaces.rows.kinds import ErrorRow, NoticeRow
from halocline.surfaces.web import wire
from halocline.surfaces.web.page_words import PLACES, tell_answer, tell_page, tell_row

ROOT = Path(halocline.__file__).parent
ELSEWHERE = {
    "surfaces",
    "importers",
    "doctor",
    "testing",
    "first_frame.py",
    "batch",
    "schedules",
    "settings.py",
    "worker.py",
}
"""Places whose texts no page shows, or that are about flags; `halo doctor` and `halo web` have no place there."""
COMMAND = re.compile(rf"halo (?:-r|{'|'.join(PLACES)})\b")
FLAG = re.compile(r"(?<![\w-])--[a-z]|\(-m\)|\bwith -m\b")
OTHER_COMMANDS = re.compile(r"\bhalo (?:[a-z]+|--resume \S+ --add-dir)[^.;,:\n]*|systemctl --user")
"""What the page has no place for is told as the command that it is, with its flags."""
SENTENCE = re.compile(r"^[A-Z{].* ")


def texts() -> Iterator[str]:
    """All texts of ours that name a command or flag which the page has a place for."""
    for file in ROOT.rglob("*.py"):
        if ELSEWHERE & {*file.relative_to(ROOT).parts}:
            continue
        tree = ast.parse(file.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        inner = {id(one) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(one.value) if isinstance(one, ast.Constant) else "name" for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (docs | inner):
                text = node.value
            else:
                continue
            is_end = text.startswith(" ")  # of another text
            if (COMMAND.search(text) and not is_end) or (SENTENCE.search(text) and FLAG.search(text)):
                yield text


def test_no_error_that_a_page_shows_names_a_command_or_a_flag() -> None:
    found = [*texts()]
    assert len(found) > 40
    told = [(text, tell_page(text)) for text in found]
    assert [both for both in told if COMMAND.search(both[1]) or FLAG.search(OTHER_COMMANDS.sub("", both[1]))] == []


@for_each(
    "text, told",
    [
        ("Run: halo login openai", "See Models"),
        ("Run: export KEY=…, or store a key: halo login openai", "Run: export KEY=…, or store a key: see Models"),
        ("List the tasks: halo tasks list", "List the tasks: see History"),
        ("Test it: halo mcp test a.b/c", "Test it: see MCP servers"),
        (
            "Start the server, or choose another one with --base-url.",
            "Start the server, or choose another address under Models.",
        ),
        ("Check the model name (-m) and the base URL.", "Check the name of the model and the base URL."),
        ("See them with: halo tasks list", "See History"),
        ("List points: halo tasks show TASK --points", "List points: see History"),
        ("Read it: halo tasks show a. Resume it: halo -r a", "Read it: see History. Resume it: open it in History"),
        ("`halo checkpoints diff` shows what differs.", "Rewind shows what differs."),
        ("Run halo doctor --fix.", "Run halo doctor --fix."),
        ("The server halo is gone.", "The server halo is gone."),
        ("Raise it with --max-steps or the setting max_steps.", "Raise it with the setting max_steps."),
        ("Check the setting ca_file (--ca-file) or X.", "Check the setting ca_file or X."),
        ("Allow more time with --connect-timeout.", "Allow more time with the setting connect_timeout."),
        ("Check the proxy (--proxy, HTTPS_PROXY).", "Check the proxy (the setting proxy, HTTPS_PROXY)."),
        ("Open it there, or choose another model with -m.", "Open it there, or choose another model."),
    ],
)
def test_advice_reads_as_a_sentence_of_the_page(text: str, told: str) -> None:
    assert tell_page(text) == told


def test_requests_and_rows_are_told_in_these_words() -> None:
    refused = wire.Refused.of("1", UsageError("No.", "Remove it first: halo mcp remove a"))
    assert refused.hint == "Remove it first: see MCP servers"
    tried = tell_answer(ModelConnection("a/b", "b", failure="No.", hint="Name another model with -m."))
    assert tried.hint == "Name another model."
    notice = tell_row(NoticeRow("To go on, raise it with --max-steps or the setting max_steps."))
    assert notice == NoticeRow("To go on, raise it with the setting max_steps.")
    row = tell_row(ErrorRow("model", "No.", "Check the model name (-m) and the base URL."))
    assert row == ErrorRow("model", "No.", "Check the name of the model and the base URL.")


def test_a_task_is_continued_by_the_same_note_from_the_page_and_the_board() -> None:
    queue = (ROOT / "surfaces/web/static/js/state/queue.js").read_text()
    assert f"type: 'note', text: '{CARRY_ON}', source: '{CONTINUE}'" in queue
