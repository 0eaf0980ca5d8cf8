"""Port for a web browser with one page. The content of pages is untrusted."""

from enum import StrEnum
from typing import Protocol

from halocline.ports.reach import Reach
from halocline.protocol.values import Value


class Deed(StrEnum):
    """Kind of a browser action."""

    LAUNCH = "launch"
    CLICK = "click"
    TYPE = "type"
    SCROLL_DOWN = "scroll_down"
    SCROLL_UP = "scroll_up"
    CLOSE = "close"


class BrowserAct(Value, frozen=True):
    """One action. `point` is in pixels from the upper left corner of the screenshot."""

    deed: Deed
    url: str = ""
    point: tuple[int, int] = (0, 0)
    text: str = ""


class PageItem(Value, frozen=True):
    """An element to click or type into; `x` and `y` are its center."""

    x: int
    y: int
    kind: str
    name: str


class PageView(Value, frozen=True):
    """The page after an action. `happened` is text by Halocline; all other text comes from the page."""

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
        """Width and height of the screenshot, in pixels."""

    async def perform(self, act: BrowserAct, reach: Reach) -> PageView:
        """Perform an action and return the page. After a launch, its `reach` judges all further requests of the page.

        Raises:
            ToolFailure: the action failed, or its result cannot be seen.
        """

    async def close(self) -> None:
        """Close the browser, if any, and remove everything that it left on this machine."""
