"""Hands the terminal of the board to another program, such as an editor."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App, SuspendNotSupported

from halocline.protocol.errors import HaloclineError, UsageError


@contextmanager
def hand_terminal(app: App[Any]) -> Iterator[None]:
    """Hand the terminal over, draw nothing meanwhile, and take it back. Raises UsageError if that cannot be done."""
    failed: BaseException | None = None
    try:
        with app.batch_update(), app.suspend():
            try:
                yield
            except (HaloclineError, asyncio.CancelledError) as error:  # raised in `suspend`, it would stay handed over
                failed = error
    except SuspendNotSupported as error:
        raise UsageError("The board cannot open an editor here.", "Choose among the changes.") from error
    app.refresh()
    if failed:
        raise failed
