import asyncio
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st
from tests.checkpoints.bench import Bench, contents, git, seen
from tests.samples import choose

from halocline.checkpoints.saved import Limits
from halocline.protocol.errors import UsageError

LEAVES = st.one_of(
    st.tuples(st.sampled_from(["file", "program"]), st.binary(max_size=8)),
    st.tuples(st.just("link"), st.sampled_from([b"a", b"..", b"nowhere", b"/tmp"])),
)
TREES = st.recursive(
    LEAVES, lambda children: st.dictionaries(st.sampled_from("abc d"), children, max_size=3), max_leaves=6
)
FOLDERS = st.dictionaries(st.sampled_from("abc d"), TREES, max_size=3)


def build(place: Path, tree: Any) -> None:
    match tree:
        case ("link", target):
            place.symlink_to(os.fsdecode(target))
        case (kind, data):
            place.write_bytes(data)
            place.chmod(0o755 if kind == "program" else 0o644)
        case _:
            place.mkdir(exist_ok=True)
            for name, child in tree.items():
                build(place / name, child)


def rebuild(bench: Bench, tree: Any) -> dict[str, tuple[str, bytes]]:
    shutil.rmtree(bench.workspace, ignore_errors=True)
    build(bench.workspace, tree)
    return contents(bench.workspace)


async def there_and_back(bench: Bench, before: Any, after: Any) -> None:
    first = rebuild(bench, before)
    shadow = await bench.begun()
    second = rebuild(bench, after)
    await seen(shadow)
    planned = await shadow.plan("1")
    assert contents(bench.workspace) == second
    restored = await shadow.restore("1")
    assert contents(bench.workspace) == first
    assert sorted(restored.changed) == sorted(planned.creates + planned.overwrites + planned.deletes)
    assert restored.kept == planned.kept == ()
    await shadow.restore(restored.undo)
    assert contents(bench.workspace) == second


UP = ("link", b"..")


@settings(max_examples=choose(12, 3), deadline=None)
@given(before=FOLDERS, after=FOLDERS)
@example(before={"a": UP}, after={"a": {"b": {"c": UP}}})  # a/b/c leads to a, but deleting it does not delete a
@pytest.mark.slow
def test_restoring_gives_exactly_the_checkpoint_and_its_undo_exactly_what_was_before(before: Any, after: Any) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        bench = Bench(workspace=place / "work", store=place / "store", home=place / "home")
        bench.workspace.mkdir()
        asyncio.run(there_and_back(bench, before, after))


async def with_a_persons_edits(bench: Bench, trees: tuple[Any, Any, Any], *, overwrite: bool) -> None:
    before, after, mine = trees
    rebuild(bench, before)
    shadow = await bench.begun()
    second = rebuild(bench, after)
    await seen(shadow)
    third = rebuild(bench, mine)
    restored = await shadow.restore("1", overwrite=overwrite)
    now = contents(bench.workspace)
    untouched = {name: kept for name, kept in third.items() if name not in second}
    assert {name: now.get(name) for name in untouched if name not in restored.changed} == {
        name: kept for name, kept in untouched.items() if name not in restored.changed
    }
    assert [name for name in third if name not in now and name not in second] == []
    await shadow.restore(restored.undo, overwrite=overwrite)
    assert contents(bench.workspace) == third


@settings(max_examples=choose(10, 3), deadline=None)
@given(before=FOLDERS, after=FOLDERS, mine=FOLDERS, overwrite=st.booleans())
def test_whatever_a_person_changed_since_an_undo_gives_exactly_what_was_before(
    before: Any, after: Any, mine: Any, overwrite: bool
) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        bench = Bench(workspace=place / "work", store=place / "store", home=place / "home")
        bench.workspace.mkdir()
        asyncio.run(with_a_persons_edits(bench, (before, after, mine), overwrite=overwrite))


async def test_a_plan_names_what_would_be_made_overwritten_and_deleted(bench: Bench) -> None:
    bench.write("changed.txt", "old")
    bench.write("gone.txt", "gone")
    shadow = await bench.begun()
    bench.write("changed.txt", "new")
    bench.write("made/later.txt", "later")
    (bench.workspace / "gone.txt").unlink()
    await seen(shadow)
    plan = await shadow.plan("1")
    assert (plan.creates, plan.overwrites, plan.deletes) == (("gone.txt",), ("changed.txt",), ("made/later.txt",))


async def test_ignored_and_left_out_files_stay(bench: Bench) -> None:
    bench.write(".gitignore", "notes/\n")
    shadow = await bench.begun(limits=Limits(largest=1000))
    bench.write("notes/mine.txt", "mine")
    bench.write("debug.tmp", "log")
    bench.write("huge.txt", "x" * 2000)
    bench.write("made.txt", "made")
    await seen(shadow)
    await shadow.restore("1")
    assert set(contents(bench.workspace)) == {".gitignore", "notes/mine.txt", "debug.tmp", "huge.txt"}


async def test_a_rule_that_only_the_present_has_does_not_cost_the_files_it_ignores(bench: Bench) -> None:
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    bench.write(".gitignore", "secret.txt\n")
    bench.write("secret.txt", "secret")
    await seen(shadow)
    restored = await shadow.restore("1")
    assert restored.changed == (".gitignore",)
    assert set(contents(bench.workspace)) == {"a.txt", "secret.txt"}


