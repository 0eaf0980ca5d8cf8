import shutil
from collections.abc import Callable, Iterator

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

Open = Callable[..., TmuxTerminal]


@pytest.fixture
def open_terminal(halo: Halo) -> Iterator[Open]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    opened: list[TmuxTerminal] = []

    def open_one(columns: int = 80, rows: int = 24) -> TmuxTerminal:
        opened.append(TmuxTerminal(halo, columns, rows))
        return opened[-1]

    yield open_one
    for terminal in opened:
        terminal.close()
