"""The tools that exist, those a model is offered, and the calls that may run in parallel."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline import context, policy, tools
from halocline.context.system_prompt.model_families import PATCHES
from halocline.ports.tool import PROGRESS, AnyTool, ToolSpec
from halocline.protocol import json_input
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import tool_named
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

KEPT = Path(__file__).with_name("specs.json")
"""The specs of the standard tools, as their modules define them (`make docs` writes them, a test compares)."""

SANDBOXED, SANDBOXED_IN_AUTO = "SANDBOXED", "SANDBOXED_IN_AUTO"
"""Forms of execute_command: with the sandbox in every approval mode, or in auto only."""
OLD_AND_NEW = "OLD_AND_NEW"
"""The form of replace_in_file that goes with the compact prompt."""


class Standard(Value, frozen=True):
    """A tool of most tasks; its module is imported when it is first called. `form` is its name there.

    `compact`: it is offered with the compact prompt, too. The others are spared there: bash and these can do the same.
    """

    name: str
    form: str = "TOOL"
    compact: bool = False

    @property
    def spec(self) -> ToolSpec:
        forms = {"TOOL": self.name, SANDBOXED_IN_AUTO: SANDBOXED}
        return _kept_specs()[forms.get(self.form, self.form)]

    def load(self) -> AnyTool:
        """Import the tool."""
        tool: AnyTool = getattr(getattr(tools, self.name), self.form)
        return tool


ALL = (
    Standard("read_file", compact=True),
    Standard("list_files", compact=True),
    Standard("search_files", compact=True),
    Standard("list_code_definition_names"),
    Standard("replace_in_file", compact=True),
    Standard("apply_patch", compact=True),
    Standard("write_to_file", compact=True),
    Standard("execute_command", compact=True),
    Standard("job", compact=True),
    Standard("web_fetch"),
    Standard("update_todos"),
    Standard("ask_followup_question", compact=True),
    Standard("attempt_completion", compact=True),
)
"""In the order of a request. A module and its row here are a whole tool; `make docs` writes what is made of them."""
_SPARED = frozenset(tool.name for tool in ALL if not tool.compact)

OFFERED = {"apply_patch": True, "replace_in_file": False}
"""Tools for editing part of a file: each model gets one of them, those of `PATCHES` the first."""
ON_REQUEST = ("new_task", "new_rule", "report_bug", "generate_explanation", "load_mcp_documentation")
"""Offered if the setting `extra_tools`, which lists them too, names one, or the user asked for one in this task."""
SET_UP = ("web_search", "use_skill", "remember")
"""Offered if a search engine or a skill is set up, or memory is on."""
THROUGH = "call_mcp_tool"
MCP = ("find_tools", THROUGH, "access_mcp_resource")
"""Offered if a server has tools that are not listed in full, or resources."""
PLANNING = "plan_mode_respond"
BROWSER = "browser_action"
"""Offered if a browser is set up; built for its page size."""
SUBAGENTS = "use_subagents"
"""Offered if the settings enable it or an agent is described; never to a sub-agent. Runs alone: it is many agents."""
AGENTS = ("spawn_agent", "send_message", "merge_agent_changes")
"""Offered together with it; to a sub-agent by name."""
RARE = (*SET_UP, *MCP, PLANNING, SUBAGENTS, *AGENTS, *ON_REQUEST)
"""Tools that few tasks need; each is imported on first use."""


OURS = frozenset((*(tool.name for tool in ALL), *RARE, BROWSER))
"""The names of all tools of Halocline itself."""
NOT_UNDERSTOOD = "{theirs} is {ours} here, which has no argument {names}. Nothing was run; call {ours} without it."


def every_tool() -> tuple[AnyTool, ...]:
    """Return all tools, including the rare ones."""
    return (*(tool.load() for tool in ALL), *map(_load_rare, (*RARE, BROWSER)))


def list_specs() -> dict[str, ToolSpec]:
    """Return the specs of the standard tools as their modules define them: what `KEPT` holds."""
    more = {SANDBOXED: "execute_command", OLD_AND_NEW: "replace_in_file"}
    forms = {tool.name: tool for tool in ALL} | {form: Standard(name, form) for form, name in more.items()}
    return {name: tool.load().spec for name, tool in forms.items()}


def _require_understood(call: ToolCall, found: ToolCall, tool: AnyTool) -> None:
    """Raise ToolFailure if an argument of another program's tool would be lost; an empty one says nothing."""
    known = {field.name for field in msgspec.structs.fields(tool.input)} | tool.spec.aliases.keys() | {PROGRESS}
    given = {key for key, value in found.arguments.items() if value not in ("", [], {})}
    if unknown := sorted(given - known):
        names = " or ".join(unknown)
        raise ToolFailure(NOT_UNDERSTOOD.format(theirs=call.name, ours=found.name, names=names))


@cache
def _kept_specs() -> dict[str, ToolSpec]:
    return json_input.decode(KEPT.read_bytes(), type=dict[str, ToolSpec])


def with_sandbox(tools: Iterable[Standard], *, only_in_auto: bool = False) -> tuple[Standard, ...]:
    """Return the tools with the sandboxed execute_command, for every approval mode or for auto only."""
    form = SANDBOXED_IN_AUTO if only_in_auto else SANDBOXED
    return tuple(replace(tool, form=form) if tool.name == "execute_command" else tool for tool in tools)


