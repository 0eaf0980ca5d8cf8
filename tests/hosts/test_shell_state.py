"""What passes from one command to the next, with the real bash."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.samples import choose

from halocline.hosts.keeper import STATE_FD
from halocline.hosts.shell.state import ShellState, left_in, with_trailer

pytestmark = pytest.mark.process

BASE = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "GIVEN": "1", "not.an.identifier": "x"}


def after(text: str, folder: str = "/", **variables: str) -> tuple[subprocess.CompletedProcess[str], ShellState | None]:
    """Run a text as the shell does, and read what it left."""
    environment = BASE | variables
    with tempfile.TemporaryFile() as file:
        script = f'exec {STATE_FD}>&{file.fileno()}; exec bash -c "$SCRIPT"'
        ran = subprocess.run(
            ["bash", "-c", script],
            env=environment | {"SCRIPT": with_trailer(text)},
            cwd=folder,
            pass_fds=[file.fileno()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        left = left_in(file.fileno(), folder, environment | {"SCRIPT": with_trailer(text)})
    return ran, left


def test_folder_and_exports_are_left():
    _, left = after("cd /usr; export COLOUR=red; unset GIVEN; HIDDEN=1")
    assert left is not None
    assert left.folder == "/usr"
    assert left.names == ("COLOUR", "GIVEN")
    assert left.over({"GIVEN": "1", "OTHER": "2"}) == {"COLOUR": "red", "OTHER": "2", "OLDPWD": "/"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cd /usr; exit 3", 3),
        ("set -e; cd /usr; false; cd /", 1),
        ("set -eu; cd /usr; echo $NOT_SET", 1),
        ("cd /usr\nif", 2),
        ("cd /usr; set -o noclobber; set -o posix", 0),
        ("trap 'echo debug >&2' DEBUG; cd /usr", 0),
        ("trap 'exit 9' ERR; cd /usr; false", 9),
        ("cd /usr; sleep 0 & wait", 0),
        ("cd /usr; exec >/dev/null 2>&1", 0),
        ("cd() { builtin cd /usr; }; cd /", 0),
        ("cd /usr; (cd /; exit 4)", 4),
        ("cd /usr; PATH=", 0),
        ("cd /usr; -x", 127),
    ],
)
def test_the_folder_is_left_however_the_command_ends(text: str, code: int):
    ran, left = after(text)
    assert ran.returncode == code
    assert left is not None
    assert left.folder == "/usr"


FLOOD = "(while kill -USR1 $$; do :; done) >/dev/null 2>&1 & until [ $seen ]; do :; done"
FORGED = """declare -x FORGED="1"\n"""


@pytest.mark.parametrize(
    "text",
    [
        "trap 'echo D' DEBUG; cd /usr",
        "cd /usr; trap 'echo D' DEBUG",
        "set -T; trap 'echo D; echo E >&2' DEBUG; f() { cd /usr; }; f",
        "set -x; trap 'echo D' DEBUG; cd /usr",
        "trap 'echo R' RETURN; set -T; f() { cd /usr; }; f",
        "set -E; trap 'echo E' ERR; cd /usr; false",
        "trap 'echo E' ERR; set -e; cd /usr; false",
        "(trap 'echo bye' EXIT; cd /); cd /usr",
        "trap 'echo C' CHLD; cd /usr; /bin/true; sleep 0.01 & wait",
        "cd /usr; echo() { builtin echo no; }; trap 'echo D' DEBUG",
    ],
)
def test_what_traps_print_is_output_as_in_bash_and_no_state(text: str):
    ran, left = after(text)
    plain = subprocess.run(["bash", "-c", text], env=BASE, cwd="/", capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == (plain.stdout, plain.returncode)
    assert left is not None
    assert (left.folder, left.names) == ("/usr", ())


def test_a_signal_that_comes_at_the_end_prints_nothing_into_the_state():
    many = "for i in {1..3000}; do export V$i=1; done"  # a state that takes a while to write
    _, left = after(f"{many}; cd /usr; trap 'seen=1; printf %s \"$FORGERY\"' USR1; {FLOOD}", FORGERY=FORGED)
    assert left is not None
    assert (left.folder, len(left.names)) == ("/usr", 3000)


@pytest.mark.parametrize(
    "text",
    ["cd /usr; exec true", "cd /usr; kill -KILL $$", "cd /usr; trap 'echo bye' EXIT", f"cd /usr; exec {STATE_FD}>&-"],
)
def test_a_command_that_takes_the_trailer_away_changes_nothing(text: str):
    ran, left = after(text)
    assert left is None
    assert "99" not in ran.stderr


def test_a_text_cannot_end_the_script_around_it():
    ran, _ = after("echo 'open")
    assert ran.returncode != 0
    ran, _ = after("cat <<END\nbody")
    assert ran.stdout == "body\n"


def test_the_text_sees_no_arguments_and_its_own_lines():
    ran, _ = after("echo $# $LINENO\nno-such-program")
    assert ran.stdout == "0 1\n"
    assert "line 2: no-such-program" in ran.stderr


@settings(max_examples=choose(40, 8), deadline=None)
@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
    st.sampled_from(["C", "C.UTF-8"]),
)
def test_any_value_comes_through(value: str, language: str):
    _, left = after('export COPY="$VALUE"', VALUE=value, LANG=language)
    assert left is not None
    assert left.variables is not None
    assert left.variables["COPY"] == value
    assert left.names == ("COPY",)


def test_what_bash_does_not_tell_of_is_not_taken_away():
    _, left = after("true")
    assert left is not None
    assert left.names == ()
    assert left.over(BASE)["not.an.identifier"] == "x"


def test_a_file_without_a_whole_state_gives_none(tmp_path: Path):
    (tmp_path / "state").write_bytes(b'/usr\0declare -x A="1"\n')
    with open(tmp_path / "state", "rb") as file:
        assert left_in(file.fileno(), "/", {}) is None


@pytest.mark.parametrize("size", [100_000, 100_001, 200_000])
def test_a_value_that_is_too_large_for_a_program_is_named_and_not_kept(size):
    ran, left = after(f'export X="$(head -c {size} /dev/zero | tr "\\0" x)" Y=small; cd /usr')
    assert (ran.returncode, left.folder) == (0, "/usr")
    kept = size <= 100_000
    assert left.names == (("X", "Y") if kept else ("Y",))
    assert left.too_large == (() if kept else ("X",))


def test_a_given_variable_that_becomes_too_large_is_as_if_it_were_unset():
    _, left = after('export GIVEN="$(head -c 300000 /dev/zero | tr "\\0" x)"')
    assert left.variables["GIVEN"] is None


@pytest.mark.parametrize("variable", ["BASH_ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "BASHOPTS"])
def test_a_program_that_may_be_a_function_or_be_traced_gets_a_shell(variable: str):
    assert with_trailer("ls", ["HOME"]) == "ls"
    assert with_trailer("ls", ["HOME", variable]) != "ls"
