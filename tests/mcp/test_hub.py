from halocline.mcp.hub import definitions_size
from halocline.protocol.events.mcp import McpTool


def test_the_size_of_definitions_counts_their_schemas():
    tool = McpTool("s__a", "s", "a", "", {"properties": {"x": {"description": "w" * 3_600}}})
    assert definitions_size([tool]) > 1_000
