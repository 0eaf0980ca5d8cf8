"""The changes that a commit would hold: what is listed, what is read, and what is not."""

from pathlib import Path

import pytest
from tests.git.conftest import Git

from halocline.git.commit_diff import HIDDEN, LARGEST_NEW, read_commit_diff
from halocline.git.repository import NoRepository
from halocline.ports.revisions import CommitDiff


async def read(folder: Path, *paths: str, everything: bool = False, **kept_back: str) -> CommitDiff:
    """Read the changes; files of the names in `kept_back` are kept back for that reason."""
    reasons = {name.replace("_", "."): reason for name, reason in kept_back.items()}
    judge = lambda top: lambda path: reasons.get(path.name, "")
    return await read_commit_diff(folder, judge, paths=paths, everything=everything)


def listed(diff: CommitDiff) -> list[tuple[str, str, str]]:
    return [(file.letter, file.path, file.left_out) for file in diff.files]


async def test_what_is_staged_counts_and_without_it_everything(repository: Path, git: Git) -> None:
    (repository / "new.txt").write_text("new\n")
    every = await read(repository)
    assert (every.staged, listed(every)) == (False, [("M", "a.txt", ""), ("?", "new.txt", "")])
    assert every.subjects == ("Begin",)
    git(repository, "rm", "--quiet", "b.txt")
    staged = await read(repository)
    assert (staged.staged, listed(staged)) == (True, [("D", "b.txt", "")])
    (section,) = staged.sections
    assert section.endswith("\n-b")
    assert len((await read(repository, everything=True)).files) == 3
    assert listed(await read(repository, "a.txt", "b.txt")) == [("M", "a.txt", ""), ("D", "b.txt", "")]


async def test_all_of_the_repository_counts_also_from_a_folder_in_it_whose_paths_are_its_own(
    repository: Path, git: Git
) -> None:
    (repository / "sub").mkdir()
    (repository / "sub/[x]*.txt").write_text("one\ntwo")
    (repository / "sub/other.txt").write_text("other\n")
    assert [file.path for file in (await read(repository / "sub")).files] == ["a.txt", "sub/[x]*.txt", "sub/other.txt"]
    (section,) = (await read(repository / "sub", "[x]*.txt")).sections
    assert section.split("\n")[1:] == ["new file, not tracked yet", "@@ -0,0 +1,2 @@", "+one", "+two"]


async def test_a_repository_without_a_commit_is_compared_with_nothing(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "--quiet", "w")
    folder = tmp_path / "w"
    assert await read(folder) == CommitDiff(False, (), 0, (), ())
    (folder / "a.txt").write_text("a\n")
    assert listed(await read(folder)) == [("?", "a.txt", "")]
    git(folder, "add", "a.txt")
    assert listed(await read(folder)) == [("A", "a.txt", "")]
    with pytest.raises(NoRepository):
        await read(tmp_path)


async def test_lines_that_are_kept_back_are_not_read_under_any_name(repository: Path, git: Git) -> None:
    (repository / ".env").write_text("KEY=one-secret\n" * 20)
    git(repository, "add", ".env")
    git(repository, "commit", "--quiet", "-m", "Add")
    git(repository, "mv", ".env", "settings.txt")
    (repository / "own.txt").write_text("hidden\n")
    git(repository, "add", "own.txt", "a.txt")
    diff = await read(repository, _env="may hold secrets", own_txt=HIDDEN)
    assert listed(diff) == [("M", "a.txt", ""), ("R", "settings.txt", "may hold secrets")]
    assert (diff.hidden, diff.files[1].old) == (1, ".env")
    assert "secret" not in "".join(diff.sections)
    assert "hidden" not in "".join(diff.sections)


async def test_binary_generated_and_large_files_are_only_listed(repository: Path, git: Git) -> None:
    (repository / ".gitattributes").write_text("made.txt linguist-generated\nreal.lock -linguist-generated\n")
    for name in ("made.txt", "real.lock", "package-lock.json"):
        (repository / name).write_text("text\n")
    (repository / "image.png").write_bytes(b"\x89PNG\0")
    (repository / "large.txt").write_text("x" * (LARGEST_NEW + 1))
    expected = {"made.txt": "generated", "package-lock.json": "generated", "real.lock": "", "image.png": "binary"}
    untracked = {file.path: file.left_out for file in (await read(repository)).files}
    assert untracked | {**expected, "large.txt": "too large"} == untracked
    git(repository, "add", "--all")
    staged = {file.path: file.left_out for file in (await read(repository)).files}
    assert staged | expected == staged


async def test_a_link_and_a_repository_of_its_own_are_named_and_not_entered(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("far away\n")
    (repository / "link").symlink_to(tmp_path / "outside.txt")
    git(repository, "init", "--quiet", "inner")
    (repository / "inner/x").write_text("x\n")
    git(repository / "inner", "add", "x")
    git(repository / "inner", "-c", "commit.gpgSign=false", "commit", "--quiet", "-m", "Inner")
    diff = await read(repository)
    assert listed(diff)[1:] == [("?", "inner/", "a repository"), ("?", "link", "not a regular file")]
    assert "far away" not in "".join(diff.sections)


async def test_no_program_of_the_repository_runs_and_its_index_stays(repository: Path, git: Git) -> None:
    for key in ("diff.external", "diff.x.textconv", "core.fsmonitor", "filter.x.clean", "core.pager"):
        git(repository, "config", key, f"touch {repository}/ran; cat")
    (repository / ".gitattributes").write_text("* diff=x filter=x\n")
    (repository / "new.txt").write_text("new\n")
    before = (repository / ".git/index").read_bytes()
    assert "+changed" in "".join((await read(repository)).sections)
    assert not (repository / "ran").exists()
    assert (repository / ".git/index").read_bytes() == before
