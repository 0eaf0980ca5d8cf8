import json

from tests.surfaces.cli.halo_process import Halo, call

WRITES = {"call": [call("read_file", path="note.txt"), call("write_to_file", path="note.txt", content="after\n")]}


async def made_task(halo: Halo) -> str:
    (halo.folder / "note.txt").write_text("before\n")
    done = await halo.run("-y", "-p", "-m", halo.script(WRITES, {"text": "Hello."}), "write a note")
    assert done.code == 0
    return halo.tasks[-1]


async def test_storage_says_what_is_kept_and_whose_it_is(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("storage")
    assert (done.code, done.err) == (0, "")
    assert f"2 checkpoints  {halo.folder}" in done.out
    assert f"{task}  write a note" in done.out
    kept = json.loads((await halo.run("storage", "--json")).out)
    assert kept["total"] == sum(kept[part] for part in ("tasks", "blobs", "checkpoints", "trash", "caches", "other"))
    assert [use["task"] for use in kept["by_task"]] == [task]


async def test_pruning_shows_a_plan_and_does_nothing_unasked(halo: Halo) -> None:
    await made_task(halo)
    assert (await halo.run("storage", "prune")).out == "Nothing to free.\n"
    for words, code in ((("--dry-run",), 0), ((), 2)):
        done = await halo.run("storage", "prune", "--keep", "1", *words)
        assert (done.code, "1 checkpoint of" in done.out) == (code, True)
    assert "/2  " in (await halo.run("checkpoints", "list")).out
    assert (await halo.run("storage", "prune", "--keep", "1", "--yes")).out.splitlines()[-1].startswith("Freed ")
    assert len((await halo.run("checkpoints", "list")).out.splitlines()) == 1


async def test_an_age_that_is_none_is_explained(halo: Halo) -> None:
    done = await halo.run("storage", "prune", "--older", "soon")
    assert done.code == 2
    assert "'soon' is not an age such as 12h, 30d or 8w" in done.err
