from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo


@pytest.fixture
def halo(tmp_path: Path) -> Iterator[Halo]:
    halo = Halo(tmp_path)
    yield halo
    halo.clean_up()
