"""Makes ready what the first steps of a task need, while its model thinks.

What must stay true: nothing begins before the first request is out; for a task alone, nothing begins while a call runs,
and a step only when there was no event for a moment; steps are short (a test counts the modules of each): nothing
waits for one. What a step makes ready is used as if it had not been: without it, only the first use takes longer.
"""

import asyncio
import gc
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.protocol.events import ToolCallStarted

if TYPE_CHECKING:
    from halocline.hosts.code.tree_sitter import TreeSitter
    from halocline.hosts.shell.shell import LocalShell
    from halocline.protocol.events import Event
    from halocline.task.log import Log

QUIET = 0.01
"""Seconds without an event after which a step may begin: a reply of a model that is not waited for comes sooner."""
PAUSE = 0.001
"""Seconds between two steps, for what else the loop has to do."""
MODULES = {
    "halocline": """
        protocol.state.evidence.findings policy.paths policy.acts policy.gate
        task.calls.events task.calls.policy_input task.calls.tool_context task.calls.admission
        task.calls.argument_repair task.calls.tool_calls edits.text tools.schema tools.read_file
        protocol.secrets.names protocol.secrets.random_strings
        protocol.secrets.published_forms protocol.secrets.redaction store.secrets.salt
        net.connection net.http providers.server_probe
        hosts.language_servers.finding context.instructions.touched_files task.updates.known_files
    """,
    "halocline.checkpoints": """
        store.objects store.layout store.tracked store.git index.index saved changes.claims announcements
        repository.upkeep changes.evidence repository.repository shadow_git
    """,
    "halocline.runtime.assembly": "checkpoints",
    "halocline.edits": """
        edit matching.indentation matching.anchors matching.strategies matching.locate plan formats.blocks
    """,
    "halocline.task.calls": "post_edit_checks",
    "halocline.tools": """
        changes replace_in_file apply_patch write_to_file execute_command list_files search_files job update_todos
    """,
    "halocline.hosts.code": "grammars tree_sitter",
    "tree_sitter": "",
    "halocline.policy": "shell.syntax.tree shell.findings shell.permissions",
    "halocline.policy.shell": """
        programs.exclusions values.variables values.ground guards programs.specs programs.embedded_scripts
        programs.tables texts conditions programs.shell_builtins assignments programs.mutating programs.wrappers
        programs.leaving_out programs.git.operands programs.reading programs.git_commands
        programs.copying programs.acting syntax.scanner syntax.grammar
        syntax.compounds syntax.parse listed_names floors programs.program expansion simple blocks judge
        verdict
    """,
    "halocline.hosts.shell": "environment output state processes job jobs shell policy_facts",
    "halocline.hosts": "ripgrep",
}
"""Modules of the first read, edit and command by package, each after those that it needs: so none loads many others."""

_USES = "halocline.runtime.assembly.first_uses"
Step = Callable[[], object]


class WarmUp:
    """The steps of the tasks of a process, and before them those that they share."""

    def __init__(self, shared: Iterator[Step]) -> None:
        self._shared = shared
        self._tasks: deque[TaskSteps] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._begun = False
        self._last = 0.0

    def attach(self, log: "Log", steps: Iterator[Step]) -> None:
        """Take the steps of a task until its log ends. They begin with the next request that is sent."""
        self._tasks.append(TaskSteps(self, log, chain(self._shared, steps)))

    def begin(self) -> None:
        """Begin with the steps that are left, once it is quiet: a request was sent."""
        if not self._begun:
            self._begun = True
            gc.freeze()  # a look for cycles need not go through all that the start made
        if self._timer is None and self._tasks:
            self.hold()
            self._timer = asyncio.get_running_loop().call_later(QUIET, self._go_on)

    def hold(self) -> None:
        """Wait until it is quiet again."""
        self._last = time.monotonic()

    def pause(self) -> None:
        """Wait for the next request: a call runs, and what is on the way to its result comes first."""
        if self._timer and not self._are_many:
            self._timer.cancel()
            self._timer = None

    def drop(self, task: "TaskSteps") -> None:
        """Forget the steps of a task."""
        if task in self._tasks:
            self._tasks.remove(task)

    @property
    def _are_many(self) -> bool:
        """True if several tasks have steps left: among many it is never quiet, and the first call that comes would load
        everything at once while all wait.
        """
        return len(self._tasks) > 1

    def _go_on(self) -> None:
        self._timer, left = None, 0.0 if self._are_many else self._last + QUIET - time.monotonic()
        if left <= 0 and self._tasks and not self._tasks[0].take():
            self._tasks.popleft().end()
        if self._tasks:
            self._timer = asyncio.get_running_loop().call_later(max(PAUSE, left), self._go_on)


class TaskSteps:
    """The steps of one task, as a subscriber to its events."""

    def __init__(self, warm_up: WarmUp, log: "Log", steps: Iterator[Step]) -> None:
        self._warm_up, self._log, self._steps = warm_up, log, steps
        log.attach(self)

    def push(self, event: "Event") -> None:
        self._warm_up.hold()
        if isinstance(event, ToolCallStarted):
            self._warm_up.pause()

    def close(self) -> None:
        self._warm_up.drop(self)

    def take(self) -> bool:
        """Take the next step. Return False if there is none."""
        step = next(self._steps, None)
        if step is not None:
            step()
        return step is not None

    def end(self) -> None:
        """Stop listening."""
        self._log.detach(self)


def list_modules() -> Iterator[str]:
    """Yield the modules of the first steps."""
    for package, names in MODULES.items():
        yield from (f"{package}.{name}" for name in names.split()) if names else (package,)


def list_shared_steps() -> Iterator[Step]:
    """Yield what makes the first read, edit and command of a process fast."""
    for module in list_modules():
        if module not in sys.modules:
            yield partial(import_module, module)
    yield from import_module(_USES).USES
    yield gc.freeze  # a look for cycles need not go through all that was loaded


def list_task_steps(workspace: Path, shell: "LocalShell", code: "TreeSitter") -> Iterator[Step]:
    """Yield what makes the first edit and command of a task fast. Its folder is looked at when they are taken."""
    yield from code.prepare(workspace)
    yield shell.prepare
