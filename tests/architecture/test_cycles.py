"""Imports among our own modules, those within functions and for types counted too."""

import ast
from graphlib import CycleError, TopologicalSorter

from tests.architecture.imported import find_imports, full_name
from tests.architecture.sources import find_nodes, parse_modules

LATE_IMPORTS = 52
"""Imports of our own within functions: what a start would pay for and does not need. The number only falls."""


def test_no_modules_import_one_another_in_a_circle() -> None:
    modules = {full_name(name): tree for name, tree in parse_modules().items()}
    graph: dict[str, set[str]] = {}
    for name, tree in modules.items():
        names = {(node.module or "", alias.name) for node in find_imports(tree) for alias in node.names}
        targets = {f"{module}.{alias}" if f"{module}.{alias}" in modules else module for module, alias in names}
        graph[name] = targets - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_imports_within_functions_become_fewer() -> None:
    late = [
        node
        for tree in parse_modules().values()
        for function in find_nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in find_imports(tree)
        if function.lineno <= node.lineno <= function.end_lineno
    ]
    assert len(late) == LATE_IMPORTS
