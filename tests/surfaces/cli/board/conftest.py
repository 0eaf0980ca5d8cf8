import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import pexpect
import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open, open_terminal
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

__all__ = ["begin", "open_terminal", "terminal"]

BOARD = f"{sys.executable} -m halocline board; echo code $?"


class Begin(Protocol):
    def __call__(self, *turns: Mapping[str, Any], name: str = "script") -> pexpect.spawn: ...


@pytest.fixture
def terminal(open_terminal: Open) -> TmuxTerminal:
    return open_terminal(120, 40)


@pytest.fixture
def begin(halo: Halo) -> Iterator[Begin]:
    """Start a task in another process, whose person is away."""
    started: list[pexpect.spawn] = []

    def begin_one(*turns: Mapping[str, Any], name: str = "script") -> pexpect.spawn:
        started.append(halo.terminal("-m", halo.script(*turns, name=name), f"tell me of {name}"))
        return started[-1]

    yield begin_one
    for one in started:
        one.close(force=True)
