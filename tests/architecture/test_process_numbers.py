"""A process is known again by its number and its start: a number alone may be another process's by now.

So one module looks whether a process lives and when it started (`protocol.processes`), and whatever keeps a number on
disk keeps the start with it.
"""

import ast

from tests.architecture.sources import find_nodes, parse_modules

OWNER = "protocol/processes.py"
KEEPING = {"checkpoints/changes/claims.py", "checkpoints/store/unreported.py", "task/lock.py"}
"""Modules that keep the number of their process on disk, for another one that asks whether it still runs."""
LOOKING = {
    "hosts/keeper.py": "runs alone; groups of its own children, whose numbers are theirs until it saw their end",
    "hosts/sandbox/probe.py": "runs alone, in a sandbox that is tested: whether it sees a process that surely runs",
}
READING = {
    "hosts/shell/ancestry.py": "the command and the open files of the parents of a process; looks again if one ended",
    "hosts/shell/readiness.py": "the time and the ports of commands that run now; nothing is kept",
    "hosts/keeper.py": "the processes below its own, which it adopts",
}
NAMING = {
    OWNER: "whether a process is this one",
    "protocol/file_locks.py": "tells a person who holds a lock; whether it is held, the kernel says",
    "services/imports.py": "a name that no other process writes to; leftovers are known by their lock",
    "hosts/sandbox/sandbox.py": "a name that no other process writes to",
    "hosts/sandbox/self_test.py": "a process that surely runs, for the probe",
    "hosts/browser/browser.py": "its own ports, now",
    "hosts/language_servers/server.py": "tells a server who started it, which ends with it",
    "surfaces/web/open_tasks.py": "tells its own tasks from those of other processes, by the lock of each",
    "surfaces/web/task_watch.py": "tells its own tasks from those of other processes, by the lock of each",
    "batch/shells.py": "a name in a container or on a machine that no other process writes to",
    "runtime/own_program.py": "its own parents, now",
    "surfaces/terminal/view.py": "tells its own commands by the name that the task socket gives this process",
    "surfaces/cli/background/process.py": "tells in its output which process ran a task",
    "runtime/attach/server.py": "tells a person where a task runs",
    "hosts/keeper.py": "its own descendants, now",
}


def is_of_os(call: ast.Call, *names: str) -> bool:
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func) in {f"os.{name}" for name in names}


def looks(tree: ast.Module) -> bool:
    """True if a module sends the signal 0, which says whether a process lives."""
    calls = (call for call in find_nodes(tree, ast.Call) if is_of_os(call, "kill", "killpg"))
    return any(len(call.args) == 2 and ast.unparse(call.args[1]) == "0" for call in calls)


def reads(tree: ast.Module) -> bool:
    """True if a module reads what /proc has of a process by its number, or lists all."""
    begins = (part.values[0] for part in find_nodes(tree, ast.JoinedStr) if part.values)
    numbered = any(isinstance(one, ast.Constant) and str(one.value) == "/proc/" for one in begins)
    return numbered or lists(tree)


def lists(tree: ast.Module) -> bool:
    calls = (call for call in find_nodes(tree, ast.Call) if is_of_os(call, "listdir", "scandir"))
    return any(ast.unparse(one) in ("'/proc'", "'/proc/'") for call in calls for one in call.args)


def names_itself(tree: ast.Module) -> bool:
    """True if a module asks for the number of its process for something else than a signal to itself."""
    calls = [call for call in find_nodes(tree, ast.Call) if is_of_os(call, "getpid")]
    signalled = [call.args[0] for call in find_nodes(tree, ast.Call) if is_of_os(call, "kill") and call.args]
    return any(call not in signalled for call in calls)


def imports(tree: ast.Module) -> set[str]:
    found = (one for one in find_nodes(tree, ast.ImportFrom) if one.module == "halocline.protocol.processes")
    return {name.name for one in found for name in one.names}


def test_only_one_module_looks_whether_a_process_lives():
    found = {module for module, tree in parse_modules().items() if looks(tree)}
    assert found == {OWNER, *LOOKING}


def test_only_one_module_reads_what_the_system_knows_of_a_process_to_know_it_again():
    found = {module for module, tree in parse_modules().items() if reads(tree)}
    assert found == {OWNER, *READING}


def test_whoever_keeps_the_number_of_a_process_keeps_its_start():
    modules = parse_modules()
    assert {module for module, tree in modules.items() if names_itself(tree)} == KEEPING | NAMING.keys()
    starts = {"read_start", "read_own_start"}
    assert all("is_running" in (found := imports(modules[module])) and starts & found for module in KEEPING)
