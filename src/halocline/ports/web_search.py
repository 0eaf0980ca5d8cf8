"""The door to a search engine for the web, which a person has set up."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.values import Value


class Found(Value, frozen=True):
    """One result, in the engine's words."""

    title: str
    url: str
    snippet: str = ""


class WebQuery(Value, frozen=True):
    """What is looked for. Hosts below `allowed` alone, or none below `blocked`; never both."""

    text: str
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class WebSearch(Protocol):
    """One engine. `title` is its name for people, `url` where it is asked."""

    title: str
    url: str

    async def find(self, query: WebQuery, addresses: Sequence[str]) -> tuple[Found, ...]:
        """The best results first. Only `addresses` are connected to, or the proxy of the settings.

        Raises:
            ToolFailure: the engine did not answer, or not with results.
        """
