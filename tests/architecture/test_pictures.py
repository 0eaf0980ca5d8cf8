"""The one door for pictures: who makes an image part, and who asks for one."""

import ast

from tests.architecture.sources import find_nodes, parse_modules

DOOR = "context/pictures.py"
ASKS = {
    "importers/transcript.py": "other agents' transcripts",
    "mcp/requests/sampling.py": "what a server asks the model about",
    "mcp/results.py": "results, resources and prompts of MCP servers",
    "runtime/prompts/attachments.py": "--image, pasted and dropped pictures, the page, editors over ACP",
    "tools/browser_action.py": "screenshots of the browser",
    "tools/mcp_tool.py": "scales the results and resources of MCP servers",
    "tools/read_file.py": "files",
}
FUNCTIONS = {"keep_picture", "load_picture", "fit_pictures"}


def called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def callers(names):
    return {
        module
        for module, tree in parse_modules().items()
        if any(called(c) in names for c in find_nodes(tree, ast.Call))
    }


def imports_part(tree):
    """True if the module knows the part of messages by this name, and not the library's class."""
    return any(
        (node.module == "halocline.protocol.messages" and any(alias.name == "Image" for alias in node.names))
        or (node.module == "halocline.protocol" and any(alias.name == "messages" for alias in node.names))
        for node in find_nodes(tree, ast.ImportFrom)
    )


def test_only_the_door_makes_an_image_part():
    made = {module for module in callers({"Image"}) if imports_part(parse_modules()[module])}
    assert made == {DOOR}


def test_whoever_shows_a_picture_asks_at_the_door():
    assert callers(FUNCTIONS) - {DOOR} == set(ASKS)
