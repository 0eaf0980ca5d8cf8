import shutil
import subprocess

import pytest

from halocline.context.notes.exit_answers import DIFFERENT, FALSE, MISSING, NOTHING, find_answer

pytestmark = pytest.mark.process

ANSWERS = {
    "grep nowhere file": NOTHING,
    "/usr/bin/grep -rn nowhere .": NOTHING,
    "cat file | grep nowhere": NOTHING,
    "cd . && grep nowhere file": NOTHING,
    "echo begin; grep nowhere file": NOTHING,
    "grep one file && grep nowhere file": NOTHING,
    "grep nowhere file || grep none file": NOTHING,
    "rg nowhere": NOTHING,
    "diff file other": DIFFERENT,
    "cmp file other": DIFFERENT,
    "test -f nowhere": FALSE,
    "[ -f nowhere ]": FALSE,
    "command -v no-such-program": MISSING,
    "git --no-pager grep nowhere": NOTHING,
    "git diff --no-index --quiet file other": DIFFERENT,
    "git config --get no.such": "it is not set",
    "git check-ignore file": "it is not ignored",
}
FAILURES = (
    "grep one file | false",
    "false && grep nowhere file",
    "cd no-such-folder && grep nowhere file",
    "grep nowhere file && make",
    "grep nowhere file; false",
    "! grep one file",
    "(exit 1)",
    "false",
    "python3 -c 'raise SystemExit(1)'",
    "if false; then :; else grep nowhere file; fi",
    "set -o pipefail; grep nowhere file | cat",
    'x=grep; "$x" nowhere file',
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "file").write_text("one\n")
    (tmp_path / "other").write_text("two\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("command", ANSWERS)
def test_programs_that_answer_by_exit_code_1_are_understood_as_the_installed_ones_answer(folder, command):
    if command.startswith("rg") and not shutil.which("rg"):
        pytest.skip("there is no rg")
    ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert find_answer(command, ran.returncode, ran.stdout + ran.stderr) == ANSWERS[command]


@pytest.mark.parametrize("command", FAILURES)
def test_what_may_have_failed_is_no_answer(folder, command):
    ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert find_answer(command, 1, ran.stdout + ran.stderr) == ""


@pytest.mark.parametrize("code", [None, 0, 2, 127, -9])
def test_only_exit_code_1_is_an_answer(code):
    assert find_answer("grep x file", code, "") == ""
