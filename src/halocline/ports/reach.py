"""Port for checking where a tool may connect."""

from typing import Protocol


class Reach(Protocol):
    """Checks where a tool may connect: the only way to get from a URL to addresses."""

    async def __call__(self, url: str, *, part: bool = False) -> tuple[str, ...]:
        """Check a URL of the call, or one that it led to, and return the IP addresses to connect to.

        They are empty if the name does not resolve here; then only a proxy can reach it. A `part` of an allowed page,
        such as an image or a script, needs no permission of its own at a public address.

        Raises:
            ToolFailure: the policy does not allow the URL without approval.
        """
