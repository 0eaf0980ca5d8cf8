"""A sentence for nothing found says what was not looked at: it uses `say_absent`, or stands here with a reason."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import find_nodes, parse_modules

ROOMS = ("tools/", "runtime/mentions/", "runtime/prompts/", "surfaces/slash/", "hosts/ripgrep", "hosts/code/")
ABSENT = re.compile(
    r"(?i)\bno (match(es)?|definitions?|results?|symbols?|entries|files? (in|fits?|below|here|there))\b"
    r"|\b(nothing|none|not) (was |were )?(found|there)\b|\bnone fits?|\b(is|are) empty\b|does not exist"
)
GIVEN = "a text that the model or the person gave"
LOOKED = "one file that was named: it was looked for at its place, hidden or not"
EXACT = {
    "runtime/mentions/files.py: [the file is empty]": LOOKED,
    "runtime/mentions/files.py: not found": LOOKED,
    "runtime/mentions/files.py: not found; nearest: ": LOOKED,
    "runtime/mentions/other.py: not found: this is not the name of a class or function": GIVEN,
    "runtime/prompts/expand.py: The message is empty.": GIVEN,
    "surfaces/slash/lists.py: The to-do list is empty.": "a list that is shown whole",
    "tools/apply_patch.py:  does not exist.": LOOKED,
    "tools/browser_action.py: text is empty. Set it to what you want to type.": GIVEN,
    "tools/job.py: text is empty. Set it to what you want to type.": GIVEN,
    "tools/places.py:  does not exist.": LOOKED,
    "tools/read_file.py: [the file is empty]": LOOKED,
    "tools/remember.py: note is empty. Set it to the fact to remember.": GIVEN,
    "tools/web_search.py: No results from these domains; not with allowed_domains.": GIVEN,
    "tools/web_search.py: query is empty. Set it to what you want to find.": GIVEN,
}
"""Texts that need not say it, and why."""


def sentences() -> Iterator[tuple[str, str, bool]]:
    """Each text for people or models in these rooms, its module, and True if it goes through `say_absent`."""
    for module, tree in parse_modules().items():
        if not module.startswith(ROOMS):
            continue
        said = {id(part) for call in find_nodes(tree, ast.Call) if is_saying(call) for part in ast.walk(call)}
        documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                yield module, node.value, id(node) in said


def is_saying(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "say_absent"


def test_every_word_for_nothing_found_says_what_was_not_looked_at():
    bare = {f"{module}: {text}" for module, text, said in sentences() if ABSENT.search(text) and not said}
    assert sorted(bare - EXACT.keys()) == []
    assert sorted(EXACT.keys() - bare) == []
