"""Which rooms name concrete classes: those of the packages that do the work, but for values, enums and errors."""

import ast

from tests.architecture.imported import full_name, module_of, named_by_module
from tests.architecture.sources import parse_modules

CONCRETE = {"checkpoints", "hosts", "importers", "mcp", "providers", "store", "tools"}
PLAIN = {"Value", "Struct", "Exception", "Enum", "IntEnum", "StrEnum", "ToolFailure"}
"""Bases of classes that hold values, or are raised."""
NAMED = {
    "batch.fleet": "store",
    "client.storage": "store",
    "runtime.assembly": "checkpoints hosts mcp providers store tools",
    "runtime.controller": "providers store",
    "runtime.history": "checkpoints store",
    "runtime.mcp": "hosts mcp providers store",
    "runtime.model_switch": "providers",
    "runtime.models": "providers store",
    "runtime.open_task": "providers",
    "runtime.parts": "hosts",
    "runtime.plugins": "store",
    "runtime.prompts": "providers",
    "runtime.recording_model": "store",
    "runtime.rules": "hosts store",
    "runtime.start": "store",
    "runtime.subagents": "providers",
    "runtime.uploads": "hosts",
    "services.doctor": "hosts",
    "services.folders": "checkpoints",
    "services.imports": "importers",
    "services.instructions": "store",
    "services.mcp": "hosts mcp store",
    "services.models": "hosts providers store",
    "services.plugins": "store",
    "services.policy": "mcp",
    "services.replay": "hosts",
    "services.tasks": "store",
    "testing": "providers",
    "testing.fixtures": "providers",
}
"""The rooms that name concrete classes, and of which packages. All other rooms know the ports."""


def is_concrete(node: ast.stmt) -> bool:
    """True for a class that is more than a value or an error."""
    return isinstance(node, ast.ClassDef) and not any(ast.unparse(base).split(".")[-1] in PLAIN for base in node.bases)


def list_concrete_classes() -> dict[str, set[str]]:
    """The concrete classes that each module of the packages that do the work defines, by the module's name."""
    modules = {full_name(path): tree for path, tree in parse_modules().items()}
    return {
        name: {node.name for node in tree.body if isinstance(node, ast.ClassDef) and is_concrete(node)}
        for name, tree in modules.items()
        if package_of(name) in CONCRETE
    }


def package_of(module: str) -> str:
    return ".".join(module.split(".")[1:2])


def test_only_the_rooms_of_the_list_name_concrete_classes() -> None:
    classes, found = list_concrete_classes(), dict[str, set[str]]()
    for module, names in named_by_module().items():
        for name in names if package_of(module) not in CONCRETE else ():
            defined = module_of(name, {*classes})
            if name.removeprefix(f"{defined}.").split(".")[0] in classes.get(defined, ()):
                found.setdefault(".".join(module.split(".")[1:3]), set()).add(package_of(defined))
    assert {room: " ".join(sorted(packages)) for room, packages in found.items()} == NAMED
