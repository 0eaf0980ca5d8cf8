import pytest

from halocline.mcp.hub import rank_tools
from halocline.protocol.events.mcp import McpTool


def tool(name, description="", server="s") -> McpTool:
    return McpTool(f"{server}__{name}", server, name, description, {})


TOOLS = [
    tool("create_issue", "Open a new issue in a repository.", "github"),
    tool("list_issues", "Issues of a repository.", "github"),
    tool("send_message", "Write to a channel about issues or anything else.", "chat"),
    tool("read_mail", "The newest mails.", "mail"),
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create issue", "create_issue"),
        ("github__list_issues", "list_issues"),
        ("mails", "read_mail"),
        ("write a message to a channel", "send_message"),
        ("ISSUES of repositories", "list_issues"),
    ],
)
def test_the_tool_that_is_meant_comes_first(query, first):
    assert rank_tools(TOOLS, query)[0].tool == first


def test_what_has_no_word_of_the_query_is_not_found():
    assert rank_tools(TOOLS, "kubernetes pods") == []


def test_without_words_all_are_found():
    assert rank_tools(TOOLS, "  ") == TOOLS
