import subprocess
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo

pytestmark = [pytest.mark.process, pytest.mark.slow]
DONE = {"text": "Done."}


@pytest.fixture
def main(halo: Halo) -> Path:
    (halo.folder / "a.txt").write_text("1\n2\n3\n4\n5\n")
    for words in ("init -qb main", "add .", "-c user.name=x -c user.email=x@y commit -qm Start"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, env=halo.env, check=True)
    return halo.folder


async def test_overlapping_lines_are_shown_and_the_exit_code_says_that_something_is_left(
    halo: Halo, main: Path
) -> None:
    assert (await halo.run("-p", "-w", "x", "-m", halo.script(DONE), "hi")).code == 0
    worktree = halo.root / "project-worktrees" / "x"
    (worktree / "a.txt").write_text("1\n2\ntheirs\n4\n5\n")
    (worktree / "new.txt").write_text("new\n")
    (main / "a.txt").write_text("0\n1\n2\nours\n4\n5\n")
    done = await halo.run("worktrees", "merge", "x")
    assert (done.code, done.out.splitlines()) == (
        1,
        [
            "Merged 1 file into the main folder; nothing is committed.",
            "  new  new.txt",
            "  conflict  a.txt",
            "    line 4",
            "    main folder:",
            "      ours",
            "    worktree:",
            "      theirs",
            "To undo: halo worktrees undo x",
        ],
    )
    assert "1 file not merged." in done.err
    refused = await halo.run("worktrees", "discard", "x")
    assert (refused.code, "not merged: a.txt" in refused.err, worktree.exists()) == (1, True, True)
    assert (await halo.run("worktrees", "merge", "x", "--theirs")).code == 0
    assert (main / "a.txt").read_text() == "0\n1\n2\ntheirs\n4\n5\n"
    assert (await halo.run("worktrees", "discard", "x")).code == 0
    assert not worktree.exists()


async def test_the_last_line_of_a_discard_gets_the_work_back(halo: Halo, main: Path) -> None:
    await halo.run("-p", "-w", "x", "-m", halo.script(DONE), "hi")
    worktree = halo.root / "project-worktrees" / "x"
    (worktree / "a.txt").write_text("changed\n")
    (worktree / "new.txt").write_text("new\n")
    gone = await halo.run("worktrees", "discard", "x", "--force")
    assert not worktree.exists()
    again, _, back = gone.out.splitlines()[-1].partition("To get it back: ")[2].partition(" && halo ")
    subprocess.run(again.split(), cwd=main, env=halo.env, check=True)
    assert (await halo.run(*back.split())).code == 0
    assert ((worktree / "a.txt").read_text(), (worktree / "new.txt").read_text()) == ("changed\n", "new\n")


async def test_the_command_for_new_worktrees_runs_once_if_the_gate_allows_it(halo: Halo, main: Path) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('worktree_setup = "echo once >> set-up"\n')
    asked = await halo.run("-p", "-w", "one", "-m", halo.script(DONE), "hi")
    assert (asked.code, "did not run, because" in asked.err, "echo once" in asked.err) == (0, True, True)
    for _ in range(2):
        assert (await halo.run("-p", "-y", "-w", "two", "-m", halo.script(DONE), "hi")).code == 0
    made = halo.root / "project-worktrees"
    assert not (made / "one/set-up").exists()
    assert (made / "two/set-up").read_text() == "once\n"


async def test_a_folder_that_is_not_trusted_brings_no_command_for_new_worktrees(halo: Halo, main: Path) -> None:
    (main / ".halocline").mkdir()
    (main / ".halocline/settings.toml").write_text('worktree_setup = "touch set-up"\n')
    for words in ("add .", "-c user.name=x -c user.email=x@y commit -qm More"):
        subprocess.run(["git", *words.split()], cwd=main, env=halo.env, check=True)
    await halo.run("-p", "-y", "-w", "one", "-m", halo.script(DONE), "hi")
    await halo.run("trust", "add")
    await halo.run("-p", "-y", "-w", "two", "-m", halo.script(DONE), "hi")
    made = halo.root / "project-worktrees"
    assert ((made / "one/set-up").exists(), (made / "two/set-up").exists()) == (False, True)


async def test_one_file_is_settled_alone_and_the_undo_names_what_it_left(halo: Halo, main: Path) -> None:
    await halo.run("-p", "-w", "x", "-m", halo.script(DONE), "hi")
    worktree = halo.root / "project-worktrees" / "x"
    for place, text in ((worktree, "theirs"), (main, "ours")):
        (place / "a.txt").write_text(f"1\n2\n{text}\n4\n5\n")
        (place / "b.txt").write_text(f"{text}\n")
    done = await halo.run("worktrees", "merge", "x", "--theirs", "--only", "b.txt")
    assert (done.code, (main / "a.txt").read_text()) == (0, "1\n2\nours\n4\n5\n")
    done = await halo.run("worktrees", "merge", "x", "--ours", "--only", "a.txt")
    assert (done.code, done.out.splitlines()[0]) == (0, "Settled; no file of the main folder changes.")
    assert (await halo.run("worktrees", "merge", "x")).out == "Nothing to merge from x.\n"
    assert (await halo.run("worktrees", "undo", "x")).out == "Undone; no file had to change.\n"
    (main / "b.txt").write_text("edited since\n")
    (main / "mine.txt").write_text("mine\n")
    undone = await halo.run("worktrees", "undo", "x")
    assert (undone.code, undone.out.splitlines()) == (
        1,
        ["Undone; no file had to change.", "  not undone, because you changed the same lines since  b.txt"],
    )
    assert "mine.txt" not in undone.err


async def test_a_merge_says_what_became_of_each_file_and_fails_over_a_repository_that_it_leaves(
    halo: Halo, main: Path
) -> None:
    (main / "gone.txt").write_text("old\n")
    for words in ("add .", "-c user.name=x -c user.email=x@y commit -qm More"):
        subprocess.run(["git", *words.split()], cwd=main, env=halo.env, check=True)
    await halo.run("-p", "-w", "x", "-m", halo.script(DONE), "hi")
    undone = await halo.run("worktrees", "undo", "x")
    assert (undone.code, "Nothing was merged from x" in undone.err) == (2, True)
    worktree = halo.root / "project-worktrees" / "x"
    (worktree / "a.txt").write_text("1\n2\ntheirs\n4\n5\n")
    (main / "a.txt").write_text("1\n2\nours\n4\n5\n")
    (worktree / "new.txt").write_text("new\n")
    (worktree / "gone.txt").unlink()
    assert (await halo.run("worktrees", "merge", "x", "--markers")).out.splitlines()[1:4] == [
        "  new  new.txt",
        "  deleted  gone.txt",
        "  has conflict markers now  a.txt",
    ]
    subprocess.run(["git", "init", "-q", "lib"], cwd=worktree, env=halo.env, check=True)
    (worktree / "lib/a.txt").write_text("own\n")
    left = await halo.run("worktrees", "merge", "x")
    assert (left.code, "(a repository of its own)  lib" in left.out) == (1, True)
    assert "1 in repositories of their own not merged." in left.err
