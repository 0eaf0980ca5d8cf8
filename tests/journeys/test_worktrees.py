import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import YOLO, Journey

from halocline.client.worktrees import Choice, open_worktree
from halocline.protocol.errors import HaloclineError
from halocline.providers.scripted.model import Call, Turn

pytestmark = pytest.mark.process
LINES = "".join(f"{n}\n" for n in range(1, 21))


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words], cwd=folder, check=True)


def run(command: str) -> tuple[Turn, ...]:
    return Turn(calls=(Call("execute_command", {"command": command, "requires_approval": False}),)), Turn(text="Done.")


@pytest.mark.parametrize("place", ["subfolder", "link", "root"])
async def test_a_worktree_is_not_discarded_under_a_task_with_a_folder_in_it(journey: Journey, place: str) -> None:
    main = journey.workspace
    journey.write("sub/a.txt", LINES)
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "Start")):
        git(main, *words)
    folder = (await open_worktree(main, "one")).folder
    (link := main.with_name("link")).symlink_to(folder)
    journey.workspace = {"subfolder": folder / "sub", "link": link / "sub", "root": main}[place]
    client = journey.client(run("true"))
    try:
        await journey.open(client, replace(YOLO, roots=(str(folder),)) if place == "root" else YOLO)
        with pytest.raises(HaloclineError, match=f"Task {journey.task} is open in the worktree one"):
            await client.worktrees_in(main).discard("one", force=True)
        assert folder.exists()
    finally:
        await client.close()


async def test_two_tasks_work_side_by_side_and_a_person_merges_undoes_and_discards_what_they_did(
    journey: Journey,
) -> None:
    main = journey.workspace
    journey.write("a.txt", LINES)
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "Start")):
        git(main, *words)
    for name, edit in (("one", "s/^2$/two/"), ("two", "s/^18$/eighteen/")):
        journey.workspace = (await open_worktree(main, name)).folder
        await journey.run(*run(f"sed -i '{edit}' a.txt; echo {name} > {name}.txt"))
    (main / "a.txt").write_text(LINES.replace("10\n", "ten\n"))
    client = journey.client(run("sed -i 's/^eighteen$/18!/' a.txt"))
    worktrees = client.worktrees_in(main)
    try:
        one, two = await worktrees.list()
        assert (one.unmerged, two.unmerged) == (("a.txt", "one.txt"), ("a.txt", "two.txt"))
        assert len(worktrees.find_tasks(two)) == 1
        assert (await worktrees.merge("one")).is_whole
        assert (await worktrees.merge("two")).is_whole
        merged = LINES.replace("2\n", "two\n", 1).replace("10\n", "ten\n").replace("18\n", "eighteen\n")
        assert (main / "a.txt").read_text() == merged
        await worktrees.undo("one")
        assert (main / "a.txt").read_text() == merged.replace("two\n", "2\n", 1)
        assert (sorted(path.name for path in main.glob("*.txt"))) == ["a.txt", "two.txt"]

        await journey.open(client, YOLO)  # in the second worktree
        with pytest.raises(HaloclineError, match="is open in the worktree two"):
            await worktrees.discard("two", force=True)
        await journey.prompt(client)
        await client.let_go(journey.task)
        (main / "a.txt").write_text(merged.replace("eighteen", "EIGHTEEN"))
        done = await worktrees.merge("two")
        assert [hunk.ours for hunk in done.merged.conflicts[0].hunks] == ["EIGHTEEN\n"]
        assert (await worktrees.merge("two", Choice.THEIRS)).is_whole
        await worktrees.discard("two")
        with pytest.raises(HaloclineError, match=r"one\.txt"):
            await worktrees.discard("one")
        assert (await worktrees.discard("one", force=True)).checkpoint
        assert await worktrees.list() == ()
    finally:
        await client.close()
