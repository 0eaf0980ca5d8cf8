"""The one reader makes a file with its encoding, mark and guards; whoever has one makes another by `replace`."""

import ast

from tests.architecture.sources import find_nodes, parse_modules

READER = "edits/text.py"


def test_only_the_reader_says_more_of_a_file_than_its_text():
    calls = [
        (name, call)
        for name, tree in parse_modules().items()
        for call in find_nodes(tree, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == "TextFile"
    ]
    assert {name for name, call in calls if len(call.args) + len(call.keywords) > 1} <= {
        READER,
        "tools/read_file.py",  # says an encoding in words; nothing is written
    }
    assert READER in {name for name, _ in calls}


def test_nothing_of_a_file_but_its_text_is_handed_on_field_by_field():
    taken = [
        name
        for name, tree in parse_modules().items()
        for node in find_nodes(tree, ast.Attribute)
        if isinstance(node, ast.Attribute)
        and node.attr in ("bom", "known")
        and ast.unparse(node.value).endswith("file")
    ]
    assert {*taken} <= {READER, "tools/read_file.py"}
