import ast
import re
from collections import Counter
from importlib import import_module

import msgspec
from tests.architecture.sources import MODULES, ROOT, SOURCE, find_nodes, parse_modules
from tests.tables import for_each

from halocline.ports.tool import Tool
from halocline.tools import toolset

GUIDE = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
LONGEST_MODULE, LONGEST_FUNCTION, LONGEST_GUIDE = 400, 40, 80
MOST_MODULES = 24
"""Modules of one folder, except the tools, which are one module each."""
NOT_TOOLS = {
    *(
        "__init__",
        "toolset",
        "schema",
        "places",
        "changes",
        "custom_tool",
        "left_out",
        "pages",
        "time_limits",
        "mcp_arguments",
        "mcp_tool",
    )
}
NEED_A_SET_UP = {"browser_action"}
VAGUE = {"utils", "helpers", "common", "base", "impl", "types"}


def tool_modules():
    return [path for path in MODULES if path.parent.name == "tools" and path.stem not in NOT_TOOLS]


@for_each("path", tool_modules())
def test_a_tool_module_has_its_parts_and_is_named_as_the_model_calls_it(path):
    module = import_module(f"halocline.tools.{path.stem}")
    assert isinstance(module.TOOL, Tool)
    assert issubclass(module.Input, msgspec.Struct)
    assert module.TOOL.name == path.stem
    assert module.TOOL.input == module.Input
    own = {name: getattr(module, name) for name in ("summary", "run") if hasattr(module, name)}
    assert own == {name: getattr(module.TOOL, name) for name in own}


def test_every_tool_module_is_in_force():
    assert {tool.name for tool in toolset.every_tool()} == {path.stem for path in tool_modules()}


def test_no_module_is_long():
    assert {path.name for path in MODULES if len(path.read_text().splitlines()) > LONGEST_MODULE} == set()


def test_no_function_is_long():
    assert [name for name, length in measure_functions() if length > LONGEST_FUNCTION] == []


def test_no_folder_holds_more_than_one_can_look_through():
    folders = Counter(path.parent for path in MODULES if path.stem != "__init__" and path.parent.name != "tools")
    assert [str(folder) for folder, count in folders.items() if count > MOST_MODULES] == []


def measure_functions():
    for name, tree in parse_modules().items():
        for node in find_nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef):
            yield f"{name}:{node.name}", node.end_lineno - node.lineno + 1


def test_every_module_says_what_it_is_for():
    assert [name for name, tree in parse_modules().items() if not ast.get_docstring(tree)] == []


def test_no_module_has_a_vague_name():
    assert {path.stem for path in MODULES} & VAGUE == set()


def test_the_guide_is_short():
    assert len(GUIDE.splitlines()) <= LONGEST_GUIDE


def test_the_map_of_the_guide_names_every_package_and_no_other():
    rooms = re.findall(r"^\| `([\w/.]+)` \|", GUIDE, re.MULTILINE)
    assert [room for room in rooms if not (SOURCE / room).exists()] == []
    packages = {path.parent.relative_to(SOURCE).parts[0] for path in MODULES if path.parent != SOURCE}
    assert packages == {room.split("/")[0] for room in rooms if "." not in room.split("/")[0]}


STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "os": {"system", "popen", "posix_spawn", "posix_spawnp", "fork", "forkpty", "execv", "execve", "execvp", "execvpe"},
    "pty": {"spawn", "fork"},
}
RUN_GIT = {"git/process.py", "git/repository.py", "checkpoints/store/git.py"}
"""The last one runs git on stores of our own, whose settings are ours."""
NAME_GIT = {
    *(
        "git/environment.py",
        "checkpoints/shadow_git.py",
        "checkpoints/repository/losses.py",
        "checkpoints/repository/stores.py",
        "checkpoints/index/borrowing.py",
    ),
    *("surfaces/web/handlers/folders.py", "services/doctor/doctor.py", "context/notes/withheld_variables.py"),
    *("context/notes/exit_answers.py", "context/system_prompt/project_facts.py"),
}
"""Where the name of the program stands, beside the tables of the judge: it is found, shown, or given to the above."""


def test_only_the_room_of_git_starts_git():
    trees = parse_modules()
    starting = {name for name, tree in trees.items() if starts_processes(tree)}
    naming = {name for name, tree in trees.items() if names_git(tree)}
    assert starting >= RUN_GIT
    assert naming & starting == set()
    assert {name for name in naming if not name.startswith("policy/shell/")} == NAME_GIT


def starts_processes(tree):
    calls = (node.func for node in find_nodes(tree, ast.Call))
    named = (call for call in calls if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name))
    return any(call.attr in STARTERS.get(call.value.id, ()) for call in named)


def names_git(tree):
    return any(node.value == "git" for node in find_nodes(tree, ast.Constant))
