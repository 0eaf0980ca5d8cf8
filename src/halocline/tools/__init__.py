"""Tools: one module each, named as the model calls it."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.tools import (
        custom_tool as custom_tool,
        mcp_tool as mcp_tool,
        pages as pages,
        spawn_agent as spawn_agent,
        use_subagents as use_subagents,
    )
else:
    __getattr__ = load_modules_of(__name__)
