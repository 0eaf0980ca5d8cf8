"""The border to the SDK: importing it takes most of a second, so it happens in a thread, with the first server."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from halocline.mcp.connection.setup import MISSING_SDK, Hopeless

if TYPE_CHECKING:
    from halocline.mcp.connection.session import Session


async def load_open_session() -> "Callable[..., AbstractAsyncContextManager[Session]]":
    """Import the SDK and return `session.open_session`. Raises Hopeless where it is not installed."""
    # It also logs what it raises, and without a handler Python would print that over the screen.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    try:
        return await asyncio.to_thread(_import_session)
    except ImportError as error:
        raise Hopeless(
            MISSING_SDK if error.name and error.name.split(".")[0] in ("mcp", "mcp_types") else str(error)
        ) from error


def _import_session() -> "Callable[..., AbstractAsyncContextManager[Session]]":
    from halocline.mcp.connection.session import open_session

    return open_session
