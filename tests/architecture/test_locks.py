"""Files are locked in one place only, which never waits without a deadline."""

import ast

from tests.architecture.sources import parse_modules

LOCKS = {"flock", "lockf", "F_SETLKW", "F_OFD_SETLKW", "LOCK_EX", "LOCK_SH"}
"""What locks files, or says how."""
PLACE = "protocol/file_locks.py"


def named(tree: ast.AST) -> set[str]:
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {one.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names}
    return (attributes | imported) & LOCKS


def test_only_one_module_locks_files_and_it_waits_with_a_deadline() -> None:
    assert [module for module, tree in parse_modules().items() if named(tree)] == [PLACE]


def test_that_module_asks_for_each_lock_without_waiting() -> None:
    calls = [
        node
        for node in ast.walk(parse_modules()[PLACE])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOCKS
    ]
    assert calls
    assert all("LOCK_NB" in ast.unparse(call) for call in calls)
