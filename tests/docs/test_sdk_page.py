"""The programs of the page on Python, run in order as in a notebook, with a scripted model."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shutil
from types import FunctionType

import pytest
from tests.docs.guide_examples import BLOCK, GUIDE, PROJECT

from halocline.testing import fixtures

halocline_home, halocline_workspace = fixtures.halocline_home, fixtures.halocline_workspace

PAGE = (GUIDE / "sdk.md").read_text(encoding="utf-8")
LONGEST = 20
"""Lines of the first program, without empty ones."""
NOTES = '[[turn.call]]\ntool = "write_to_file"\narguments = { path = "notes.md", content = "x" }\n'
BLOCKS = {
    "asyncio.run(main())": (
        (
            '[[turn]]\n[[turn.call]]\ntool = "weather"\narguments = { city = "Rome" }\n'
            '[[turn.call]]\ntool = "write_to_file"\narguments = { path = "weather.md", content = "Rome" }\n'
            '[[turn]]\nexpect = "17.0"\ntext = \'{"city": "Rome", "degrees": 17.0}\'\n'
        ),
        "Rome 17.0 ['weather.md']",
    ),
    "max_steps=20": ('[[turn]]\ntext = "It has a mean."\n', "It has a mean. end_turn 0.0"),
    "run_all(jobs": ('[[turn]]\ntext = "Explained."\n', "Explained.\nExplained."),
    "task.stream(": (f'[[turn]]\ntext = "I write it. "\n{NOTES}[[turn]]\ntext = "Done."\n', "['notes.md']"),
    "task.interrupt()": ('[[turn]]\ntext = "Stopped."\n[[turn]]\ntext = "Stopped."\n', "Stopped."),
    "def stamp": (
        (
            '[[turn]]\n[[turn.call]]\ntool = "stamp"\narguments = { path = "notes.txt" }\n'
            '[[turn]]\nexpect = "stamped"\ntext = "It is stamped."\n'
        ),
        "It is stamped.",
    ),
    "no_pushes": (
        (
            '[[turn]]\n[[turn.call]]\ntool = "execute_command"\narguments = { command = "git push" }\n'
            '[[turn]]\nexpect = "I push myself."\ntext = "I left it."\n'
        ),
        "I left it.",
    ),
    "halocline.testing": ("", ""),
}
"""Each block by a part of it: the script of its model, and what it prints."""


def list_programs() -> list[str]:
    return [text for language, text in BLOCK.findall(PAGE) if language == "python"]


async def run_block(text: str, names: dict[str, object]) -> None:
    code = compile(text, "sdk.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = FunctionType(code, names)()
    if inspect.isawaitable(done):
        await done


def run_program(text: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if "asyncio.run(" in text:
            exec(compile(text, "sdk.md", "exec"), names)
        else:
            asyncio.run(run_block(text, names))
    return printed.getvalue().strip()


@pytest.mark.slow
def test_each_program_of_the_page_prints_what_it_should(halocline_workspace, halocline_home, monkeypatch):
    workspace = halocline_workspace
    shutil.copytree(PROJECT, workspace, dirs_exist_ok=True)
    for name in ("one", "two"):
        (workspace / name).mkdir()
    (workspace / "notes.txt").write_text("first\n")
    monkeypatch.chdir(workspace)
    halocline_home.mkdir()
    names: dict[str, object] = {"__name__": "__main__"}
    for text, (part, (script, expected)) in zip(list_programs(), BLOCKS.items(), strict=True):
        assert part in text
        (halocline_home / "script.toml").write_text(script or '[[turn]]\ntext = "x"\n')
        (halocline_home / "settings.toml").write_text(
            f'model = "scripted/{halocline_home}/script.toml"\nsandbox = "off"\n[language_servers]\nenabled = false\n'
        )
        assert expected in run_program(text, names), text
    assert (workspace / "notes.txt").read_text() == "first\nchecked\n"
    assert not (workspace / "notes.md").exists()


def test_the_first_program_is_short_and_shows_a_tool_a_decision_and_a_typed_result():
    first = [line for line in list_programs()[0].splitlines() if line.strip()]
    assert len(first) <= LONGEST
    assert all(part in list_programs()[0] for part in ("@halocline.tool", "on_approval=", "result="))


def test_the_page_names_every_option_of_the_table_of_results():
    import halocline

    rows = re.findall(r"^\| (`.+?`) \| ", PAGE, re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    kit = {*dir(fixtures), *halocline.testing._MODULES}
    known = kit | {*dir(halocline.Task), *inspect.signature(halocline.Result).parameters, *dir(halocline.Result)}
    assert named - known == set()
