"""A wait ends by the clock: none is counted in its turns, which take longer on a busy machine."""

import ast
from collections.abc import Iterator

import pytest
from tests.architecture.sources import find_nodes, parse_modules

PAUSES = {"sleep", "wait", "wait_for", "select"}
COUNTERS = {"range", "repeat", "count", "cycle"}
BY_TURNS = {
    "surfaces/cli/plain/line_reader.py": "silence counts only while this process was not too busy to hear a key",
}


def calls_in(node: ast.AST) -> Iterator[str]:
    """The names of what a loop calls itself, not in functions that it defines."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.Call) and not gives_way(child):
            yield name_of(child.func)
        yield from calls_in(child)


def gives_way(call: ast.Call) -> bool:
    """`sleep(0)` waits for nothing, nor does a `select` with that limit."""
    return any(isinstance(given, ast.Constant) and given.value == 0 for given in call.args)


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_counted(loop: ast.AST) -> bool:
    match loop:
        case ast.For(iter=turns) | ast.AsyncFor(iter=turns):
            return is_counter(turns)
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
            return any(is_counter(part.iter) for part in parts)
        case ast.While(test=test, body=body):
            counted = {ast.unparse(node.target) for part in body for node in ast.walk(part) if is_step(node)}
            return any(ast.unparse(node) in counted for node in ast.walk(test)) or bool(counted and pauses(loop))
    return False


def is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub)


def is_counter(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) and name_of(part.func) in COUNTERS for part in ast.walk(node))


def pauses(loop: ast.AST) -> bool:
    return not PAUSES.isdisjoint(calls_in(loop))


def counted_waits(tree: ast.AST) -> list[str]:
    loops = find_nodes(tree, ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp)
    return [ast.unparse(loop) for loop in loops if pauses(loop) and is_counted(loop)]


def test_no_wait_is_counted_in_turns() -> None:
    found = {module: waits for module, tree in parse_modules().items() if (waits := counted_waits(tree))}
    assert found.keys() == BY_TURNS.keys(), found


@pytest.mark.parametrize(
    "wait",
    [
        "for _ in range(int(grace / POLL)):\n    await asyncio.sleep(POLL)",
        "for _ in range(LOOKS):\n    if found():\n        break\n    time.sleep(PAUSE)",
        "for _ in itertools.repeat(None, 5):\n    done.wait(PAUSE)",
        "for turn, _ in enumerate(range(5)):\n    await asyncio.wait([job], timeout=PAUSE)",
        "[await asyncio.sleep(PAUSE) for _ in range(5)]",
        "while left and not found():\n    await asyncio.sleep(PAUSE)\n    left -= 1",
        "while not found():\n    time.sleep(PAUSE)\n    self.waited += PAUSE\n    if self.waited > 5: break",
    ],
)
def test_a_counted_wait_is_found(wait: str) -> None:
    assert counted_waits(ast.parse(f"async def f():\n    {wait.replace(chr(10), chr(10) + '    ')}"))


@pytest.mark.parametrize(
    "wait",
    [
        "while not found() and time.monotonic() < deadline:\n    time.sleep(PAUSE)",
        "while True:\n    await asyncio.sleep(EVERY)",
        "for _ in range(TRIES):\n    await asyncio.sleep(0)",
        "for line in lines:\n    await asyncio.sleep(pace)",
    ],
)
def test_a_wait_by_the_clock_is_none(wait: str) -> None:
    assert not counted_waits(ast.parse(f"async def f():\n    {wait.replace(chr(10), chr(10) + '    ')}"))
