"""The host of a task: what its tools act on, its secrets, its permissions, and what adds to its context."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.ports.code import SyntaxRule
from halocline.ports.diagnostics import Diagnostics
from halocline.ports.shell_facts import NoFacts, ShellFacts
from halocline.ports.tool import SecretFilter, ToolHost
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_all

if TYPE_CHECKING:
    from halocline.ports.editor import TerminalSource
    from halocline.ports.hooks import Hooks  # most tasks have none of these
    from halocline.ports.instructions import Instructions
    from halocline.ports.mentions import Mentions
    from halocline.ports.permissions import Judge, Permissions
    from halocline.task.updates.change_watch import ChangeWatch


class EditOptions(Value, frozen=True):
    """Options for edits. `formatters` are commands by the pattern of the files they format."""

    syntax_errors: SyntaxRule = SyntaxRule.WARN
    partial: bool = False
    formatters: Mapping[str, str] = {}


class ContextSources(Value, frozen=True):
    """What adds to the model's context between requests. A replay has no `changes`; `terminals` are an editor's."""

    diagnostics: Diagnostics
    instructions: "Instructions | None" = None
    changes: "ChangeWatch | None" = None
    mentions: "Mentions | None" = None
    terminals: "TerminalSource | None" = None


class TaskHost(Value, frozen=True):
    """Everything a task acts on. `folder` holds its own files.

    `takes_images` tells whether a model (`provider/model`) accepts images.
    """

    folder: Path
    tools: ToolHost
    permissions: "Permissions"
    sources: ContextSources
    secrets: SecretFilter
    takes_images: Callable[[str], bool]
    new_task_id: Callable[[], str]
    editing: EditOptions = EditOptions()
    shell_facts: ShellFacts = NoFacts()
    hooks: "Hooks | None" = None
    judge: "Judge | None" = None

    async def close(self) -> None:
        """Close everything that was started."""
        others = [part.close() for part in (self.tools.browser, self.tools.mcp, self.tools.subagents) if part]
        await end_all(self.tools.shell.close(), self.sources.diagnostics.close(), *others)
