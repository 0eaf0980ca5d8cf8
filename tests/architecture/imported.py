"""What our modules import of one another, with what they name through packages that load their modules later."""

import ast
from collections import defaultdict
from functools import cache

from tests.architecture.sources import find_nodes, parse_modules

PACKAGE = "halocline"


def full_name(module: str) -> str:
    """Return the dotted name of a module from its path below the package."""
    return f"{PACKAGE}/{module}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def find_imports(tree: ast.AST) -> list[ast.ImportFrom]:
    """The imports of our own modules anywhere in a tree."""
    found = (node for node in find_nodes(tree, ast.ImportFrom) if not node.level)
    return [node for node in found if (node.module or "").split(".")[0] == PACKAGE]


@cache
def named_by_module() -> dict[str, frozenset[str]]:
    """The dotted names of ours that each module imports, or reaches by `package.module.name`."""
    return {full_name(path): frozenset(_list_named(tree)) for path, tree in parse_modules().items()}


@cache
def imported_by_module() -> dict[str, frozenset[str]]:
    """The modules that each module imports or reaches."""
    modules = {full_name(path) for path in parse_modules()}
    return {
        name: frozenset(filter(None, (module_of(each, modules) for each in named))) - {name}
        for name, named in named_by_module().items()
    }


def module_of(name: str, modules: set[str]) -> str:
    """Return the module that a dotted name leads to; empty if it is none of ours."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def _list_named(tree: ast.Module) -> set[str]:
    begins: dict[str, str] = {}
    named: set[str] = set()
    for node in find_imports(tree):
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            begins[alias.asname or alias.name] = name
            named.add(name)
    for node in find_nodes(tree, ast.Attribute):
        rest: list[str] = []
        while isinstance(node, ast.Attribute):
            rest.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in begins:
            named.add(".".join((begins[node.id], *reversed(rest))))
    return named


@cache
def arrows_by_package() -> dict[str, dict[str, set[str]]]:
    """By package, the rooms (modules and folders) that each of its rooms imports from."""
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, targets in imported_by_module().items():
        for target in targets:
            package, room, other = find_fork(module, target)
            if room and other:
                arrows[package][room].add(other)
    return arrows


def find_fork(module: str, target: str) -> tuple[str, str, str]:
    """Return the package in which two modules are, and the room of each; no room for the package itself."""
    here, there = module.split("."), target.split(".")
    same = next((n for n, (one, other) in enumerate(zip(here, there, strict=False)) if one != other), None)
    if same is None:
        return "", "", ""
    return ".".join(here[:same]), here[same], there[same]
