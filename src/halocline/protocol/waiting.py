"""Waits for what nothing announces: asked again and again, and over when the clock says so. And for the end of several.

What must stay true: a slow answer makes no wait longer, and no wait is counted in its turns.
"""

import asyncio
from collections.abc import Awaitable, Callable


async def wait_until(is_so: Callable[[], Awaitable[bool]], seconds: float, pause: float) -> bool:
    """Ask at least once, and again after each pause, until it is so. False once `seconds` have passed.

    An answer that is still awaited then is cancelled.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            while True:
                if await is_so():
                    return True
                await asyncio.sleep(pause)
    except TimeoutError:
        if limit.expired():
            return False
        raise


async def end_all(*works: Awaitable[None]) -> None:
    """Wait until all of these have ended, also if one fails; then raise the first error."""
    for outcome in await asyncio.gather(*works, return_exceptions=True):
        if outcome is not None:
            raise outcome
