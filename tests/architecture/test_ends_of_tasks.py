"""A task that is cancelled may continue, so what waits for its end cancels it until then: `protocol.waiting.end_tasks`.

Until Python 3.12, `asyncio.wait_for` itself loses a cancellation that comes together with the result: it is not used.
"""

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from tests.architecture.sources import find_nodes, parse_modules

OWNER = "protocol/waiting.py"
BY_OTHERS = {
    "surfaces/cli/session/waiting.py": "the next signal of a person cancels again; an editor keeps the terminal",
    "surfaces/cli/commands/board.py": "a signal ends the opening of a task, and the next one asks again",
    "surfaces/acp/session.py": "the client stops a slash command, and may do so again; `close` ends it surely",
    "surfaces/web/background_jobs.py": "threads end at their next step; texts are ended surely before",
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def cancels(tree: ast.Module) -> bool:
    return any(node.attr == "cancel" for node in find_nodes(tree, ast.Attribute))


def loses_cancellations(node: ast.Attribute | ast.ImportFrom) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="asyncio"), attr="wait_for"):
            return True
        case ast.ImportFrom(module="asyncio", names=names):
            return "wait_for" in {name.name for name in names}
    return False


def waits_in_vain(tree: ast.Module) -> set[str]:
    """What is awaited without a limit after its cancellation in a function, or by another method of the class."""
    found = set()
    for node in tree.body:
        functions = [part for part in getattr(node, "body", ()) if isinstance(part, FUNCTIONS)]
        for function in [node] if isinstance(node, FUNCTIONS) else functions:
            awaited = dict(awaited_in(function))
            found |= {place for place, line in cancelled_in(function) if line <= awaited.get(place, 0)}
        cancelled = {place for function in functions for place, _ in cancelled_in(function)}
        found |= {
            place for function in functions for place, _ in awaited_in(function) if place[:5] == "self."
        } & cancelled
    return found


def find_in(function: ast.AST, *kinds: type[ast.AST]) -> list[Any]:
    return [node for node in ast.walk(function) if isinstance(node, kinds)]


def cancelled_in(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The places of what is cancelled, also of where it was taken from, with the line."""
    sources = dict(sources_in(function))
    for call in find_in(function, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "cancel":
            taken = call.func.value
            for node in (taken, sources.get(ast.unparse(taken))):
                yield from ((place, call.lineno) for place in places_in(node))


def sources_in(function: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in find_in(function, ast.For, ast.AsyncFor, ast.comprehension):
        yield from ((name.id, node.iter) for name in names_in(node.target))
    for node in find_in(function, ast.NamedExpr):
        yield ast.unparse(node.target), node.value


def awaited_in(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The places of what is awaited to its end, with the line; the last line comes last."""
    for node in sorted(find_in(function, ast.Await), key=lambda node: node.lineno):
        match node.value:
            case ast.Name() | ast.Attribute():
                yield from ((place, node.lineno) for place in places_in(node.value))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"), attr="wait" | "gather")) as call:
                if not {"timeout", "return_when"} & {keyword.arg for keyword in call.keywords}:
                    yield from ((place, node.lineno) for given in call.args for place in places_in(given))


def names_in(target: ast.AST) -> Iterator[ast.Name]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def places_in(node: ast.AST | None) -> Iterator[str]:
    """The variables and attributes of `self` that an expression reads."""
    for part in ast.walk(node) if node else ():
        match part:
            case ast.Attribute(value=ast.Name(id="self")):
                yield ast.unparse(part)
            case ast.Name(id=name) if name not in ("self", "asyncio"):
                yield name


def test_what_waits_for_the_end_of_a_cancelled_task_cancels_it_until_then() -> None:
    cancelling = {module: tree for module, tree in parse_modules().items() if cancels(tree)}
    found = {module: waits for module, tree in cancelling.items() if (waits := waits_in_vain(tree))}
    assert found.keys() - {OWNER} == BY_OTHERS.keys(), found


def test_no_wait_loses_a_cancellation() -> None:
    found = [
        f"{module}:{node.lineno}"
        for module, tree in parse_modules().items()
        for node in find_nodes(tree, ast.Attribute, ast.ImportFrom)
        if loses_cancellations(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    "end",
    [
        "job.cancel()\nawait job",
        "job.cancel()\nawait asyncio.wait([job])",
        "jobs = [a, b]\nfor job in jobs:\n    job.cancel()\nawait asyncio.gather(*jobs, return_exceptions=True)",
        "for _, job in self.jobs:\n    job.cancel()\nawait asyncio.gather(*(job for _, job in self.jobs))",
        "[job.cancel() for job in self.jobs.values()]\nawait asyncio.wait(self.jobs.values())",
        "if job := self.jobs.get(name):\n    job.cancel()\nawait asyncio.wait(self.jobs.values())",
        "def stop():\n    job.cancel()\nwith handle_signals(stop):\n    await asyncio.wait([job])",
    ],
)
def test_a_wait_for_one_cancellation_is_found(end: str) -> None:
    assert waits_in_vain(ast.parse(f"async def f(self):\n    {end.replace(chr(10), chr(10) + '    ')}"))


def test_a_wait_in_another_method_is_found() -> None:
    stop, close = "def stop(self):\n  self.job.cancel()", "async def close(self):\n  await asyncio.wait([self.job])"
    assert waits_in_vain(ast.parse(f"class Jobs:\n {stop}\n {close}")) == {"self.job"}


@pytest.mark.parametrize(
    "end",
    [
        "await end_tasks(job)",
        "timer.cancel()\nawait job",
        "job.cancel()\nawait asyncio.wait([job], timeout=GRACE)",
        "await asyncio.wait([job, gone], return_when=asyncio.FIRST_COMPLETED)\njob.cancel()",
        "await job\njob.cancel()",
    ],
)
def test_other_waits_are_none(end: str) -> None:
    assert not waits_in_vain(ast.parse(f"async def f(self):\n    {end.replace(chr(10), chr(10) + '    ')}"))
