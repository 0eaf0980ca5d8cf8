"""What a person's page may read of a task's files, also where names and contents are hostile."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from halocline.hosts.files.local import LocalFiles
from halocline.protocol.errors import UsageError
from halocline.protocol.events import FileChanged
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.state.permissions import PermissionsState
from halocline.protocol.state.state import State
from halocline.services.file_reader import LARGEST, LONGEST_LINE, MOST_LINES, FileReader
from halocline.store.blobs import DiskBlobs
from halocline.task.calls.policy_input import make_policy_context

KEY = "sk-ant-api03-" + "Ab1" * 31 + "AA"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIE" * 16 + "\n" + "abcd" * 16 + "\n-----END PRIVATE KEY-----"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    return folder


def reader(work: Path, *changes: FileChanged, ignored: tuple[str, ...] = (), roots: tuple[str, ...] = ()) -> FileReader:
    state = State(workspace=str(work), roots=roots, permissions=PermissionsState(rules=RuleBook(ignored=ignored)))
    blobs = DiskBlobs(work.parent / "blobs")
    return FileReader(
        make_policy_context(state, work.parent / "home"), LocalFiles(), blobs, redact_text, lambda: changes
    )


def read(work: Path, path: str, first: int = 1, last: int = 0, **more: tuple[str, ...]) -> list[str]:
    return list(asyncio.run(reader(work, **more).lines(path, first, last)).lines)


def refusal(work: Path, path: str, **more: tuple[str, ...]) -> str:
    with pytest.raises(UsageError) as raised:
        read(work, path, **more)
    return raised.value.text


def test_lines_have_their_numbers_and_the_file_its_total(work: Path) -> None:
    (work / "a.txt").write_text("".join(f"{number}\n" for number in range(1, 501)))
    found = asyncio.run(reader(work).lines("a.txt", 300, 302))
    assert (found.first, found.lines, found.total, found.name) == (300, ("300", "301", "302"), 500, "a.txt")


def test_a_line_beyond_the_end_shows_the_end(work: Path) -> None:
    (work / "a.txt").write_text("1\n2\n")
    assert read(work, "a.txt", 900) == ["2"]


def test_an_empty_file_has_no_lines(work: Path) -> None:
    (work / "a.txt").write_text("")
    assert read(work, "a.txt") == []


def test_an_answer_holds_only_so_many_lines_and_the_next_ones_can_be_asked_for(work: Path) -> None:
    (work / "a.txt").write_text("x\n" * (MOST_LINES + 10))
    assert len(read(work, "a.txt")) == MOST_LINES
    assert len(read(work, "a.txt", MOST_LINES + 1)) == 10


def test_a_line_without_an_end_is_shortened(work: Path) -> None:
    (work / "a.txt").write_text("y" * (LONGEST_LINE + 5))
    assert read(work, "a.txt")[0].endswith("… (10,005 characters)")


def make_pipe(work: Path) -> None:
    os.mkfifo(work / "x")


def make_folder(work: Path) -> None:
    (work / "x").mkdir()


def make_binary(work: Path) -> None:
    (work / "x").write_bytes(b"\x7fELF\0\0")


def make_huge(work: Path) -> None:
    with open(work / "x", "wb") as file:
        file.truncate(LARGEST + 1)


def make_link_out(work: Path) -> None:
    (work.parent / "other.txt").write_text("other")
    (work / "x").symlink_to(work.parent / "other.txt")


def make_link_to_secret(work: Path) -> None:
    (work / ".env").write_text("A=1")
    (work / "x").symlink_to(work / ".env")


def make_second_name_of_a_secret(work: Path) -> None:
    (work / ".env").write_text("A=1")
    os.link(work / ".env", work / "x")


def make_nothing(work: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (make_pipe, "special file"),
        (make_folder, "is a folder"),
        (make_binary, "binary file"),
        (make_huge, "too large to show"),
        (make_link_out, "outside the task's folders"),
        (make_link_to_secret, "may hold secrets"),
        (make_second_name_of_a_secret, "secrets"),
        (make_nothing, "does not exist"),
    ],
)
def test_what_cannot_be_shown_says_why(work: Path, make: Callable[[Path], None], said: str) -> None:
    make(work)
    assert said in refusal(work, "x")


@pytest.mark.parametrize("path", ["../other.txt", "sub/../../other.txt", "/etc/passwd", "~/x", "/proc/self/environ"])
def test_no_path_leads_out_of_the_tasks_folders(work: Path, path: str) -> None:
    (work.parent / "other.txt").write_text("other")
    assert refusal(work, path)


@pytest.mark.parametrize("path", ["\0", "a\0b", "x" * 5000, "a/" * 3000 + "b"])
def test_a_name_that_cannot_be_is_refused(work: Path, path: str) -> None:
    assert refusal(work, path)


def test_halocline_own_files_are_not_shown_even_inside_the_folder(work: Path) -> None:
    home = work.parent / "home"
    (home / "settings.toml").write_text("")
    assert refusal(work.parent / "home", "settings.toml")


@pytest.mark.parametrize("name", [".env", ".netrc", "id_rsa", ".aws/credentials"])
def test_a_file_that_may_hold_secrets_is_not_shown(work: Path, name: str) -> None:
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text("x")
    assert "secrets" in refusal(work, name)


def test_an_ignored_file_is_hidden_also_from_the_list(work: Path) -> None:
    (work / "private.txt").write_text("x")
    (work / "a.txt").write_text("x")
    assert "hidden" in refusal(work, "private.txt", ignored=("private.txt",))
    entries = asyncio.run(reader(work, ignored=("private.txt",)).list_folder("")).entries
    assert [one.name for one in entries] == ["a.txt"]


def test_a_key_in_a_file_is_replaced_and_its_page_says_so(work: Path) -> None:
    (work / "a.py").write_text(f"one\nkey = '{KEY}'\nthree\n")
    found = asyncio.run(reader(work).lines("a.py"))
    assert KEY not in "\n".join(found.lines)
    assert (found.redacted, found.lines[0], found.lines[2]) == (True, "one", "three")


def test_a_key_of_several_lines_is_replaced_and_those_below_keep_their_numbers(work: Path) -> None:
    (work / "a.py").write_text(f"one\n{PEM}\nsix\n")
    found = read(work, "a.py")
    assert (found[0], found[5], len(found)) == ("one", "six", 6)
    assert "MIIE" not in "".join(found)


def test_a_part_from_the_middle_of_a_key_does_not_show_it(work: Path) -> None:
    (work / "a.py").write_text(f"one\n{PEM}\nsix\n")
    found = read(work, "a.py", 3)
    assert "MIIE" not in "".join(found)
    assert "abcd" not in "".join(found)


def test_a_folder_that_was_swapped_for_a_link_is_not_followed(work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "a.txt").write_text("inside")
    outside = work.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("outside")
    here = reader(work)
    (work / "sub" / "a.txt").unlink()
    (work / "sub").rmdir()
    (work / "sub").symlink_to(outside)
    with pytest.raises(UsageError):
        asyncio.run(here.lines("sub/a.txt"))


def test_names_in_a_text_are_found_in_all_folders_of_the_task(work: Path) -> None:
    other = work.parent / "other"
    other.mkdir()
    (other / "b.py").write_text("")
    (work / "a.py").write_text("")
    (work / ".env").write_text("")
    names = ["a.py", "b.py", "c.py", ".env", "../work/a.py", "/etc/passwd", "\0"]
    found = asyncio.run(reader(work, roots=(str(other),)).find(names))
    assert [(one.name, one.place) for one in found] == [
        ("a.py", str(work / "a.py")),
        ("b.py", str(other / "b.py")),
        ("../work/a.py", str(work / "a.py")),
    ]


def test_a_name_that_turns_the_line_round_is_read_as_it_is(work: Path) -> None:
    name = "a\u202egpj.py"
    (work / name).write_text("x\n")
    assert read(work, name) == ["x"]


def test_an_edits_file_is_read_as_the_edit_left_it(work: Path) -> None:
    after = DiskBlobs(work.parent / "blobs").put(b"one\ntwo\n")
    (work / "a.txt").write_text("later\n")
    change = FileChanged(path="a.txt", before=None, after=after, cause="call-1")
    found = asyncio.run(reader(work, change).of_edit("call-1", "a.txt"))
    assert found.lines == ("one", "two")


def test_a_version_that_is_gone_says_so(work: Path) -> None:
    change = FileChanged(path="a.txt", before=None, after="sha256:" + "0" * 64, cause="call-1")
    with pytest.raises(UsageError, match="no longer stored"):
        asyncio.run(reader(work, change).of_edit("call-1", "a.txt"))


def test_an_edit_that_waits_shows_the_file_as_it_is(work: Path) -> None:
    (work / "a.txt").write_text("now\n")
    assert asyncio.run(reader(work).of_edit("call-1", "a.txt")).lines == ("now",)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1251", "cp932", "euc_kr"])
def test_lines_of_a_file_in_another_encoding_are_its_text(work: Path, encoding: str) -> None:
    words = {"cp932": "これは日本語の設定です", "euc_kr": "이것은 인코딩을 확인하는 테스트"}.get(
        encoding, "настройки сервера"
    )
    (work / "a.txt").write_bytes(f"one\r\n{words}\r\n".encode(encoding))
    assert read(work, "a.txt") == ["one", words]
