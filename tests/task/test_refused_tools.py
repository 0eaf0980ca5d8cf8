"""Which tool a refusal is about, in the words of vendors."""

from msgspec.structs import replace
from tests.providers.streams import request
from tests.tables import for_each

from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events.mcp import McpServer, McpTool, McpToolRefused
from halocline.protocol.state.state import McpState, State
from halocline.task.refused_tools import find_refused_tool

NAMES = ("read_file", "job", "s__good", "s__bad")
STATE = State(mcp=McpState(servers=(McpServer("s", tuple(McpTool(name, "s", name[3:]) for name in NAMES[2:])),)))
ASKED = request(tools=tuple(ToolSpec(name, "", {"type": "object"}) for name in NAMES))
SAID = [
    ("tools.3.custom.input_schema: JSON schema is invalid", "s__bad"),
    ("tools.1.custom.input_schema: JSON schema is invalid", ""),
    ("tools.7.custom.input_schema: JSON schema is invalid", ""),
    ("GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[a].items: missing", "s__bad"),
    ("Invalid schema for function 's__bad': array schema missing items", "s__bad"),
    ("Invalid schema for function 's__bad': In context=('properties', 's__good'), missing items", "s__bad"),
    ("Invalid schema for function 'read_file': 's__good' is not of type 'object'", ""),
    ("The job failed: the schema of s__bad is invalid", "s__bad"),
    ("Duplicate tool names: s__bad, s__good", "s__bad"),
    ('{"error":{"message":"Invalid schema","param":"tools[3].function.parameters"}}', "s__bad"),
    ('{"error":{"message":"Invalid schema for function \\"s__good\\"","param":"tools[2].function"}}', "s__good"),
    ("tools.2.custom.name: 's__good' and 's__bad' are the same", "s__good"),
    ("messages.3: `tool_use` s__good without `tool_result`", ""),
    ("Invalid 'messages[3].tool_calls[0].function.name': s__good", ""),
    ("Invalid 'input[4].name': the function s__good is unknown", ""),
    ("contents[2].parts[0].function_response.name: s__good", ""),
    ("No tool output found for function call s__good of tool_calls", ""),
    ("temperature is too high", ""),
    ("s__good", ""),
]


@for_each("said, expected", SAID)
def test_a_refusal_is_about_the_tool_that_it_names_first_or_by_its_place(said, expected):
    for error in (
        ModelError(ModelErrorKind.INVALID_REQUEST, said),
        ModelError(ModelErrorKind.INVALID_REQUEST, "OpenAI rejected the request: cut", said=said),
    ):
        found = find_refused_tool(error, ASKED, STATE)
        assert (found.name if found else "") == expected


def test_a_tool_that_changed_may_be_offered_again_and_others_stay_left_out():
    mcp = STATE.mcp
    for name in NAMES[2:]:
        mcp = mcp.without_tool(McpToolRefused(tool=name, model="a/m"))
    old, new = mcp.servers[0].tools
    offers = (replace(old, read_only=True), replace(new, schema={"type": "object"}))
    assert mcp.with_server(McpServer("s", offers)).refused_by("a/m") == {"s__good"}
    assert mcp.with_server(McpServer("s")).with_server(mcp.servers[0]).refused_by("a/m") == {"s__good", "s__bad"}
    assert mcp.refused_by("b/m") == frozenset()


def test_a_tool_that_an_older_log_left_out_is_left_out_for_every_model():
    mcp = STATE.mcp.without_tool(McpToolRefused(tool="s__bad"))
    assert mcp.refused_by("a/m") == mcp.refused_by("b/m") == {"s__bad"}
