"""The options of a run as keyword arguments, checked where they are given."""

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from msgspec import UNSET

from halocline.client.options import Choices, TaskOptions
from halocline.ports.model import Model
from halocline.ports.own import Host
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Effort
from halocline.protocol.secrets.secret import Secret
from halocline.runtime.parts.hook_functions import Hooks, read_hooks
from halocline.runtime.parts.program_parts import ProgramParts
from halocline.runtime.rules.tool_patterns import why_taken
from halocline.sdk.decisions import OnApproval, OnQuestion
from halocline.sdk.option_types import require_types
from halocline.sdk.raised import NotedTool, Raised
from halocline.sdk.tools import Tool, name_tool

E = TypeVar("E", Mode, ApprovalMode, Effort)
F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Options of a run; what is left out is as in the settings.

    Attributes:
        folder: to work in; the current one if left out.
        model: `provider/model`, or a model of the program's own.
        tools: decorated functions, besides the tools that every task has.
        on_approval: decides about calls that need approval; without it, they are refused.
        on_question: answers the model's questions; without it, they stay unanswered.
        hooks: functions that run at points of the task.
        host: files or commands of the program's own, in place of this machine's; see `Host`.
        mode: `act` or `plan`.
        approval_mode: `ask`, `accept-edits`, `auto` or `yolo`.
        allowed_tools: calls that need no approval, as with `--allowed-tools`.
        disallowed_tools: calls that are refused, as with `--disallowed-tools`.
        roots: more folders to work in.
        system_prompt: text to add to the system prompt.
        effort: how much the model thinks: `none`, `minimal`, `low`, `medium`, `high` and so on.
        max_steps: requests to the model in one turn.
        max_cost: US dollars in the task and its sub-agents.
        token_limit: tokens in the task and its sub-agents.
        time_limit: seconds of one turn; `on_question` is asked between two steps whether it may go on.
        api_key: for the model; not logged.
        base_url: the address of the model's server.
        profile: a profile of the settings.
        trusted: let the folder's own hooks, servers and allowing rules apply.
    """

    folder: Path | str
    model: str | Model
    tools: Sequence[Tool[..., Any]]
    on_approval: OnApproval | None
    on_question: OnQuestion | None
    hooks: Hooks
    host: Host | None
    mode: Mode | str
    approval_mode: ApprovalMode | str
    allowed_tools: Sequence[str]
    disallowed_tools: Sequence[str]
    roots: Sequence[Path | str]
    system_prompt: str
    effort: Effort | str
    max_steps: int
    max_cost: float
    token_limit: int
    time_limit: float
    api_key: str
    base_url: str
    profile: str
    trusted: bool


_PARAMETERS = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=UNSET) for name in Options.__annotations__
]
type.__setattr__(Options, "__signature__", inspect.Signature(_PARAMETERS))  # a dict type has none of its own


def with_options(function: F) -> F:
    """Name each option in the signature of a function that takes them: editors and `help` show what it says."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    vars(function)["__signature__"] = signature.replace(parameters=[*own, *_PARAMETERS])
    return function


RENAME = "Give yours another name: @halocline.tool(name=…)"
_OF_THE_RUN = ("max_steps", "max_cost", "token_limit", "time_limit", "base_url", "profile")


def read_choices(options: Options) -> Choices:
    """Return the options that override settings. Raises UsageError."""
    _require_known(options)
    given: dict[str, Any] = {name: value for name, value in options.items() if name in _OF_THE_RUN}
    if "api_key" in options:
        given["api_key"] = Secret(options["api_key"])
    if "system_prompt" in options:
        given["append_system_prompt"] = options["system_prompt"]
    for name in ("allowed_tools", "disallowed_tools"):
        if name in options:
            given[name] = tuple(options[name])
    given["custom_tools"] = tuple(map(name_tool, options.get("tools", ())))
    return Choices(**given, unattended=True)


def read_folder(options: Options) -> Path:
    """Return the folder to work in, as an absolute path. Raises UsageError if there is none."""
    folder = Path(options.get("folder") or Path()).expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"The folder {folder} does not exist.", "Make it first, or name another: folder=…")
    return Path(os.path.realpath(folder))


def read_options(options: Options, raised: Raised) -> TaskOptions:
    """Return the options of a task, whose functions raise into `raised`. Raises UsageError."""
    attended = any(options.get(name) for name in ("on_approval", "on_question"))
    return TaskOptions(
        model=name_model(options.get("model")),
        mode=read_word(Mode, "mode", options.get("mode")),
        approval_mode=read_word(ApprovalMode, "approval_mode", options.get("approval_mode")),
        effort=read_word(Effort, "effort", options.get("effort")),
        attended=attended,
        asks_again=attended,
        trusted=options.get("trusted", False),
        roots=tuple(map(str, options.get("roots", ()))),
        program=read_program(options, raised),
    )


def read_program(options: Options, raised: Raised) -> ProgramParts:
    """Return the tools and hooks. Raises UsageError."""
    tools, names = tuple(options.get("tools", ())), set[str]()
    for given in tools:
        if not isinstance(given, Tool):
            raise UsageError(f"{name_tool(given)} is no tool.", "Decorate the function: @halocline.tool")
        if given.name in names:
            raise UsageError("Two tools have the same name.", "Give one another: @halocline.tool(name=…)")
        if why := why_taken(given.name):
            raise UsageError(why, RENAME)
        names.add(given.name)
    noted = tuple(NotedTool(tool.function, tool.definition, tool.timeout, raised) for tool in tools)
    hooks = read_hooks(options.get("hooks", {}), raised.end_turn)
    return ProgramParts(noted, hooks, options.get("on_question") is not None, options.get("host"))


def name_model(model: str | Model | None) -> str | None:
    """Return a model's name."""
    return model if isinstance(model, str) or model is None else model.name


def read_word(kind: type[E], name: str, given: E | str | None) -> E | None:
    """Return the value that a word stands for. Raises UsageError with the words that there are."""
    if given is None:
        return None
    try:
        return kind(given)
    except ValueError:
        known = ", ".join(repr(word.value) for word in kind)
        raise UsageError(f"{given!r} is no {name.replace('_', ' ')}.", f"Choose one of {known}.") from None


def _require_known(options: Options) -> None:
    """Raises UsageError for an option that does not exist or has another type: a type checker would have found it."""
    unknown = [name for name in options if name not in Options.__annotations__]
    if unknown:
        raise UsageError(
            f"There is no option {unknown[0]!r}.", f"The options are: {', '.join(Options.__annotations__)}."
        )
    require_types(options)
