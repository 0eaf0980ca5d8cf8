"""Port for the web search engine in the settings."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.values import Value


class Found(Value, frozen=True):
    """One search result, as the engine returned it."""

    title: str
    url: str
    snippet: str = ""


class WebQuery(Value, frozen=True):
    """A web search, limited to hosts below `allowed`, or without those below `blocked`; never both."""

    text: str
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class WebSearch(Protocol):
    """One engine. `title` is its display name, `url` its address."""

    title: str
    url: str

    async def find(self, query: WebQuery, addresses: Sequence[str]) -> tuple[Found, ...]:
        """Return results, the best first. Connect only to `addresses`, or to the proxy in the settings.

        Raises:
            ToolFailure: the engine did not answer, or its answer has no results.
        """