async def test_a_file_that_grew_over_the_limit_is_not_overwritten(bench: Bench) -> None:
    bench.write("data.txt", "one")
    shadow = await bench.begun(limits=Limits(largest=1000))
    bench.write("data.txt", "two")
    shadow.take("edit")
    await shadow.settle()
    bench.write("data.txt", "x" * 2000)
    await seen(shadow)
    restored = await shadow.restore("1")
    assert restored.kept == ("data.txt",)
    assert (bench.workspace / "data.txt").read_text() == "x" * 2000


@pytest.mark.parametrize("taken_by", ["file", "folder", "link", "repository"])
async def test_what_the_store_does_not_know_is_never_overwritten(bench: Bench, tmp_path: Path, taken_by: str) -> None:
    bench.write("place/a.txt", "a")
    shadow = await bench.begun()
    shutil.rmtree(bench.workspace / "place")
    bench.write(".gitignore", "/place\n/place/\n")
    shadow.take("gone")
    await shadow.settle()
    outside = tmp_path / "outside"
    outside.mkdir()
    match taken_by:
        case "file":
            bench.write("place", "mine")
        case "folder":
            bench.write("place/a.txt/mine.txt", "mine")
        case "link":
            (bench.workspace / "place").symlink_to(outside)
        case "repository":
            bench.write("place/.git/HEAD", "ref: refs/heads/main\n")
            bench.write("place/a.txt", "mine")
    before = contents(bench.workspace)
    restored = await shadow.restore("1")
    assert restored.kept == ("place/a.txt",)
    assert contents(bench.workspace) == {name: kept for name, kept in before.items() if name != ".gitignore"}
    assert contents(outside) == {}


async def test_a_link_that_took_a_folders_place_is_replaced_and_never_written_through(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write("place/a.txt", "a")
    shadow = await bench.begun()
    shutil.rmtree(bench.workspace / "place")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs")
    (bench.workspace / "place").symlink_to(outside)
    await seen(shadow)
    restored = await shadow.restore("1")
    assert (bench.workspace / "place" / "a.txt").read_text() == "a"
    assert (outside / "a.txt").read_text() == "theirs"
    await shadow.restore(restored.undo)
    assert (bench.workspace / "place").readlink() == outside
    assert (outside / "a.txt").read_text() == "theirs"


async def test_a_file_with_another_name_elsewhere_is_not_written_through(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    bench.write("a.txt", "changed")
    os.link(bench.workspace / "a.txt", tmp_path / "other-name.txt")
    await seen(shadow)
    await shadow.restore("1")
    assert (bench.workspace / "a.txt").read_text() == "a"
    assert (tmp_path / "other-name.txt").read_text() == "changed"


async def test_folders_that_a_restore_empties_go_and_those_that_were_empty_stay(bench: Bench) -> None:
    (bench.workspace / "empty").mkdir()
    shadow = await bench.begun()
    bench.write("deep/er/file.txt", "x")
    await seen(shadow)
    await shadow.restore("1")
    assert [path.name for path in bench.workspace.iterdir()] == ["empty"]


async def test_a_restore_in_another_task_finds_the_checkpoint_by_task_and_by_hash(bench: Bench) -> None:
    bench.write("a.txt", "one")
    await bench.begun("t1")
    bench.write("a.txt", "two")
    shadow = await bench.begun("t2")
    await shadow.restore("t1/1", overwrite=True)
    assert (bench.workspace / "a.txt").read_text() == "one"
    second = (await shadow.list("t2"))[0]
    assert second.is_named("t2/1")
    assert second.is_named(second.sha[:12])
    await shadow.restore(second.sha[:12], overwrite=True)
    assert (bench.workspace / "a.txt").read_text() == "two"


@pytest.mark.parametrize("target", ["7", "nowhere", "HEAD", "-x", "", "a b", "refs/heads/main", "line\ncommit x"])
async def test_an_unknown_checkpoint_is_named_and_nothing_is_touched(bench: Bench, target: str) -> None:
    bench.write("a.txt", "one")
    shadow = await bench.begun()
    bench.write("a.txt", "two")
    with pytest.raises(UsageError):
        await shadow.restore(target)
    assert (bench.workspace / "a.txt").read_text() == "two"
    assert len(await shadow.list()) == 1


async def test_asking_where_nothing_was_saved_makes_no_store(bench: Bench) -> None:
    shadow = bench.shadow()
    assert await shadow.list() == ()
    with pytest.raises(UsageError):
        await shadow.plan("1")
    assert not bench.store.exists()


async def test_a_file_whose_saved_content_is_lost_is_kept_and_reported(bench: Bench) -> None:
    for name in ("a.txt", "b.txt"):
        bench.write(name, f"{name} one")
    shadow = await bench.begun()
    for name in ("a.txt", "b.txt"):
        bench.write(name, f"{name} two")
    lost = blob_of(bench, "a.txt")
    (bench.repository / "objects" / lost[:2] / lost[2:]).unlink()
    await seen(shadow)
    restored = await shadow.restore("1")
    assert (restored.changed, restored.kept, restored.lost) == (("b.txt",), (), ("a.txt",))
    assert (bench.workspace / "b.txt").read_text() == "b.txt one"


def blob_of(bench: Bench, name: str) -> str:
    return git(bench.workspace, f"--git-dir={bench.repository}", "rev-parse", f"refs/halocline/t1/1:{name}").strip()
