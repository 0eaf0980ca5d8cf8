import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pexpect
import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.tui.piloted_board import PilotedBoard

from halocline.client import Choices, Client
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.surfaces.tui.board_app import BoardApp

WIDE = (120, 40)


class OpenBoard(Protocol):
    def __call__(self, size: tuple[int, int] = WIDE) -> AbstractAsyncContextManager[PilotedBoard]: ...


class Begin(Protocol):
    def __call__(self, *turns: Mapping[str, Any], name: str = "script") -> pexpect.spawn: ...


@pytest.fixture
def halo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Halo]:
    halo = Halo(tmp_path)
    monkeypatch.setenv("HOME", str(halo.root))
    yield halo
    halo.clean_up()


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


@pytest.fixture
def open_board(halo: Halo) -> OpenBoard:
    @asynccontextmanager
    async def open_one(size: tuple[int, int] = WIDE) -> AsyncIterator[PilotedBoard]:
        client = Client(Controller(Assembly.of(Choices(), dict(os.environ) | halo.env)), "cli")
        app = BoardApp(client)
        try:
            async with app.run_test(size=size) as pilot:
                yield PilotedBoard(app, pilot)
        finally:
            if app.tasks:
                await app.tasks.close()
            await client.close()

    return open_one
