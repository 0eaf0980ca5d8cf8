"""What every fulfilment of `ports.diagnostics.Diagnostics` keeps to."""

import sys
from pathlib import Path

import pytest
from tests.hosts.language_servers.conftest import Site

from halocline.hosts.language_servers.servers import LanguageServers
from halocline.ports.diagnostics import Diagnostics, EditedText, NoDiagnostics


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return Site(tmp_path).workspace


@pytest.fixture(params=["off", "no server", "scripted server", "ruff"])
async def diagnostics(request: pytest.FixtureRequest, tmp_path: Path, workspace: Path):
    path = {"ruff": str(Path(sys.executable).parent), "scripted server": str(tmp_path / "bin")}.get(request.param, "")
    if request.param == "scripted server":
        Site(tmp_path).install("versioned")
    off = request.param == "off"
    made = NoDiagnostics() if off else LanguageServers(workspace, 0.5, environment={"PATH": f"{path}:/usr/bin:/bin"})
    yield made
    await made.close()


async def test_whatever_is_asked_about_a_file_that_is_not_there_is_answered(
    diagnostics: Diagnostics, workspace: Path
) -> None:
    diagnostics.expect(workspace / "gone.py")
    assert await diagnostics.introduced([]) == ()
    assert await diagnostics.introduced([EditedText(workspace / "gone.py", "x", None)]) == ()
    assert not await diagnostics.current([workspace / "gone.py"])
    assert diagnostics.late() == ()


async def test_names_that_nobody_knows_start_nothing(diagnostics: Diagnostics, workspace: Path) -> None:
    assert not diagnostics.knows(workspace / "notes.txt")
    assert await diagnostics.introduced([EditedText(workspace / "notes.txt", None, "BAD")]) == ()
    assert await diagnostics.current([]) in (None, ())


async def test_nothing_is_known_once_it_is_closed_and_closing_twice_is_no_harm(
    diagnostics: Diagnostics, workspace: Path
) -> None:
    diagnostics.expect(workspace / "a.py")
    await diagnostics.close()
    assert not diagnostics.knows(workspace / "a.py")
    assert await diagnostics.introduced([EditedText(workspace / "a.py", None, "BAD(")]) == ()
