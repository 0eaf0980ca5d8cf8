"""Read a key from the terminal, without echo, or from a pipe."""

import asyncio
import sys

from halocline.client import Account
from halocline.protocol.errors import UsageError

LONGEST = 65_536


def typed_key(account: Account) -> str:
    """Ask for a key. Raises UsageError when the input ends."""
    from getpass import getpass

    if account.keys_page:
        print(f"Create a key for {account.title} at {account.keys_page}")
    try:
        return getpass("Key (hidden as you paste it): ")
    except EOFError:
        print()
        raise UsageError("No key was entered.", "Nothing was stored.") from None


def piped_key(account: Account) -> str:
    """Read the key from standard input. Raises UsageError when it is empty."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(LONGEST)
    if not data.strip():
        hint = f"Pipe it in: halo login {account.provider} < FILE, or run this on a terminal."
        raise UsageError("No key on standard input.", hint)
    return data.decode("utf-8", "replace")


async def next_line() -> str | None:
    """Return the next line of standard input without blocking the loop; None at its end."""
    if sys.stdin is None:
        return None
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), arrived.set)
    except OSError:  # a file or the null device cannot be waited for, and nobody types into it
        return None
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() or None
