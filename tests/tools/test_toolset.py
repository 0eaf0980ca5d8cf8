import json
from contextlib import suppress
from itertools import product
from typing import get_args, get_type_hints

import msgspec
import pytest
from msgspec.structs import replace
from tests.tables import for_each

from halocline.context.other_tools import BY_HABIT
from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ModeChanged, TaskStarted
from halocline.protocol.events.mcp import McpServer, McpTool
from halocline.protocol.events.subagents import Subtask
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import ToolCall
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict
from halocline.protocol.state.prompt import ModelState, PromptState
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import McpState, State
from halocline.protocol.state.subagents import SubagentsState
from halocline.store.settings.settings import Settings
from halocline.tools import spawn_agent, use_subagents
from halocline.tools.toolset import ALL, KEPT, ON_REQUEST, PLANNING, SET_UP, Tools, every_tool, list_specs


def named(names: str) -> list[ToolCall]:
    return [ToolCall(str(i), name) for i, name in enumerate(names.split())]


@pytest.mark.parametrize(
    ("calls", "batches"),
    [
        ("", []),
        ("read_file list_files search_files", ["read_file list_files search_files"]),
        ("read_file write_to_file read_file", ["read_file", "write_to_file", "read_file"]),
        ("execute_command execute_command", ["execute_command", "execute_command"]),
        ("read_file unknown read_file read_file", ["read_file", "unknown", "read_file read_file"]),
    ],
)
def test_neighbouring_calls_that_change_nothing_run_together(calls: str, batches: list[str]):
    assert [" ".join(call.name for call in batch) for batch in Tools().batches(named(calls))] == batches


def test_a_tool_is_found_by_its_name_only():
    tools = Tools(every_tool())
    assert [tools.find(tool.name) for tool in every_tool()] == list(every_tool())
    assert tools.find("Read_File") is None


def names(**known) -> set[str]:
    return {spec.name for spec in Tools().specs(State(**known))}


def test_a_task_pays_for_no_tool_that_it_was_not_given():
    assert not names() & {PLANNING, *ON_REQUEST, *SET_UP}


def test_the_setting_for_tools_on_request_takes_each_of_them():
    (names, _) = get_args(get_type_hints(Settings)["extra_tools"])
    assert get_args(names) == ON_REQUEST


@pytest.mark.parametrize("tool", [*ON_REQUEST, *SET_UP])
def test_a_tool_that_was_given_is_offered_beside_the_others(tool: str):
    assert names(prompt=PromptState(tools=frozenset({tool}))) == names() | {tool}


def test_the_plan_tool_is_offered_from_the_first_plan_mode_on_so_that_the_switch_to_act_keeps_the_cache():
    about = {"workspace": "/", "model": "", "system_prompt": "", "version": ""}
    planning = reduce_event(State(), TaskStarted(mode=Mode.PLAN, approval_mode=ApprovalMode.ASK, **about))
    acting = reduce_event(planning, ModeChanged(mode=Mode.ACT))
    assert Tools().specs(acting) == Tools().specs(planning)
    assert PLANNING in {spec.name for spec in Tools().specs(acting)}
    late = reduce_event(State(), ModeChanged(mode=Mode.PLAN))
    assert Tools().specs(late) == Tools().specs(planning)


def test_what_is_offered_is_put_together_again_only_when_something_changed_that_it_depends_on():
    tools, plain = Tools(), State(workspace="/work")
    rules = RuleBook((Rule(Verdict.DENY, tools=("web_fetch",)),))
    changed = [
        replace(plain, prompt=PromptState(tools=frozenset(ON_REQUEST))),
        replace(plain, prompt=PromptState(compact=True)),
        replace(plain, model=ModelState(name="openai/o3")),
        replace(plain, mcp=McpState((McpServer("s", tools=(McpTool("s__t", "s", "t"),)),))),
        replace(plain, plan=replace(plain.plan, has_planned=True)),
        replace(plain, subagents=SubagentsState(subtask=Subtask("parent", "c1", "one"))),
        replace(plain, permissions=replace(plain.permissions, rules=rules)),
    ]
    for state in changed:
        assert tools.specs(state) == Tools().specs(state) != tools.specs(plain)
        assert tools.specs(replace(plain, seq=9, last_at=1.0)) is tools.specs(plain)


