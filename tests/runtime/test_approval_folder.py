"""What counts as a decision on a request that stands in a folder, and what does not; and which folders will do."""

import json
import os
from pathlib import Path

import pytest

from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Grant, ToolKind
from halocline.protocol.state.state import State
from halocline.runtime.approval_folder import LARGEST, ApprovalFolder, FolderRequest
from halocline.store.paths import Home

TASK = "261122-120000-gold"
ID = f"{TASK}.r7"
TOKEN = "0123456789abcdef0123456789abcdef"
GOOD = {"id": ID, "token": TOKEN, "decision": "allow"}


@pytest.fixture
def home(tmp_path):
    return Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})


@pytest.fixture
def folder(home):
    folder = ApprovalFolder.open(home, "desk")
    yield folder
    folder.close()


def request(**more):
    given = {"choices": ("allow", "deny"), "tool": "execute_command", "arguments": {"command": "touch a"}} | more
    return FolderRequest(ID, TOKEN, "approval", TASK, "/work", "touch a", **given)


LEAVE = {"choices": ("allow", "allow_always", "deny"), "always": Grant(ToolKind.EXECUTE, "touch a")}
WIDER = LEAVE | {"wider": Grant(ToolKind.EXECUTE, argv=("touch",))}
QUESTION = FolderRequest(ID, TOKEN, "question", TASK, "/work", "Which?", ("one", "two"))


def decide(folder: ApprovalFolder, answer: object, name: str = ID) -> Path:
    file = folder.path / f"{name}.decision.json"
    file.write_bytes(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
    return file


def problem(folder: ApprovalFolder, name: str = ID) -> str:
    file = folder.path / f"{name}.error.json"
    return json.loads(file.read_text())["problem"] if file.exists() else ""


def look(folder: ApprovalFolder, one: FolderRequest | None = None) -> list[str]:
    waiting = {ID: one or request()}
    return [*folder.read_decisions(TASK, waiting)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (request(), {}),
        (request(), {"decision": "deny", "note": "no"}),
        (request(), {"note": "fine", "command": "touch b"}),
        (request(**LEAVE), {"always": "project"}),
        (request(**WIDER), {"always": "task", "wider": True}),
        (QUESTION, {"decision": None, "answer": "three"}),
    ],
)
def test_a_decision_that_fits_counts_and_leaves_no_file(folder, asked, answer):
    folder.write_request(asked)
    shown = json.loads((folder.path / f"{ID}.request.json").read_text())
    assert (shown["id"], shown["token"], shown["arguments"]) == (ID, TOKEN, asked.arguments)
    decide(folder, GOOD | answer)
    assert look(folder, asked) == [ID]
    assert os.listdir(folder.path) == []


