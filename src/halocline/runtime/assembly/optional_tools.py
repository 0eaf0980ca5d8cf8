"""The tools that need something set up: a browser, a search engine, a memory. Other homes do not load them."""

from collections.abc import Iterator
from pathlib import Path

from halocline.ports.tool import AnyTool
from halocline.store.settings.settings import Settings
from halocline.tools import remember, web_search
from halocline.tools.browser_action import tool_for


def list_optional_tools(settings: Settings, *, browser: bool, search: str | None, notes: Path) -> Iterator[AnyTool]:
    """Yield the tools of what is set up. The parameters are those of `build_toolset`."""
    if browser:
        yield tool_for(settings.viewport)
    if search is not None:
        yield web_search.build_tool(search)
    if settings.memory:
        yield remember.kept_in(notes)
