"""A key from a person or from a pipe. Typing a key shows nothing."""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from halocline.protocol.errors import UsageError
from halocline.services.models.accounts import Account

LONGEST = 65_536


def typed_key(account: Account) -> str:
    """What a person types or pastes. Raises UsageError when they leave."""
    from getpass import getpass

    if account.keys_page:
        print(f"Keys for {account.title} are made at {account.keys_page}")
    try:
        return getpass("Key (nothing is shown while you paste it): ")
    except EOFError:
        print()
        raise UsageError("No key was given.", "Nothing was stored.") from None


def piped_key(account: Account) -> str:
    """What comes on standard input. Raises UsageError when it is nothing."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(LONGEST)
    if not data.strip():
        hint = f"Pipe it in, as in: halo login {account.provider} < FILE, or call this on a terminal."
        raise UsageError("No key came on standard input.", hint)
    return data.decode("utf-8", "replace")


def pick_option(question: str, options: Mapping[str, str], names: Sequence[str] = ()) -> str:
    """One of the options, or of the names, as a person typed it; Enter takes the first when there are two.

    Raises UsageError when they leave.
    """
    print(question)
    for key, text in options.items():
        print(f"  {key:>2}  {text}")
    default = next(iter(options)) if len(options) == 2 else ""
    prompt = f"{' or '.join(options)} (Enter: {default}): " if default else "Number or name: "
    try:
        while answer := input(prompt).strip() or default:
            if answer in options or answer in names:
                return answer
    except EOFError:
        print()
    raise UsageError("Nothing was chosen.", "Nothing was stored.")


async def next_line() -> str | None:
    """The next line of standard input, while other things go on; None at its end."""
    if sys.stdin is None:
        return None
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), arrived.set)
    except OSError:  # a file, or the null device: it cannot be waited for, and holds nothing that a person types
        return None
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() or None
