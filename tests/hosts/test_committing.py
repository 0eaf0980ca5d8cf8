"""Only what was chosen is committed, with git's hooks, and what else is staged stays staged."""

import subprocess
from pathlib import Path

import pytest

from halocline.hosts.committing import commit, uncommitted
from halocline.protocol.errors import UsageError

NONE: frozenset[str] = frozenset()


def git(folder: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {"NAME": "A", "EMAIL": "a@example.org"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    git(tmp_path, "init", "--quiet", "-b", "main")
    for name in ("one", "two", "gone", "part", "[a]*"):
        (tmp_path / name).write_text("1\n2\n3\n")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "Begin")
    return tmp_path


def hook(place: Path, text: str) -> None:
    path = place / ".git/hooks/pre-commit"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


async def test_the_chosen_files_are_committed_and_the_rest_stays_as_it_was(place: Path) -> None:
    (place / "one").write_text("one\n")
    (place / "two").write_text("two\n")
    (place / "gone").unlink()
    (place / "sub").mkdir()
    (place / "sub/new").write_text("new\n")
    (place / "staged").write_text("staged\n")
    git(place, "add", "staged", "two")
    said = await commit(place, ["one", "gone", "sub/new"], "# Title\n\nWhy.", NONE)
    assert (said.subject, said.files) == ("# Title", 3)
    assert git(place, "show", "--format=%B", "--name-status").split() == [
        *("#", "Title", "Why."),
        *("D", "gone", "M", "one", "A", "sub/new"),
    ]
    assert git(place, "status", "--porcelain") == "A  staged\nM  two\n"


async def test_a_file_that_is_staged_in_part_says_so_and_is_committed_whole(place: Path) -> None:
    (place / "part").write_text("1 staged\n2\n3\n")
    git(place, "add", "part")
    (place / "part").write_text("1 staged\n2\n3 not\n")
    (file,) = (await uncommitted(place)).files
    assert (file.path, file.state, file.staged, file.unstaged) == ("part", "changed", True, True)
    await commit(place, ["part"], "Part", NONE)
    assert git(place, "show", "HEAD:part") == "1 staged\n2\n3 not\n"
    assert git(place, "status", "--porcelain") == ""


async def test_when_a_hook_refuses_nothing_is_committed_or_staged(place: Path) -> None:
    hook(place, 'echo "no tabs, please" >&2; exit 1')
    (place / "one").write_text("one\n")
    (place / "new").write_text("new\n")
    with pytest.raises(UsageError, match="no tabs, please"):
        await commit(place, ["one", "new"], "Try", NONE)
    assert git(place, "status", "--porcelain") == " M one\n?? new\n"


async def test_hooks_run_and_get_no_keys(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k-1")
    hook(place, 'echo "key: $SOME_API_KEY."; git ls-files "on*"')
    (place / "one").write_text("one\n")
    said = (await commit(place, ["one"], "With a hook", frozenset({"SOME_API_KEY"}))).said
    assert "key: ." in said
    assert "\none\n" in said


async def test_names_are_taken_as_they_are(place: Path) -> None:
    for name in ("[a]*", "one", ":(top)x", "ü"):
        (place / name).write_text("other\n")
    await commit(place, ["[a]*", ":(top)x", "ü"], "Odd names", NONE)
    assert git(place, "status", "--porcelain") == " M one\n"


async def test_a_part_of_a_repository_commits_before_there_was_any_commit(tmp_path: Path, place: Path) -> None:
    sub = tmp_path / "other/sub"
    sub.mkdir(parents=True)
    git(tmp_path / "other", "init", "--quiet", "-b", "first")
    (sub / "a").write_text("a\n")
    (tmp_path / "other/outside").write_text("a\n")
    found = await uncommitted(sub)
    assert (found.branch, [file.path for file in found.files]) == ("first", ["a"])
    assert (await commit(sub, ["a"], "First", NONE)).subject == "First"
    assert git(tmp_path / "other", "status", "--porcelain") == "?? outside\n"


async def test_a_merge_under_way_and_a_folder_without_git_are_named(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(place, "switch", "--quiet", "-c", "side")
    (place / "one").write_text("side\n")
    git(place, "commit", "--quiet", "-am", "Side")
    git(place, "switch", "--quiet", "main")
    (place / "one").write_text("main\n")
    git(place, "commit", "--quiet", "-am", "Main")
    subprocess.run(["git", "merge", "side"], cwd=place, check=False, capture_output=True)
    found = await uncommitted(place)
    assert (found.under_way, [file.state for file in found.files]) == ("A merge", ["in conflict"])
    with pytest.raises(UsageError, match="partial commit during a merge"):
        await commit(place, ["one"], "Try", NONE)
    with pytest.raises(UsageError, match="is no git repository"):
        await uncommitted(tmp_path_factory.mktemp("plain"))