WRONG = {
    "another token": (request(), GOOD | {"token": "0" * 32}),
    "no token": (request(), {"id": ID, "decision": "allow"}),
    "another id": (request(), GOOD | {"id": f"{TASK}.r8"}),
    "no decision": (request(), {"id": ID, "token": TOKEN}),
    "a decision that is none": (request(), GOOD | {"decision": "yes"}),
    "an unknown field": (request(), GOOD | {"aways": "task"}),
    "always where it is not offered": (request(), GOOD | {"always": "task"}),
    "wider where it is not offered": (request(**LEAVE), GOOD | {"always": "task", "wider": True}),
    "wider without always": (request(**WIDER), GOOD | {"wider": True}),
    "always with deny": (request(**LEAVE), GOOD | {"decision": "deny", "always": "task"}),
    "a command for what is none": (request(arguments={"path": "a"}), GOOD | {"command": "ls"}),
    "an edited command for good": (request(**LEAVE), GOOD | {"command": "ls", "always": "task"}),
    "an empty command": (request(), GOOD | {"command": " "}),
    "a command that is not text": (request(), GOOD | {"command": ["ls"]}),
    "an answer to an approval": (request(), GOOD | {"answer": "yes"}),
    "a decision on a question": (QUESTION, GOOD | {"answer": "one"}),
    "no answer to a question": (QUESTION, {"id": ID, "token": TOKEN}),
    "half of it": (request(), json.dumps(GOOD).encode()[:30]),
    "nothing": (request(), b""),
    "no object": (request(), [GOOD]),
    "nested too deeply": (request(), b"[" * 100_000),
    "too large": (request(), json.dumps(GOOD).encode() + b" " * LARGEST),
    "no UTF-8": (request(), b'{"id": "\xff"}'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_decision_is_told_so_and_the_request_waits_on(folder, case):
    asked, answer = WRONG[case]
    folder.write_request(asked)
    decide(folder, answer)
    assert look(folder, asked) == []
    assert problem(folder)
    assert not (folder.path / f"{ID}.decision.json").exists()
    right = {"decision": None, "answer": "one"} if asked is QUESTION else {}
    decide(folder, GOOD | right)
    assert look(folder, asked) == [ID]
    assert problem(folder) == ""


def linked(file: Path, other: Path) -> None:
    other.write_text(json.dumps(GOOD))
    file.symlink_to(other)


def hard_linked(file: Path, other: Path) -> None:
    other.write_text(json.dumps(GOOD))
    os.link(other, file)


def writable(file: Path, other: Path) -> None:
    file.write_text(json.dumps(GOOD))
    file.chmod(0o666)


def foreign(file: Path, other: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    file.write_text(json.dumps(GOOD))
    os.chown(file, 12345, 12345)


THINGS = {
    "a link": linked,
    "a link to nothing": lambda file, other: file.symlink_to(other),
    "a hard link": hard_linked,
    "a pipe": lambda file, other: os.mkfifo(file),
    "a folder": lambda file, other: file.mkdir(),
    "a file that others can write": writable,
    "a file of another user": foreign,
}


@pytest.mark.parametrize("thing", THINGS)
def test_only_a_plain_file_of_the_person_is_read(folder, tmp_path, thing):
    folder.write_request(request())
    THINGS[thing](folder.path / f"{ID}.decision.json", tmp_path / "other")
    assert look(folder) == []
    assert problem(folder)
    assert look(folder) == []


def test_a_decision_on_what_does_not_wait_is_told_so(folder):
    folder.write_request(request())
    decide(folder, GOOD)
    assert look(folder) == [ID]
    decide(folder, GOOD)
    assert [*folder.read_decisions(TASK, {})] == []
    assert "No such request is waiting" in problem(folder)


def test_a_decision_that_was_there_before_its_request_does_not_count(folder):
    decide(folder, GOOD)
    folder.write_request(request())
    assert look(folder) == []


def test_what_is_for_another_task_is_left_to_it(folder):
    file = decide(folder, GOOD, "261122-120000-iron.r7")
    assert look(folder) == []
    assert file.exists()


def test_a_folder_outside_of_haloclines_own_is_refused(home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    home.approvals.mkdir()
    (home.approvals / "link").symlink_to(elsewhere)
    for name in (str(elsewhere), "/tmp", "../tasks", "link", str(home.root), str(home.tasks)):
        with pytest.raises(UsageError, match="cannot be used for approvals"):
            ApprovalFolder.open(home, name)
    assert os.listdir(elsewhere) == []


@pytest.mark.parametrize(
    ("place", "mode"), [("approvals/desk", 0o755), ("approvals", 0o777), ("approvals/desk", 0o770)]
)
def test_a_folder_that_others_can_enter_is_refused(home, place, mode):
    (home.approvals / "desk").mkdir(parents=True, mode=0o700)
    home.approvals.chmod(0o700)
    (home.root / place).chmod(mode)
    with pytest.raises(UsageError, match="Other users can change") as refused:
        ApprovalFolder.open(home, "desk")
    assert refused.value.hint.endswith(f"chmod 700 {home.root / place}")


def test_a_folder_of_another_user_is_refused(home):
    if os.geteuid() != 0:
        pytest.skip("only root can give folders away")
    (home.approvals / "desk").mkdir(parents=True, mode=0o700)
    os.chown(home.approvals / "desk", 12345, 12345)
    with pytest.raises(UsageError, match="Other users can change"):
        ApprovalFolder.open(home, "desk")


def test_what_is_no_folder_is_refused(home):
    home.approvals.mkdir(mode=0o700)
    (home.approvals / "desk").write_text("")
    with pytest.raises(UsageError, match="cannot be used"):
        ApprovalFolder.open(home, "desk")


def test_a_folder_in_which_the_task_works_is_refused(folder, home, tmp_path):
    for state in (State(workspace=str(tmp_path)), State(workspace="/", roots=(str(home.root),))):
        with pytest.raises(UsageError, match="where the task works"):
            folder.require_apart(state)
    folder.require_apart(State(workspace=str(tmp_path / "project")))


def test_a_folder_that_is_removed_is_noticed(folder):
    folder.path.rmdir()
    with pytest.raises(OSError, match="removed"):
        look(folder)


def test_a_folder_whose_name_leads_elsewhere_by_now_is_still_the_one_that_was_checked(folder, tmp_path):
    folder.write_request(request())
    kept = folder.path.rename(tmp_path / "kept")
    other = tmp_path / "other"
    other.mkdir()
    folder.path.symlink_to(other)
    decide(folder, GOOD)
    assert look(folder) == []
    assert (kept / f"{ID}.request.json").exists()
