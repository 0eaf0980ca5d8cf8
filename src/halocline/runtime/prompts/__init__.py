"""Turn what a person types into a task's prompt: slash commands, attachments, prompts of MCP servers."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.prompts import (
        command_files as command_files,
        mcp_prompts as mcp_prompts,
        side_question as side_question,
        waits as waits,
    )
else:
    __getattr__ = load_modules_of(__name__)
