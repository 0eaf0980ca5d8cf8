"""Which tools there are in this home; which of them a task is offered is the state's matter."""

from pathlib import Path

from halocline.ports.tool import Toolset
from halocline.store.settings import Settings
from halocline.tools.toolset import ALL, Tools, with_sandbox


def toolset(settings: Settings, *, browser: bool, search: str | None, notes: Path) -> Toolset:
    """The tools there are. `search` is where the engine is asked, `notes` the folder for a person's notes."""
    tools = list(ALL if settings.sandbox == "off" else with_sandbox(ALL))
    if browser:
        from halocline.tools.browser_action import tool_for

        tools.append(tool_for(settings.viewport))
    if search is not None:
        from halocline.tools import web_search

        tools.append(web_search.through(search))
    if settings.memory:
        from halocline.tools import remember

        tools.append(remember.kept_in(notes))
    return Tools(tools)
