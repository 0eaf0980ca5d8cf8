"""A task's worktree in the page: seen, merged with its conflicts, undone and discarded from the board and the task."""

import subprocess
from pathlib import Path

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.page import page, serving
from tests.surfaces.web.pages.screen import Screen

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

DONE = {"text": "It is done."}
LINES = [f"line {n}" for n in range(1, 21)]


def write_lines(path: Path, **changed: str) -> None:
    lines = [changed.get(f"n{n}", line) for n, line in enumerate(LINES, 1)]
    path.write_text("".join(f"{line}\n" for line in lines))


async def work_in_worktree(halo: Halo) -> Path:
    """A repository, and a task in the worktree x that changed two files; one overlaps with the person's edit."""
    write_lines(halo.folder / "a.txt")
    for words in ("init -qb main", "add .", "-c user.name=x -c user.email=x@y commit -qm Start"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, env=halo.env, check=True)
    assert (await halo.run("-p", "-w", "x", "-m", halo.script(DONE), "mend it")).code == 0
    folder = halo.root / "project-worktrees" / "x"
    write_lines(folder / "a.txt", n4="of the worktree")
    (folder / "<b>new.txt").write_text("<i>new</i>\n")
    return folder


async def open_sheet(screen: Screen) -> None:
    await screen.page.get_by_role("button", name="Worktree: mend it").click()
    await screen.sees("x: ", "dialog")


async def press(screen: Screen, name: str) -> None:
    await screen.page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


async def test_a_worktree_is_merged_from_the_board_and_the_merge_is_undone(server, opened, halo) -> None:
    folder = await work_in_worktree(halo)
    await server.start()
    screen = await opened(path="board", width=390)
    await screen.sees("2 files to merge +2 −1", ".board")
    await open_sheet(screen)
    await screen.sees("<b>new.txt", "dialog")
    await press(screen, "Merge 2 files")
    await screen.sees("Merged 2 files into the main folder; nothing is committed.", "dialog")
    assert (halo.folder / "a.txt").read_text() == (folder / "a.txt").read_text()
    await screen.sees("x: merged", "dialog")
    (halo.folder / "mine.txt").write_text("since\n")
    await press(screen, "Undo the last merge")
    await screen.sees("Undone: 2 files as before the merge.", "dialog")
    assert (halo.folder / "a.txt").read_text().splitlines() == LINES
    assert ((halo.folder / "mine.txt").read_text(), (halo.folder / "<b>new.txt").exists()) == ("since\n", False)


async def test_a_conflict_shows_both_sides_and_a_person_chooses_one(server, opened, halo) -> None:
    folder = await work_in_worktree(halo)
    write_lines(halo.folder / "a.txt", n4="of the person", n18="theirs alone")
    await server.start()
    screen = await opened(path="board")
    await screen.sees("1 conflict", ".board")
    await open_sheet(screen)
    await screen.sees("of the person", ".worktree-conflict")
    await screen.sees("of the worktree", ".worktree-conflict")
    await press(screen, "Merge 1 file without overlaps")
    await screen.sees("Merged 1 file into", "dialog")
    assert "of the person" in (halo.folder / "a.txt").read_text()
    await press(screen, "both, with markers")
    await screen.sees("x: merged", "dialog")
    text = (halo.folder / "a.txt").read_text()
    assert all(part in text for part in ("<<<<<<<", "of the person", "of the worktree", "theirs alone"))
    await press(screen, "Undo the last merge")
    await screen.sees("1 conflict", "dialog")
    await press(screen, "the worktree")
    await screen.sees("x: merged", "dialog")
    assert (halo.folder / "a.txt").read_text().splitlines()[3:18:14] == ["of the worktree", "theirs alone"]
    assert folder.exists()


async def test_one_file_with_overlaps_is_settled_alone(server, opened, halo) -> None:
    await work_in_worktree(halo)
    write_lines(halo.folder / "a.txt", n4="of the person")
    (halo.folder / "<b>new.txt").write_text("of the person\n")
    await server.start()
    screen = await opened(path="board")
    await screen.sees("2 conflicts", ".board")
    await open_sheet(screen)
    await press(screen, "Worktree, in a.txt")
    await screen.sees("1 conflict", "dialog")
    await press(screen, "Main folder, in <b>new.txt")
    await screen.sees("x: merged", "dialog")
    assert (halo.folder / "a.txt").read_text().splitlines()[3] == "of the worktree"
    assert (halo.folder / "<b>new.txt").read_text() == "of the person\n"


async def test_a_choice_is_about_the_lines_that_the_page_showed(server, opened, halo) -> None:
    await work_in_worktree(halo)
    write_lines(halo.folder / "a.txt", n4="of the person")
    await server.start()
    screen = await opened(path="board")
    await screen.sees("1 conflict", ".board")
    await open_sheet(screen)
    for name, edit in (("Worktree, in a.txt", "edited since"), ("the worktree", "edited again")):
        write_lines(halo.folder / "a.txt", n4=edit)
        await press(screen, name)
        await screen.sees("(changed since it was shown)", "dialog")
        await screen.sees(edit, ".worktree-conflict")
        assert edit in (halo.folder / "a.txt").read_text()
    await press(screen, "Worktree, in a.txt")
    await screen.sees("x: merged", "dialog")
    assert "of the worktree" in (halo.folder / "a.txt").read_text()


async def test_a_discard_from_the_task_names_what_is_lost_before_it_removes_anything(server, opened, halo) -> None:
    folder = await work_in_worktree(halo)
    await server.start()
    screen = await opened()
    await screen.task(halo.tasks[0])
    await screen.page.locator(".task-head").get_by_role("button", name="2 files to merge").click()
    await press(screen, "Discard the worktree…")
    await screen.sees("Not merged, a checkpoint keeps it: <b>new.txt, a.txt.", "dialog")
    assert folder.exists()
    await press(screen, "Discard it with this work")
    await screen.sees("A checkpoint keeps its work.", "dialog")
    assert not folder.exists()
    await screen.go("board")
    await screen.sees("gone", ".board")


async def test_what_came_after_the_question_is_not_discarded_and_a_task_without_a_worktree_has_none(halo) -> None:
    folder = await work_in_worktree(halo)
    (task,) = halo.tasks
    async with serving(halo) as server, page(server) as one:
        report = await one.ask("worktree", task=task)
        (folder / "later.txt").write_text("later\n")
        refused = await one.answer("do", name="worktree_discard", arguments={"task": task, "left": report["left"]})
        assert (refused["type"], "later.txt" in refused["text"], folder.exists()) == ("refused", True, True)
        own = await one.begin(halo, "hello", model=halo.script(DONE))
        for name in ("worktree_merge", "worktree_undo", "worktree_discard"):
            refused = await one.answer("do", name=name, arguments={"task": own})
            assert (refused["type"], "in no worktree" in refused["text"]) == ("refused", True)


@pytest.mark.parametrize(("width", "theme"), [(320, "light"), (390, "dark"), (1100, "light"), (1100, "dark")])
async def test_it_has_no_barriers_and_does_not_scroll_sideways(server, opened, halo, width: int, theme: str) -> None:
    await work_in_worktree(halo)
    write_lines(halo.folder / "a.txt", n4="of the person")
    await server.start()
    screen = await opened(path="board", width=width, theme=theme)
    await screen.sees("1 conflict", ".board")
    assert await screen.barriers() == []
    await open_sheet(screen)
    await press(screen, "Discard the worktree…")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
