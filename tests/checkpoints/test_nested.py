from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git


def nested(bench: Bench, place: str, commits: int = 1) -> Path:
    """A repository with a file of its own in the workspace."""
    folder = bench.write(f"{place}/code.txt", "code").parent
    git(folder, "init", "-q")
    for _ in range(commits):
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "inner")
    return folder


@pytest.mark.parametrize("commits", [0, 1])
async def test_the_files_of_a_nested_repository_are_saved_and_its_git_is_not_touched(
    bench: Bench, commits: int
) -> None:
    inner = nested(bench, "vendor/lib", commits)
    before = contents(inner / ".git")
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    bench.write("vendor/lib/deep/new.txt", "new")
    shadow.take("command")
    bench.write("vendor/lib/code.txt", "changed")
    shadow.take("edit in it", ["vendor/lib/code.txt"])
    await shadow.settle()
    assert bench.saved(1) == {"a.txt", "vendor/lib/code.txt"}
    assert bench.saved(2) == {"a.txt", "vendor/lib/code.txt", "vendor/lib/deep/new.txt"}
    await shadow.restore("1", overwrite=True)
    assert (inner / "code.txt").read_text() == "code"
    assert not (inner / "deep").exists()
    assert contents(inner / ".git") == before
    assert bench.notices == []


async def test_a_repository_in_a_repository_in_a_repository_is_saved(bench: Bench) -> None:
    nested(bench, "one/two/three")
    nested(bench, "one/two")
    nested(bench, "one")
    await bench.begun()
    assert bench.saved(1) == {"one/code.txt", "one/two/code.txt", "one/two/three/code.txt"}


async def test_a_nested_repository_that_comes_later_is_saved_with_many_files(bench: Bench) -> None:
    shadow = await bench.begun()
    nested(bench, "cloned")
    for n in range(100):
        bench.write(f"cloned/f{n}.txt", str(n))
    shadow.take("git clone")
    await shadow.settle()
    assert len(bench.saved(2)) == 101


async def test_a_nested_repository_without_files_is_no_hindrance(bench: Bench) -> None:
    empty = bench.workspace / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    bench.write("a.txt", "b")
    shadow.take("edit")
    await shadow.settle()
    assert bench.saved(1) == bench.saved(2) == {"a.txt"}
    assert contents(empty).keys() - {".git"} == {key for key in contents(empty) if key.startswith(".git/")}


async def test_what_a_nested_repository_ignores_stays_out(bench: Bench) -> None:
    nested(bench, "lib")
    bench.write("lib/.gitignore", "made/\n")
    bench.write("lib/made/out.txt", "out")
    bench.write("lib/.env", "KEY=1")
    await bench.begun()
    assert bench.saved(1) == {"lib/.gitignore", "lib/code.txt"}


async def test_a_submodule_is_saved_like_any_folder(bench: Bench, tmp_path: Path) -> None:
    bench.workspace, project = tmp_path / "origin", bench.workspace
    nested(bench, ".")
    origin, bench.workspace = bench.workspace, project
    git(project, "init", "-q")
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin), "sub")
    git(project, "commit", "-qm", "with a submodule")
    before = contents(project / ".git")
    shadow = await bench.begun()
    bench.write("sub/code.txt", "changed")
    shadow.take("command")
    await shadow.settle()
    assert bench.saved(1) == {".gitmodules", "sub/code.txt"}
    assert "+changed" in await shadow.diff("1", "2")
    assert contents(project / ".git") == before


async def test_a_folder_of_very_many_repositories_is_saved_without_them_and_says_so(bench: Bench) -> None:
    for n in range(31):
        nested(bench, f"r{n}", commits=0)
    bench.write("a.txt", "a")
    await bench.begun()
    assert bench.saved(1) == {"a.txt"}
    assert "r0, r1, r10 and 28 more" in bench.notices[0]
