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
UNAWAITED = {
    "hosts/browser/worker.py": "its process ends behind it",
    "hosts/language_servers/servers.py": "`close` ends all of its tasks",
    "hosts/shell/job.py": "a wait for an event, at each look for output; it ends with the loop's next step",
    "hosts/shell/processes.py": "a future, and timers",
    "mcp/connection/pipes.py": "a scope of anyio, which waits itself",
    "mcp/connection/transports.py": "a scope of anyio, which waits itself",
    "mcp/connection/pool.py": "a timer",
    "providers/wrappers/retry.py": "a pause; a person who stops it is not kept for its end",
    "runtime/subagents/runner.py": "agents in the background, which end after the turn; `close` waits for them",
    "services/replay/task.py": "the replay waits for it",
    "surfaces/acp/agent.py": "a session, whose prompt answers with its end",
    "surfaces/acp/person_requests.py": "a request that an event takes back; `close` waits for the others",
    "surfaces/acp/session.py": "a command that the task may have already; turns, which tell their end",
    "surfaces/cli/background/best_of.py": "the race itself, which its caller awaits",
    "surfaces/cli/commands/board.py": "its function waits for it",
    "surfaces/cli/session/conversation.py": "the conversation itself, which its caller awaits",
    "surfaces/cli/session/waiting.py": "its function waits for it",
    "surfaces/terminal/composing/completion.py": "a future of another thread",
    "surfaces/terminal/composing/mention_preview.py": "a lookup that shows nothing any more; a key waits for none",
    "surfaces/terminal/composing/slash_menu.py": "a future of another thread",
    "surfaces/web/background_jobs.py": "`close` ends texts and waits for threads",
    "surfaces/web/task_view/views.py": "timers, and a reader among those that the server ends",
    "task/hooks/running_hooks.py": "the hook's caller awaits it",
    "task/inbox.py": "the loop awaits the turn; a future",
    "task/log.py": "a timer, and a thread that syncs, which nothing cancels",
}
"""Modules that cancel something whose end is not awaited where it is cancelled, with what becomes of it."""
TIMERS = {"call_later", "call_at", "Timer"}
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


def cancelled_unawaited(tree: ast.AST) -> set[str]:
    """What a module cancels that is no timer of it, and that no function with the cancellation waits for."""
    found, calls = set[str](), find_in(tree, ast.Call)
    timers = {ast.unparse(target) for value, target in assigned_in(tree) if makes_timer(value)}
    ended = {place for call in calls if named(call) == "end_tasks" for one in call.args for place in places_in(one)}
    awaited = {id(node.value) for node in find_in(tree, ast.Await)}
    bounded = {
        place
        for call in calls
        if named(call) == "wait" and any(keyword.arg == "timeout" for keyword in call.keywords)
        for place in places_in(call.args[0])
        if any(is_cancelled(node, place) for node in before(tree, call))
    }
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "cancel" and id(call) not in awaited:
            place = ast.unparse(call.func.value)
            if place not in timers | ended | bounded:
                found.add(place)
    return found


def named(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def makes_timer(value: ast.AST) -> bool:
    return any(named(call) in TIMERS for call in find_in(value, ast.Call))


def assigned_in(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for node in find_in(tree, ast.Assign):
        yield from ((node.value, target) for target in node.targets)
    for node in find_in(tree, ast.AnnAssign, ast.NamedExpr):
        if node.value:
            yield node.value, node.target


def before(tree: ast.AST, call: ast.Call) -> Iterator[ast.Call]:
    """The calls of the function of a call that come before it."""
    for function in find_in(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        inner = find_in(function, ast.Call)
        if call in inner:
            yield from (one for one in inner if one.lineno <= call.lineno)


def is_cancelled(call: ast.Call, place: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "cancel" and ast.unparse(call.func.value) == place


def test_whoever_cancels_waits_for_the_end_or_says_what_becomes_of_it() -> None:
    found = {
        module: places
        for module, tree in parse_modules().items()
        if cancels(tree) and (places := cancelled_unawaited(tree))
    }
    assert found.keys() - {OWNER} == UNAWAITED.keys(), found


@pytest.mark.parametrize(
    "end",
    [
        "job.cancel()",
        "for job in self.jobs:\n    job.cancel()",
        "self.jobs.pop(name).cancel()",
        "stale.cancel(), gone.cancel()",
        "await asyncio.wait([job], timeout=1)\njob.cancel()",
    ],
)
def test_a_cancellation_whose_end_nothing_awaits_is_found(end: str) -> None:
    assert cancelled_unawaited(ast.parse(f"async def f(self):\n    {end.replace(chr(10), chr(10) + '    ')}"))


@pytest.mark.parametrize(
    "end",
    [
        "job.cancel()\nawait end_tasks(job)",
        "job.cancel()\nawait asyncio.wait({job}, timeout=GRACE)",
        "timer = loop.call_later(1, f)\ntimer.cancel()",
        "await download.cancel()",
    ],
)
def test_a_cancellation_that_is_awaited_or_of_a_timer_is_none(end: str) -> None:
    assert not cancelled_unawaited(ast.parse(f"async def f(self):\n    {end.replace(chr(10), chr(10) + '    ')}"))


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
