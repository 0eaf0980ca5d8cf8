"""The host of a task: everything its tools act on."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.ports.blobs import Blobs
from halocline.ports.code import Code, SyntaxRule
from halocline.ports.diagnostics import Diagnostics
from halocline.ports.documents import Documents
from halocline.ports.host import Files, Search, Shell, Web
from halocline.ports.permissions import Leave
from halocline.ports.revisions import Revisions
from halocline.ports.shell_facts import NoFacts, ShellFacts
from halocline.ports.web_search import WebSearch
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.ports.browser import Browser  # most tasks have none of these
    from halocline.ports.hooks import Hooks
    from halocline.ports.instructions import Instructions
    from halocline.ports.mcp import Mcp
    from halocline.ports.mentions import Mentions
    from halocline.ports.subagents import Subagents
    from halocline.task.updates.change_watch import ChangeWatch


class TaskHost(Value, frozen=True):
    """Everything a task's tools act on. `takes_images` tells whether a model (`provider/model`) accepts images.

    `folder` is the task's own; `web_search` is None if no engine is set up; `attention` is None in a replay.
    `redact` removes secrets from the output of tools, hooks and programs; `restored` replaces redaction marks in an
    edit by the secrets of the original text, and raises `redaction.UnknownMark`.
    """

    files: Files
    shell: Shell
    search: Search
    web: Web
    blobs: Blobs
    code: Code
    documents: Documents
    takes_images: Callable[[str], bool]
    syntax_errors: SyntaxRule
    leave: Leave
    folder: Path
    revisions: Revisions
    web_search: WebSearch | None
    redact_thoroughly: Callable[[str], str]
    new_task_id: Callable[[], str]
    diagnostics: Diagnostics
    browser: "Browser | None" = None
    partial_edits: bool = False
    formatters: Mapping[str, str] = {}
    facts: ShellFacts = NoFacts()
    hooks: "Hooks | None" = None
    instructions: "Instructions | None" = None
    attention: "ChangeWatch | None" = None
    mentions: "Mentions | None" = None
    redact: Callable[[str], str] = str
    restored: Callable[[str, str], str] = lambda text, original: text
    mcp: "Mcp | None" = None
    subagents: "Subagents | None" = None

    async def close(self) -> None:
        """Close everything that was started."""
        others = [part.close() for part in (self.browser, self.mcp) if part]
        await asyncio.gather(self.shell.close(), self.diagnostics.close(), *others)
