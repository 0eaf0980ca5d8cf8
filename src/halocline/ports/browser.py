"""The door to a web browser: one page, looked at and acted on. What a page says is a stranger's word."""

from enum import StrEnum
from typing import Protocol

from halocline.ports.tool import Reach
from halocline.protocol.values import Value


class Deed(StrEnum):
    """What can be done with the page."""

    LAUNCH = "launch"
    CLICK = "click"
    TYPE = "type"
    SCROLL_DOWN = "scroll_down"
    SCROLL_UP = "scroll_up"
    CLOSE = "close"


class BrowserAct(Value, frozen=True):
    """One deed. `point` is in pixels from the upper left corner of the picture."""

    deed: Deed
    url: str = ""
    point: tuple[int, int] = (0, 0)
    text: str = ""


class PageItem(Value, frozen=True):
    """Something to click or to type into, by its centre."""

    x: int
    y: int
    kind: str
    name: str


class PageView(Value, frozen=True):
    """How the page is after a deed. `happened` are Halocline's own words; all other text is the page's."""

    url: str
    title: str = ""
    status: int = 0
    happened: tuple[str, ...] = ()
    console: tuple[str, ...] = ()
    items: tuple[PageItem, ...] = ()
    text: str = ""
    above: int = 0
    below: int = 0
    mouse: tuple[int, int] | None = None
    media_type: str = ""
    picture: bytes = b""


class Browser(Protocol):
    """At most one browser with one page, until it is closed."""

    @property
    def viewport(self) -> tuple[int, int]:
        """Width and height of the picture, in pixels."""

    async def perform(self, act: BrowserAct, reach: Reach) -> PageView:
        """Do it and look. A launch keeps `reach`: it judges whatever the page leads to from then on.

        Raises:
            ToolFailure: it was not done, or nobody can see what came of it.
        """

    async def close(self) -> None:
        """End it and all that it left on this machine; nothing happens when there is none."""
