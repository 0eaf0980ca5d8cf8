"""Every start of a process takes an environment that `child_environment` made; who starts one otherwise says why."""

import ast
from collections.abc import Iterator

import pytest
from tests.architecture.sources import find_nodes, parse_modules

STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "anyio": {"run_process", "open_process"},
    "loop": {"subprocess_exec", "subprocess_shell"},
    "os": {"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"}
    | {f"{kind}{end}" for kind in ("exec", "spawn") for end in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")},
    "pty": {"spawn", "fork"},
    "webbrowser": {"open", "open_new", "open_new_tab", "get"},
    "multiprocessing": {"Process", "Pool", "Manager", "get_context"},
    "futures": {"ProcessPoolExecutor"},
}
NAMES = {"stdio_client", "ProcessPoolExecutor", "Popen", "create_subprocess_exec", "webbrowser", "multiprocessing"}
"""What starts processes and is imported by its name."""
OTHERWISE = {
    "hosts/keeper.py": "it is told the environment by `hosts.processes`, which takes one that was made",
    "hosts/sandbox/landlock.py": "it becomes the command, and has the command's environment already",
    "hosts/sandbox/probe.py": "it runs in a sandbox on trial, whose environment is a PATH",
}
MAKERS = {"child_environment", "declare_environment"}


def starts(tree: ast.AST) -> Iterator[ast.Call]:
    for node in find_nodes(tree, ast.Call):
        if isinstance(node.func, ast.Attribute):
            room = node.func.value
            name = room.attr if isinstance(room, ast.Attribute) else room.id if isinstance(room, ast.Name) else ""
            if node.func.attr in STARTERS.get(name, ()):
                yield node


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return iter(find_nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef))


def made(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the call's `env` is a made one: a call of a maker, or an argument that is declared as one."""
    given = next((word.value for word in call.keywords if word.arg == "env"), None)
    match given:
        case ast.Call(func=ast.Name(id=name)):
            return name in MAKERS
        case ast.Name(id=name):
            arguments = (*function.args.args, *function.args.kwonlyargs)
            kinds = {argument.arg: argument.annotation for argument in arguments}
            kind = kinds.get(name)
            return isinstance(kind, ast.Name) and kind.id == "ChildEnvironment"
        case _:
            return False


def test_every_start_of_a_process_takes_an_environment_that_was_made():
    starting = {name: tree for name, tree in parse_modules().items() if any(starts(tree))}
    assert starting.keys() > OTHERWISE.keys()
    for name in starting.keys() - OTHERWISE.keys():
        inside = [(call, function) for function in functions(starting[name]) for call in starts(function)]
        assert {id(call) for call, _ in inside} == {id(call) for call in starts(starting[name])}, name
        assert [ast.unparse(call) for call, function in inside if not made(call, function)] == [], name


def test_nothing_that_starts_processes_is_imported_by_its_name():
    by_name = {
        module
        for module, tree in parse_modules().items()
        for node in find_nodes(tree, ast.ImportFrom, ast.Import)
        if NAMES & {alias.name.split(".")[0] for alias in node.names}
    }
    assert by_name == set()


def test_only_one_module_makes_environments():
    makers = {
        module
        for module, tree in parse_modules().items()
        for node in find_nodes(tree, ast.Call)
        if node.args and "ChildEnvironment" in _called(node)
    }
    assert makers == {"protocol/child_environment.py"}


def _called(node: ast.Call) -> set[str]:
    """The name that is called, and what a cast is to."""
    first = node.args[0]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    return {name, first.id if name == "cast" and isinstance(first, ast.Name) else ""}


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run(['x'])",
        "subprocess.run(['x'], env=os.environ)",
        "subprocess.run(['x'], env={**environment})",
        "asyncio.create_subprocess_exec('x', env=other)",
        "os.execv('x', ['x'])",
        "webbrowser.open('x')",
    ],
)
def test_a_start_with_another_environment_is_found(line: str):
    function = ast.parse(f"def start(environment: ChildEnvironment, other: dict):\n    {line}").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [made(call, function) for call in starts(function)] == [False]
