"""`halo memory` and `halo todos`, as a person uses them."""

import stat

from tests.surfaces.cli.halo_process import Halo, call

from halocline.context.user_files.memory import PROJECT, line_of, personal_file

NOTE = line_of("Run make db first.", "2026-11-21", "t-1")


def notes(halo: Halo, own: str, project: str = "") -> None:
    file = personal_file(halo.root / "home/memory", halo.folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(own)
    if project:
        (halo.folder / PROJECT).parent.mkdir()
        (halo.folder / PROJECT).write_text(project)


async def test_notes_are_shown_with_numbers_and_forgotten_by_them(halo: Halo) -> None:
    notes(halo, f"# Mine\n{NOTE}\n", "- o\x1b[31murs\r\n- kept\r\n")
    shown = await halo.run("memory")
    assert "  1  Run make db first.\n     2026-11-21, task t-1\n" in shown.out
    assert "  2  ours\n     written by hand\n" in shown.out
    assert "  3  kept\n" in shown.out
    assert "     1 other line, also sent to tasks\n" in shown.out
    assert "too long" not in shown.out
    assert "Memory is off" in shown.err
    gone = await halo.run("memory", "forget", "2")
    assert (gone.code, gone.out) == (0, "Removed: ours\n")
    assert (halo.folder / PROJECT).read_bytes() == b"- kept\r\n"


async def test_a_note_that_is_not_there_is_not_forgotten(halo: Halo) -> None:
    done = await halo.run("memory", "forget", "1")
    assert (done.code, done.out) == (2, "")
    assert "There is no note 1." in done.err
    assert "halo memory show" in done.err


async def test_a_file_that_is_too_long_to_be_given_says_so(halo: Halo) -> None:
    notes(halo, "words\n" * 2_000)
    assert "only its beginning is sent to tasks" in (await halo.run("memory", "show")).out


async def test_the_file_is_opened_in_the_persons_editor(halo: Halo) -> None:
    editor = halo.root / "my editor"
    editor.write_text('#!/bin/sh\necho "- by hand" > "$2"\n')
    editor.chmod(stat.S_IRWXU)
    done = await halo.run("memory", "edit", "--project", env={"EDITOR": f"'{editor}' --wait"})
    assert (done.code, done.out) == (0, "")
    assert (halo.folder / PROJECT).read_text() == "- by hand\n"
    missing = await halo.run("memory", "edit", env={"EDITOR": "no-such-editor", "VISUAL": ""})
    assert (missing.code, "Set EDITOR" in missing.err) == (2, True)


async def test_the_list_of_the_newest_task_is_shown_with_its_file(halo: Halo) -> None:
    assert "No task in" in (await halo.run("todos")).err
    todos = [{"text": "Read", "status": "completed"}, {"text": "Write"}]
    await halo.run("-y", "-p", "-m", halo.script({"call": [call("update_todos", todos=todos)]}, {"text": "Hi."}), "go")
    done = await halo.run("todos")
    assert done.out.startswith("1 of 2 done.\n- [x] Read\n- [ ] Write\nTo edit it: ")
    assert done.out.rstrip().endswith(f"{halo.tasks[-1]}/todos.md")
