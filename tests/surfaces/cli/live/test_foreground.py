"""Programs that get the terminal, terminals that know no codes, and keys whose bytes come apart."""

import io
import time

import pexpect
import pytest
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT, READY

from halocline.surfaces.terminal.application.foreground import find_terminal_command

HI = {"text": "Hello."}
ASKS = "!!read -p 'name? ' x; echo \"got $x\" > said; stty -a > modes"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("vim a.txt", "vim a.txt"),
        ("EDITOR=vi sudo -i", "EDITOR=vi sudo -i"),
        ("/usr/bin/ssh host", "/usr/bin/ssh host"),
        ("!read x", "read x"),
        ("read -p 'name? ' x", "read -p 'name? ' x"),
        ("git add -p", "git add -p"),
        ("python3", "python3"),
        ("python3 a.py", ""),
        ("psql shop", "psql shop"),
        ("psql shop -c 'select 1'", ""),
        ("mysql --execute='show tables'", ""),
        ("git add a.py", ""),
        ("ssh host", "ssh host"),
        ("ssh -p 22 -vi key me@host", "ssh -p 22 -vi key me@host"),
        ("ssh host uptime", ""),
        ("ssh -vp 22 -i key -oBatchMode=yes host 'df -h'", ""),
        ("ssh -t host htop", "ssh -t host htop"),
        ("ssh -tt -p 22 host sudo -i", "ssh -tt -p 22 host sudo -i"),
        ("!git commit", "git commit"),
        ("git log", ""),
        ("ls vim", ""),
        ("echo 'open", ""),
    ],
)
def test_the_programs_that_want_a_terminal_are_known_by_their_names(text: str, command: str) -> None:
    assert find_terminal_command(text) == command


@pytest.mark.slow
@pytest.mark.process
def test_a_program_gets_the_terminal_with_ctrl_c_and_ctrl_z_and_gives_it_back(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says(ASKS).sees("name?").sees_no(HINT)
    terminal.presses("C-z").sees("Stopped", "sh>").runs("fg").types("Ada").presses("Enter").sees(HINT)
    assert (halo.folder / "said").read_text() == "got Ada\n"
    assert " icanon" in (halo.folder / "modes").read_text()
    terminal.sees("exit code 0").says("!!echo be''gan; sleep 60").sees("began").presses("C-c").sees("stopped", HINT)
    terminal.says("go").sees("Hello.")


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("pause", [0.0, 0.002, 0.003, 0.004, 0.008])
def test_ctrl_c_right_behind_enter_stops_the_program_and_nothing_else(halo: Halo, pause: float) -> None:
    person = HaloTerminal(["-m", halo.script(HI)], env=halo.env, cwd=halo.folder, size=(24, 80))
    person.expect_exact(READY)
    for keys in ("!!sleep 60; echo fin''ished\r", "\x03") if pause else ("!!sleep 60; echo fin''ished\r\x03",):
        person.send(keys)
        time.sleep(pause)
    person.expect(["stopped", "❯ "])
    time.sleep(0.5)
    person.send("\x15")
    person.send("go\r")
    person.expect("Hello.")


@pytest.mark.slow
@pytest.mark.process
def test_a_password_typed_ahead_of_the_program_that_asks_for_it_shows_nowhere(halo: Halo) -> None:
    program = halo.folder / "sudo"
    program.write_text("#!/bin/bash\nread -rs -p 'pass''word: ' word; echo \"got $word\" > said\n")
    program.chmod(0o755)
    person = HaloTerminal(["-m", halo.script(HI)], env=halo.env, cwd=halo.folder, size=(24, 80))
    person.logfile_read = written = io.StringIO()
    person.expect_exact(READY)
    person.send("!./sudo\rsecret\r")
    person.expect("password: ")
    person.send("typed\r")
    person.expect("exit code 0")
    person.send("\x04")
    person.expect(pexpect.EOF)
    assert "secret" not in written.getvalue()
    assert (halo.folder / "said").read_text() == "got typed\n"


@pytest.mark.slow
@pytest.mark.process
def test_a_program_in_front_reads_no_answers_of_the_terminal_when_the_size_changes(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("!!echo be''gan; cat -v").sees("began")
    time.sleep(0.5)
    terminal.resizes(60, 20)
    time.sleep(1.5)
    terminal.types("mine").presses("Enter").presses("C-d").sees("exit code 0", HINT)
    assert "^[[" not in terminal.everything


@pytest.mark.slow
@pytest.mark.process
def test_a_terminal_that_knows_no_codes_gets_none(halo: Halo) -> None:
    person = HaloTerminal(["-m", halo.script(HI)], env={**halo.env, "TERM": "dumb"}, cwd=halo.folder, size=(24, 80))
    person.expect("❯ ")
    before = person.before
    time.sleep(1)
    person.send("go\r")
    person.expect("done")
    assert "\x1b" not in before + person.before


@pytest.mark.slow
@pytest.mark.process
def test_an_arrow_whose_bytes_come_apart_over_a_connection_stops_nothing(halo: Halo) -> None:
    slow = {"text": "And on and on. " * 40, "pace": 0.05}
    env = {**halo.env, "SSH_CONNECTION": "1"}
    person = HaloTerminal(["-m", halo.script(slow)], env=env, cwd=halo.folder, size=(24, 80))
    person.expect("Ask anything")
    person.send("go\r")
    person.expect("on and on")
    for part in ("\x1b", "[", "D"):
        person.send(part)
        time.sleep(0.45)
    assert person.expect(["interrupted", "done"]) == 1
