"""What a release needs of its commit, and that a rehearsal makes every file of one."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from scripts.build_version import NAMED
from scripts.release import find_faults, list_foreign_names
from scripts.single_file import lock_of_product
from tests.architecture.sources import ROOT

pytestmark = pytest.mark.process


def git(root: Path, *words: str) -> str:
    ours = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *ours, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        NAMED: '__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changes\n\n## 1.2.3 (2026-11-29)\n",
        "editors/vscode/package.json": '{"version": "1.2.3"}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Start")
    return tmp_path


def test_a_commit_that_has_all_is_fit(project: Path) -> None:
    assert list(find_faults(project)) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("CHANGELOG.md", "## 1.2.3 (Unreleased)\n", "CHANGELOG.md has no heading"),
        ("editors/vscode/package.json", '{"version": "1.2.2"}', "package.json says 1.2.2"),
        (NAMED, '__version__ = "1.2.4"\n', "CHANGELOG.md has no heading"),
    ],
)
def test_what_a_commit_lacks_is_named(project: Path, name: str, text: str, fault: str) -> None:
    (project / name).write_text(text)
    assert "The work tree has changes" in "\n".join(find_faults(project))
    git(project, "commit", "-qam", "Change")
    found = list(find_faults(project))
    assert any(fault in one for one in found)
    assert all("work tree" not in one for one in found)


def test_a_version_is_released_once(project: Path) -> None:
    git(project, "tag", "v1.2.3")
    assert [fault.split(":")[0] for fault in find_faults(project)] == ["There is a tag v1.2.3 already"]


def test_nothing_may_be_published_under_a_name_that_is_not_ours() -> None:
    assert any("package index" in place for place in list_foreign_names(ROOT))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_rehearsal_makes_every_file_of_a_release_and_tags_nothing(tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", ROOT, "clone")
    clone = tmp_path / "clone"
    ran = subprocess.run(
        [sys.executable, "-m", "scripts.release", "--rehearse"],
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (place,) = (clone / "dist").iterdir()
    sums = dict(line.split("  ")[::-1] for line in (place / "SHA256SUMS").read_text().splitlines())
    assert {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in sums} == sums
    assert {Path(name).suffix for name in sums} >= {".whl", ".gz", ".vsix", ".pyz", ".json", ".txt"}
    (wheel,) = place.glob("*.whl")
    with ZipFile(wheel) as zipped:
        assert any(name.endswith("licenses/LICENSE") for name in zipped.namelist())
    bill = json.loads((place / "halocline.cdx.json").read_text())
    notices = (place / "NOTICES.txt").read_text().splitlines()
    parts = [f"{part['name']} {part['version']}" for part in bill["components"] if "version" in part]
    assert set(parts) - set(notices) == set()
    assert git(clone, "tag", "--list") == git(ROOT, "tag", "--list")


def test_the_lock_of_a_release_has_a_hash_for_all_that_the_wheel_needs() -> None:
    rows = lock_of_product(ROOT)
    assert [name for name, row in rows.items() if "--hash=sha256:" not in row] == []
    assert {"msgspec", "rich", "soupsieve"} <= {*rows}
    assert "hatchling" not in rows
