"""What each surface shows of each grade of an approval, and what Enter does there; that of the page: its own tests."""

import time
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin as begin_session, choose, connect, flags, prompt
from tests.surfaces.cli.halo_process import Halo, shell
from tests.surfaces.cli.live.conftest import Open, open_terminal
from tests.surfaces.graded_calls import COMMANDS, NAMED, WORDS, fill_folder

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Grant, ToolKind
from halocline.protocol.permission_rules import Grade
from halocline.providers.scripted.script import Call, Turn
from halocline.surfaces.acp.permissions import list_options
from halocline.surfaces.cli.mcp.serve_forms import form_of
from halocline.surfaces.cli.plain.line_menu import CHOICE
from halocline.surfaces.figures import GRADES

__all__ = ["open_terminal"]

EACH_GRADE = pytest.mark.parametrize("grade", Grade)
DONE = {"text": "Done it."}
SEEN = 1.5
"""Seconds in which a key that decides has decided."""


def is_decided(halo: Halo) -> bool:
    return any(isinstance(event, ev.ApprovalResolved) for event in halo.log())


def asked(grade: Grade) -> ev.ApprovalRequested:
    grant = Grant(ToolKind.EXECUTE, "cat .env")
    return ev.ApprovalRequested(
        "r1", "c1", "execute_command", "cat .env", ToolKind.EXECUTE, "why", tuple(Choice), grant=grant, grade=grade
    )


def test_each_grade_but_the_ordinary_one_has_words():
    assert {grade: GRADES.get(grade, ("", ""))[0] for grade in Grade} == WORDS
    assert [grade for grade in Grade if grade.is_grave] == [Grade.SECRET, Grade.FINAL]


@pytest.mark.slow
@pytest.mark.process
@EACH_GRADE
def test_the_card_of_a_terminal_begins_with_its_grade_and_enter_does_nothing_where_it_is_grave(
    halo: Halo, open_terminal: Open, grade: Grade
):
    fill_folder(halo.folder)
    model = halo.script({"call": [shell(COMMANDS[grade])]}, DONE)
    terminal = open_terminal(100, 30).starts("-m", model).says("go").sees("reject and stop", NAMED[grade])
    words = WORDS[grade]
    first = terminal.screen.split("❯ go")[1].strip().splitlines()[0]
    assert first.startswith(f"→ {words}: " if words else "$ touch")
    assert ("❯ y" in terminal.screen) is not grade.is_grave
    assert (terminal.screen.index("n   reject") < terminal.screen.index("y   allow once")) is grade.is_grave
    terminal.decides("Enter")
    if grade.is_grave:
        time.sleep(SEEN)
        assert not is_decided(halo)
        terminal.decides("y")
    terminal.sees("Done it.")
    assert (halo.folder / "made").exists()


@pytest.mark.slow
@pytest.mark.process
def test_arrows_and_enter_approve_what_is_grave_once_they_moved_there(halo: Halo, open_terminal: Open):
    fill_folder(halo.folder)
    model = halo.script({"call": [shell(COMMANDS[Grade.SECRET])]}, DONE)
    terminal = open_terminal(100, 30).starts("-m", model).says("go").sees("reject and stop")
    terminal.decides("Down").sees("❯ n").decides("Down").sees("❯ y").decides("Enter").sees("Done it.")
    assert (halo.folder / "made").exists()


@pytest.mark.slow
@pytest.mark.process
@EACH_GRADE
def test_plain_lines_say_the_grade_and_enter_does_nothing_where_it_is_grave(halo: Halo, grade: Grade):
    fill_folder(halo.folder)
    terminal = halo.terminal("-m", halo.script({"call": [shell(COMMANDS[grade])]}, DONE), "go", columns=120)
    terminal.expect_exact(f"{WORDS[grade]}: " if WORDS[grade] else "creates or touches")
    terminal.expect_exact("reject and stop")
    terminal.expect_exact(f"{CHOICE} (Enter does nothing)" if grade.is_grave else f"{CHOICE} (Enter: y)")
    terminal.send("\r")
    if grade.is_grave:
        time.sleep(SEEN)
        assert not is_decided(halo)
        terminal.send("y\r")
    terminal.expect_exact("Done it.")
    assert (halo.folder / "made").exists()
    terminal.close(force=True)


@pytest.mark.process
@EACH_GRADE
async def test_an_editor_is_told_the_grade_and_gets_the_option_to_reject_first_where_it_is_grave(
    tmp_path: Path, grade: Grade
):
    folder = tmp_path / "project"
    folder.mkdir()
    fill_folder(folder)
    editor = Editor(choose("reject_once"))
    command = Call("execute_command", {"command": COMMANDS[grade]})
    async with (
        ModelServer([Turn(calls=(command,)), Turn(text="Done.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin_session(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
    ((call, options),) = editor.asked
    words = WORDS[grade]
    assert call.title == (f"{words}: {COMMANDS[grade]}" if grade.is_grave else COMMANDS[grade])
    first = call.content[0].content.text
    assert first.startswith(f"{words}: ") and NAMED[grade] in first if words else COMMANDS[grade] in first
    assert (options[0].kind == "reject_once") is grade.is_grave


@EACH_GRADE
def test_every_option_of_an_editor_is_there_in_each_grade(grade: Grade):
    kinds = [option.kind for option in list_options(asked(grade))]
    assert sorted({*kinds}) == ["allow_always", "allow_once", "reject_always", "reject_once"]
    assert kinds.index("allow_once") > kinds.index("reject_once") or not grade.is_grave


@EACH_GRADE
def test_a_form_of_an_mcp_client_says_the_grade_and_offers_no_first_where_it_is_grave(grade: Grade):
    form = form_of(asked(grade))
    first, *_ = [one["title"] for one in form.requested_schema["properties"]["decision"]["oneOf"]]
    assert f"({WORDS[grade]}: why)" in form.message if WORDS[grade] else "(why)" in form.message
    assert first == ("No" if grade.is_grave else "Yes, once")
