"""A build says of which commit it is, so that a newer one replaces an older one."""

import subprocess
from pathlib import Path

import pytest
from packaging.version import Version
from scripts.build_version import NAMED, read_version


def git(root: Path, *words: str) -> str:
    ours = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *ours, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    named = tmp_path / NAMED
    named.parent.mkdir(parents=True)
    named.write_text('__version__ = "1.2.3"\n')
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Start")
    return tmp_path


def commit(project: Path) -> str:
    git(project, "commit", "-qm", "More", "--allow-empty")
    return read_version(project)


@pytest.mark.process
def test_a_later_commit_is_a_newer_version_and_a_release_newer_than_all_before_it(project: Path) -> None:
    found = [read_version(project), commit(project), commit(project)]
    assert found[0].startswith("1.2.3.dev1+g")
    assert found[0].endswith(git(project, "rev-parse", "HEAD~2")[:8])
    git(project, "tag", "v1.2.3")
    found.append(read_version(project))
    assert found[-1] == "1.2.3"
    assert sorted(found, key=Version) == found


@pytest.mark.process
def test_changed_files_are_no_release_and_are_told_apart(project: Path) -> None:
    git(project, "tag", "v1.2.3")
    (project / NAMED).write_text('# changed\n__version__ = "1.2.3"\n')
    assert read_version(project).endswith(".changed")


@pytest.mark.process
def test_an_archive_without_commits_is_no_release(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert read_version(project) == "1.2.3.dev0"
    (project / ".git").rename(project / "gone")
    assert read_version(project) == "1.2.3.dev0"
