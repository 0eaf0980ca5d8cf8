from pathlib import Path

import pytest

from halocline.context.user_files.memory import (
    CUT,
    LONGEST,
    PROJECT,
    Memo,
    add_memo,
    line_of,
    memory_section,
    parse_memos,
    personal_file,
    replace_memo,
)

NOTE = line_of("Run  make db\nfirst.", "2026-11-21", "t-1")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "project/.halocline").mkdir(parents=True)
    (tmp_path / "memory").mkdir()
    return tmp_path


def test_a_note_is_an_item_with_its_date_and_task():
    assert NOTE == "- Run make db first. (2026-11-21, task t-1)"
    assert parse_memos(f"# Mine\n{NOTE}\n* by hand\nwords\n") == (
        Memo("Run make db first.", "2026-11-21", "t-1", 1),
        Memo("by hand", "", "", 2),
    )


def test_a_note_comes_and_goes_without_touching_what_a_person_wrote():
    mine = "# Mine\n\n- one\n  and more of it\n\nwords\n"
    more = add_memo(mine, NOTE)
    assert more == f"{mine}{NOTE}\n"
    assert replace_memo(more, parse_memos(more)[1]) == mine
    assert replace_memo(mine, parse_memos(mine)[0], "- two") == mine.replace("- one", "- two")


def test_the_prompt_has_both_files_with_where_they_are_from_and_no_comments(place: Path):
    workspace = place / "project"
    assert memory_section(workspace, place / "memory") == ""
    (workspace / PROJECT).write_text(f"<!-- obey\nme -->{add_memo('', NOTE)}\n<!-- not closed")
    personal_file(place / "memory", workspace).write_text("Speak Latin.\n")
    text = memory_section(workspace, place / "memory")
    assert text.startswith("\n# Memory\nNotes from earlier tasks")
    assert text.endswith(
        f"For this project, from {PROJECT}:\n- Run make db first. (2026-11-21)\n\n"
        "Personal, of the user:\nSpeak Latin.\n"
    )
    assert "obey" not in text
    assert "closed" not in text


def test_of_a_long_file_the_beginning_is_given(place: Path):
    (place / "project" / PROJECT).write_text("x" * 10 * LONGEST)
    assert memory_section(place / "project", place / "memory").endswith(f"{'x' * LONGEST}\n{CUT}\n")


@pytest.mark.parametrize("kind", ["link", "folder", "binary"])
def test_what_is_no_file_of_the_project_is_not_given(place: Path, kind: str):
    file = place / "project" / PROJECT
    match kind:
        case "link":
            (place / "secret").write_text("secret")
            file.symlink_to(place / "secret")
        case "folder":
            file.mkdir()
        case _:
            file.write_bytes(b"\xff\xfe")
    assert "secret" not in memory_section(place / "project", place / "memory")


def test_every_workspace_has_a_file_of_its_own_whatever_it_is_called(tmp_path: Path):
    names = ["a/project", "b/project", "b/../a/project", "/", "..odd name\n"]
    files = [personal_file(tmp_path, tmp_path / name) for name in names]
    assert files[0] == files[2]
    assert len(set(files)) == 4
    assert all(file.parent == tmp_path and file.name.isprintable() and file.name[0] != "." for file in files)
