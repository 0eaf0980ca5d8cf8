from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    workspace = tmp_path / "work"
    workspace.mkdir()
    return Bench(workspace=workspace, store=tmp_path / "data" / "checkpoints", home=tmp_path / "home")
