import ast
import inspect
from types import ModuleType

import pytest

from halocline.protocol.kinds import ToolKind
from halocline.tools import (
    apply_patch,
    changes,
    merge_agent_changes,
    new_rule,
    remember,
    replace_in_file,
    write_to_file,
)
from halocline.tools.toolset import every_tool

EDIT_TOOLS = [apply_patch, merge_agent_changes, new_rule, remember, replace_in_file, write_to_file]
HOST = {"files", "blobs", "code"}
"""What they use of the host: only `files` changes anything there, and its changes wait."""


@pytest.mark.parametrize("module", [*EDIT_TOOLS, changes], ids=lambda module: module.__name__)
def test_a_tool_that_edits_changes_files_only_through_the_host(module: ModuleType):
    tree = ast.parse(inspect.getsource(module))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_host(node.value)}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    methods = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert used <= HOST
    assert "open" not in called
    assert not methods & {"write_text", "write_bytes", "unlink", "rename", "mkdir", "rmdir", "touch", "shell"}


def _is_host(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "host"


def test_these_are_all_tools_that_edit():
    edit = {tool.name for tool in every_tool() if tool.kind is ToolKind.EDIT and tool.edits}
    assert edit == {module.TOOL.name for module in EDIT_TOOLS}
