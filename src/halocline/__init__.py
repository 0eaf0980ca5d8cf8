"""Halocline: an open coding agent built around one append-only event log.

Each name is loaded when it is first used, so that `import halocline` costs nothing. What these names are is public, all
other modules may change.
"""

from halocline._version import __version__ as __version__

TYPE_CHECKING = False  # what type checkers take for true, without the import of typing
if TYPE_CHECKING:
    from halocline.ports.model import Model as Model, Request as Request
    from halocline.ports.own import CommandResult as CommandResult, Files as Files, Host as Host, Shell as Shell
    from halocline.protocol import commands as commands, events as events, messages as messages
    from halocline.protocol.errors import (
        HaloclineError as HaloclineError,
        ModelError as ModelError,
        ModelErrorKind as ModelErrorKind,
        SettingsError as SettingsError,
        TaskBusy as TaskBusy,
        TaskNotFound as TaskNotFound,
        ToolFailure as ToolFailure,
        UsageError as UsageError,
    )
    from halocline.protocol.kinds import (
        ApprovalMode as ApprovalMode,
        Choice as Choice,
        Diff as Diff,
        Mode as Mode,
        Scope as Scope,
    )
    from halocline.protocol.messages import Effort as Effort, StopReason as StopReason, Usage as Usage
    from halocline.runtime.parts.hook_functions import HookAnswer as HookAnswer, HookMatcher as HookMatcher
    from halocline.sdk.context import ToolContext as ToolContext
    from halocline.sdk.decisions import Decision as Decision
    from halocline.sdk.judged import Url as Url
    from halocline.sdk.options import Options as Options
    from halocline.sdk.result import (
        Refused as Refused,
        Restored as Restored,
        Result as Result,
        TaskFailed as TaskFailed,
    )
    from halocline.sdk.running import Job as Job, open as open, run as run, run_all as run_all, run_sync as run_sync
    from halocline.sdk.task import Task as Task
    from halocline.sdk.tools import Tool as Tool, tool as tool

_PLACES = {
    "ports.model": "Model Request",
    "ports.own": "CommandResult Files Host Shell",
    "protocol": "commands events messages",
    "protocol.errors": (
        "HaloclineError ModelError ModelErrorKind SettingsError TaskBusy TaskNotFound ToolFailure UsageError"
    ),
    "protocol.kinds": "ApprovalMode Choice Diff Mode Scope",
    "protocol.messages": "Effort StopReason Usage",
    "sdk.context": "ToolContext",
    "sdk.decisions": "Decision",
    "runtime.parts.hook_functions": "HookAnswer HookMatcher",
    "sdk.judged": "Url",
    "sdk.options": "Options",
    "sdk.result": "Refused Restored Result TaskFailed",
    "sdk.running": "Job open run run_all run_sync",
    "sdk.task": "Task",
    "sdk.tools": "Tool tool",
}
"""The public names of each module. The imports above say the same to type checkers."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that type checkers report names that are not there

    def __getattr__(name: str) -> object:
        """Load a public name. Raises AttributeError if there is none."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        place = import_module(f"{__name__}.{_MODULES[name]}")
        found = getattr(place, name, None) or import_module(f"{place.__name__}.{name}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted(["__version__", *_MODULES])
