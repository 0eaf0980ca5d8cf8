"""What is public stands in one list; a change of it is meant, or it is a mistake."""

import ast
import inspect
import os
import subprocess
import sys
from enum import Enum
from pathlib import Path

import msgspec
import pytest

import halocline
import halocline.testing

SNAPSHOT = Path(__file__).with_name("public_names.txt")
FACES = {"halocline": halocline, "halocline.testing": halocline.testing}
NAMES = [pytest.param(face, name, id=f"{face}.{name}") for face, found in FACES.items() for name in found._MODULES]


def list_members() -> list[str]:
    """Every public name with its signature, and those of its public methods; fields of values are arguments."""
    lines: list[str] = []
    for face, found in FACES.items():
        for name in found._MODULES:
            value = getattr(found, name)
            lines.append(f"{face}.{name}{describe_signature(value)}")
            own = vars(value) if inspect.isclass(value) and not issubclass(value, msgspec.Struct) else {}
            methods = ((method, given) for method, given in own.items() if not method.startswith("_"))
            lines += [f"    {method}{describe_signature(given)}" for method, given in methods]
    return sorted_by_face(lines)


def sorted_by_face(lines: list[str]) -> list[str]:
    blocks: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [line for block in sorted(blocks) for line in (block[0], *sorted(block[1:]))]


def describe_signature(value: object) -> str:
    """The names of the arguments; those with a default may be left out."""
    given = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if not callable(given) or is_enum(value):
        return ""
    if getattr(value, "_is_protocol", False):
        return ""
    parameters = inspect.signature(given).parameters.values()
    return f"({', '.join(f'{one.name}=' if one.default is not one.empty else one.name for one in parameters)})"


def is_enum(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Enum)


def test_the_public_names_and_their_arguments_are_those_of_the_list():
    now = "\n".join(list_members()) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        SNAPSHOT.write_text(now, encoding="utf-8")
    assert now == SNAPSHOT.read_text(encoding="utf-8"), "If you mean it: UPDATE_GOLDEN=1, and say it in CHANGELOG.md"


@pytest.mark.parametrize(("face", "name"), NAMES)
def test_what_is_public_can_be_introspected_and_says_what_it_is_for(face, name):
    value = getattr(FACES[face], name)
    assert inspect.getdoc(value)
    if callable(value):
        assert inspect.signature(value) is not None
        methods = [one for key, one in vars(value).items() if key[0] != "_"] if inspect.isclass(value) else []
        own = [one for one in methods if inspect.isfunction(one) or isinstance(one, property)]
        assert [one for one in own if not inspect.getdoc(one)] == []


def test_the_options_of_a_task_can_be_introspected():
    from halocline.client.options import Choices, TaskOptions

    for options in (Choices, TaskOptions):
        assert inspect.signature(options).parameters


@pytest.mark.parametrize("face", FACES)
def test_type_checkers_and_the_interpreter_find_the_same_public_names(face):
    tree = ast.parse(Path(FACES[face].__file__).read_text(encoding="utf-8"))
    declared = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom) and node.module != "importlib"
        for alias in node.names
    }
    assert {name: f"halocline.{module}" for name, module in FACES[face]._MODULES.items()} == declared


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = halocline.nonsense


def test_an_interpreter_that_completes_names_offers_the_public_ones_alone():
    assert dir(halocline) == sorted(["__version__", *halocline._MODULES])
    assert dir(halocline.testing) == sorted(halocline.testing._MODULES)


@pytest.mark.process
def test_an_import_loads_nothing_until_a_name_is_used():
    code = (
        "import sys; before = set(sys.modules); import halocline; "
        "new = set(sys.modules) - before; "
        "print(*sorted(name for name in new if name.startswith(('halocline', 'msgspec', 'asyncio'))))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["halocline", "halocline._version"]


def test_the_package_says_that_it_has_types():
    assert Path(halocline.__file__).with_name("py.typed").exists()