class Tools:
    """Implements `ports.tool.Toolset` with the given tools in their order, followed by the rare ones."""

    def __init__(self, tools: Iterable[AnyTool | Standard] = ALL) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._known: tuple[object, ...] = ()
        self._specs: tuple[ToolSpec, ...] = ()

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        if state and (name in self._tools or name in RARE) and not _may_run(name, state):
            return None
        if tool := self._tools.get(name) or (_load_rare(name) if name in RARE else None):
            return tool.load() if isinstance(tool, Standard) else tool
        if state and state.prompt.custom_tools and (found := tools.custom_tool.find_tool(name, state)):
            return found
        return tools.mcp_tool.find_tool(name, state) if state and state.mcp.servers else None

    def translate(self, call: ToolCall, state: State) -> ToolCall | None:
        if call.name in OURS:
            return None
        found = context.other_tools.translate_by_habit(call, state.mcp.servers)
        if found is None or found.name not in OURS:
            return found
        if tool := self.find(found.name, state):
            _require_understood(call, found, tool)
        arguments = context.other_tools.place_folder(found.arguments, state.workspace, state.host.shell.cwd)
        return replace(found, arguments=arguments)

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        known = (
            *(state.prompt, state.model, state.mcp, state.plan.has_planned, state.workspace),
            *(state.permissions.approval_mode, state.permissions.rules, state.subagents.subtask),
            state.subagents.available,
        )
        if known != self._known:
            self._known, self._specs = known, self._list_specs(state)
        return self._specs

    def _list_specs(self, state: State) -> tuple[ToolSpec, ...]:
        names = dict.fromkeys((*self._tools, *RARE))
        own = tuple(
            _spec_of(self._tools.get(name) or _load_rare(name), state) for name in names if _is_offered(name, state)
        )
        offered = (*own, *tools.custom_tool.list_specs(state)) if state.prompt.custom_tools else own
        offered = (*offered, *tools.mcp_tool.list_specs(state)) if state.mcp.servers else offered
        return _without_withdrawn(offered, state) if state.permissions.rules.rules else offered

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        batches: list[list[ToolCall]] = []
        sharing: list[_Sharing] = []
        for call in calls:
            now = self._sharing(call, state)
            if sharing and all(_may_run_together(now, other) for other in sharing):
                batches[-1].append(call)
                sharing.append(now)
            else:
                batches.append([call])
                sharing = [now]
        return batches

    def _sharing(self, call: ToolCall, state: State | None) -> "_Sharing":
        if state and state.mcp.servers:
            name = call.arguments.get("tool") if call.name == THROUGH else call.name
            if isinstance(name, str) and (foreign := tool_named(state.mcp.servers, name)):
                return _Sharing(foreign.read_only, foreign.server)
        tool = self.find(call.name) or (tools.custom_tool.find_tool(call.name, state) if state else None)
        with suppress(ToolFailure):  # the call is refused when its turn comes
            if tool is None and state and (meant := self.translate(call, state)):
                return self._sharing(meant, state)
        return _Sharing(tool is not None and not tool.edits and call.name != SUBAGENTS)


class _Sharing(Value, frozen=True):
    """Facts that decide which calls run together: whether a call only reads, and which server it is for."""

    reads: bool
    server: str = ""


def _may_run_together(one: _Sharing, other: _Sharing) -> bool:
    """True if both only read, or they go to different servers."""
    return (one.reads and other.reads) or bool(one.server and other.server and one.server != other.server)


def _load_rare(name: str) -> AnyTool:
    tool: AnyTool = getattr(tools, name).TOOL
    return tool


def _spec_of(tool: AnyTool | Standard, state: State) -> ToolSpec:
    if (
        isinstance(tool, Standard)
        and tool.form == SANDBOXED_IN_AUTO
        and state.permissions.approval_mode is not ApprovalMode.AUTO
    ):
        return Standard(tool.name).spec
    if state.prompt.compact and tool.name == "replace_in_file":
        return Standard(tool.name, OLD_AND_NEW).spec
    if tool.name != SUBAGENTS:
        return tool.spec
    return tools.use_subagents.spec_for(state.subagents.available)


def _is_offered(name: str, state: State) -> bool:
    if not _may_run(name, state):
        return False
    if name == PLANNING:
        return state.plan.has_planned
    if name in RARE:
        return True
    if state.prompt.compact and name in _SPARED and not state.subagents.subtask:
        return False
    return name not in OFFERED or OFFERED[name] == bool(re.match(PATCHES, state.model.name))


def _without_withdrawn(offered: tuple[ToolSpec, ...], state: State) -> tuple[ToolSpec, ...]:
    """Drop the tools that a rule denies for every argument."""
    names = policy.rules.withdrawn_tools(state.permissions.rules.rules, state.workspace)
    return tuple(spec for spec in offered if not policy.rules.is_among(spec.name, names)) if names else offered


def _may_run(name: str, state: State) -> bool:
    """True if a call of the tool may run: a model cannot reach a tool it was not offered by guessing its name.

    Exception: tools left out only because others do the same. The model may know them from another model's part of
    the task.
    """
    if state.subagents.subtask:
        return name in state.prompt.tools
    if name == PLANNING:
        return True  # by another name of it: in act mode it only says so
    if name in AGENTS:
        return SUBAGENTS in state.prompt.tools
    if name in MCP:
        return any(
            server.resources if name == "access_mcp_resource" else server.searched for server in state.mcp.servers
        )
    return name not in RARE or name in state.prompt.tools
