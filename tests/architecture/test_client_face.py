import ast
from pathlib import Path

import halocline.client

FACE = ast.parse(Path(halocline.client.__file__).read_text(encoding="utf-8"))


def test_type_checkers_and_the_interpreter_find_the_same_public_names():
    declared = {
        alias.name: node.module
        for node in ast.walk(FACE)
        if isinstance(node, ast.ImportFrom) and node.module not in ("typing", "halocline.lazy_modules")
        for alias in node.names
    }
    assert {name: f"halocline.{module}" for name, module in halocline.client._MODULES.items()} == declared


def test_every_public_name_can_be_imported():
    for name in halocline.client._MODULES:
        assert getattr(halocline.client, name) is not None