@pytest.mark.parametrize(
    ("model", "editor"),
    [
        ("anthropic/claude-sonnet-5-5", "replace_in_file"),
        ("gemini/gemini-3.8-flash", "replace_in_file"),
        ("groq/openai/gpt-oss-120b", "replace_in_file"),
        ("openai/gpt-4o", "replace_in_file"),
        ("openai/bench", "replace_in_file"),
        ("", "replace_in_file"),
        ("openai/gpt-4.1-mini", "apply_patch"),
        ("openai/gpt-5.6", "apply_patch"),
        ("openai/gpt-6-astra", "apply_patch"),
        ("openai/gpt-10", "apply_patch"),
        ("openai/o3", "apply_patch"),
        ("openai/o4-mini", "apply_patch"),
        ("openrouter/openai/gpt-5", "apply_patch"),
    ],
)
def test_each_model_is_offered_the_one_way_to_edit_that_it_knows(model: str, editor: str):
    offered = [spec.name for spec in Tools().specs(State(model=ModelState(name=model)))]
    assert [name for name in offered if name in ("replace_in_file", "apply_patch")] == [editor]


@for_each("tool", every_tool())
def test_a_schema_is_one_plain_object(tool: AnyTool):
    schema = tool.spec.schema
    text = json.dumps(schema)
    assert schema["type"] == "object"
    assert not [word for word in ("$ref", "$defs", '"title": "', "anyOf", '"default"', "null") if word in text]
    assert all(field.get("description") for field in schema["properties"].values())
    assert set(schema.get("required", ())) <= set(schema["properties"])


@for_each("tool", every_tool())
def test_a_tool_is_whole(tool: AnyTool):
    assert tool.input.__module__ == f"halocline.tools.{tool.name}"
    assert (tool.preview is not None) == (tool.kind == "edit")


@for_each("tool", every_tool())
def test_unknown_arguments_are_ignored_and_missing_ones_named(tool: AnyTool):
    required = tool.spec.schema.get("required", [])
    whole = {name: sample(tool.spec.schema["properties"][name]) for name in required}
    input = msgspec.convert({**whole, "surprise": 1}, tool.input, strict=False)
    assert tool.summary(input).title
    for name in required:
        with pytest.raises(msgspec.ValidationError, match=name):
            msgspec.convert({k: v for k, v in whole.items() if k != name}, tool.input, strict=False)


def sample(field: dict) -> object:
    return [] if field["type"] == "array" else field.get("enum", ["x"])[0]


def test_the_kept_specs_are_those_of_the_tools():
    assert msgspec.json.decode(KEPT.read_bytes(), type=dict[str, ToolSpec]) == list_specs()
    assert [tool.spec for tool in ALL] == [tool.load().spec for tool in ALL]


FOREIGN = (*BY_HABIT, "use_mcp_tool", "mcp__s__t", "t", "s.t", "none")
OFFERED_SETS = [
    {},
    {"prompt": PromptState(compact=True)},
    {"model": ModelState(name="openai/gpt-5")},
    *(
        {"subagents": SubagentsState(subtask=Subtask("p", "c", "n")), "prompt": PromptState(tools=frozenset(tools))}
        for tools in ([], ["apply_patch"], [tool.name for tool in every_tool()], *([tool.name] for tool in ALL))
    ),
]
SERVERS = [(), *((McpServer("s", (McpTool("s__t", "s", name),)),) for name in ("t", *FOREIGN))]


@for_each("name, known, servers", product(FOREIGN, OFFERED_SETS, SERVERS))
def test_another_name_leads_to_another_tool_and_never_to_itself(name: str, known: dict, servers: tuple):
    state = State(**known, mcp=McpState(servers=servers))
    for tools in (Tools(), Tools([])):
        with suppress(ToolFailure):  # it lacks what such a call must have
            meant = tools.translate(ToolCall("1", name), state)
            assert meant is None or meant.name != name
        assert len(tools.batches([ToolCall("1", name)], state)) == 1


def test_what_a_card_shows_of_a_call_for_agents_begins_with_what_would_start() -> None:
    one = spawn_agent.summary(spawn_agent.Input("painter", "Paint it.", writes=True, background=True))
    assert one.detail.startswith("Start the agent painter, which writes in the background\nPrompt: Paint it.\n")
    several = use_subagents.summary(
        msgspec.convert({"agents": [{"prompt": "a"}, {"prompt": "b"}]}, use_subagents.Input)
    )
    assert several.detail.startswith("Ask 2 sub-agents: a, b\n")
