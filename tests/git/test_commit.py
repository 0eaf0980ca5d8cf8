"""Only what was chosen is committed, with git's hooks, and what else is staged stays staged."""

import os
import subprocess
from pathlib import Path

import pytest

from halocline.git.commit import commit_files as commit_with, list_uncommitted
from halocline.ports.revisions import Committed
from halocline.protocol.errors import UsageError


async def commit(place: Path, paths: list[str], message: str) -> Committed:
    """As a person does it who was shown what it runs."""
    return await commit_with(place, paths, message, os.environ, (await list_uncommitted(place)).runs)


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
    said = await commit(place, ["one", "gone", "sub/new"], "# Title\n\nWhy.")
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
    (file,) = (await list_uncommitted(place)).files
    assert (file.path, file.state, file.staged, file.unstaged) == ("part", "changed", True, True)
    await commit(place, ["part"], "Part")
    assert git(place, "show", "HEAD:part") == "1 staged\n2\n3 not\n"
    assert git(place, "status", "--porcelain") == ""


async def test_when_a_hook_refuses_nothing_is_committed_or_staged(place: Path) -> None:
    hook(place, 'echo "no tabs, please" >&2; exit 1')
    (place / "one").write_text("one\n")
    (place / "new").write_text("new\n")
    with pytest.raises(UsageError, match="no tabs, please"):
        await commit(place, ["one", "new"], "Try")
    assert git(place, "status", "--porcelain") == " M one\n?? new\n"


async def test_hooks_run_in_the_environment_that_was_chosen(place: Path) -> None:
    hook(place, 'echo "key: $SOME_API_KEY."; git ls-files "on*"')
    (place / "one").write_text("one\n")
    environment = {**os.environ, "SOME_OTHER": "k-1"}
    said = (await commit_with(place, ["one"], "With a hook", environment, [".git/hooks/pre-commit"])).said
    assert "key: ." in said
    assert "\none\n" in said


async def test_a_program_that_the_person_was_not_shown_is_named_and_nothing_is_run(place: Path) -> None:
    hook(place, "touch ran")
    git(place, "config", "filter.x.clean", "touch ran; cat")
    (place / "one").write_text("one\n")
    assert (await list_uncommitted(place)).runs == (".git/hooks/pre-commit", "filter.x.clean = touch ran; cat")
    with pytest.raises(UsageError, match=r"not seen: filter.x.clean = touch ran; cat. Nothing was committed"):
        await commit_with(place, ["one"], "Try", os.environ, [".git/hooks/pre-commit"])
    assert not (place / "ran").exists()


async def test_names_are_taken_as_they_are(place: Path) -> None:
    for name in ("[a]*", "one", ":(top)x", "ü"):
        (place / name).write_text("other\n")
    await commit(place, ["[a]*", ":(top)x", "ü"], "Odd names")
    assert git(place, "status", "--porcelain") == " M one\n"


async def test_a_part_of_a_repository_commits_before_there_was_any_commit(tmp_path: Path, place: Path) -> None:
    sub = tmp_path / "other/sub"
    sub.mkdir(parents=True)
    git(tmp_path / "other", "init", "--quiet", "-b", "first")
    (sub / "a").write_text("a\n")
    (tmp_path / "other/outside").write_text("a\n")
    found = await list_uncommitted(sub)
    assert (found.branch, [file.path for file in found.files]) == ("first", ["a"])
    assert (await commit(sub, ["a"], "First")).subject == "First"
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
    found = await list_uncommitted(place)
    assert (found.under_way, [file.state for file in found.files]) == ("A merge", ["in conflict"])
    with pytest.raises(UsageError, match="partial commit during a merge"):
        await commit(place, ["one"], "Try")
    with pytest.raises(UsageError, match="is not a git repository"):
        await list_uncommitted(tmp_path_factory.mktemp("plain"))
