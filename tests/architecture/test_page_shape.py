"""The page's JavaScript keeps the laws of the Python: short functions, names of verb and noun, the glossary's words.

oxlint holds what it can tell by itself (`.oxlintrc.json`): no module over 400 lines, nothing over 100. The rest is
here.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.page_sources import is_component, list_functions, list_scripts
from tests.architecture.sources import ROOT
from tests.architecture.test_names import GLOSSARY, is_participle, words_of

LONGEST_FUNCTION = 60
"""Lines of a function that is no component; a component, which is mostly its template, may have 100."""
ONE_WORD = 0.42
"""The share of functions whose name is one word. The aim is 0.40. These budgets only fall."""
PARTICIPLES = 0.002
"""The share of those whose name is a participle alone, like `found`."""
OWN_WORDS = {"leave": 1, "visit": 1}
"""How many names still have a word of the glossary's left column: the verb, and what a page calls its first opening."""
_TOO_LONG = re.compile(r"function (?:`(?P<name>\w+)` )?has too many lines \((?P<lines>\d+)\)")
_ASSIGNED = re.compile(r"\b(?:const|let) (\w+) = (?:async )?$")


def find_long_functions(*paths: Path, most: int, folder: Path) -> dict[str, int]:
    """The functions over `most` lines, by file and name (empty if it has none), with their lines."""
    config = folder / "oxlint.json"
    rules = {"max-lines-per-function": ["error", {"max": most}]}
    config.write_text(json.dumps({"categories": {"correctness": "off"}, "rules": rules}))
    command = [Path(sys.executable).with_name("oxlint"), "--config", config, "--format", "json", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return {
        f"{Path(one['filename']).name}:{match['name'] or _name_assigned(one)}": int(match["lines"])
        for one in json.loads(done.stdout)["diagnostics"]
        if (match := _TOO_LONG.search(one["message"]))
    }


def _name_assigned(found: dict[str, Any]) -> str:
    """The name that an arrow function is given where it stands."""
    before = (ROOT / found["filename"]).read_bytes()[: found["labels"][0]["span"]["offset"]].decode()
    match = _ASSIGNED.search(before)
    return match[1] if match else ""


@pytest.mark.process
def test_no_function_of_the_page_is_long(tmp_path: Path) -> None:
    found = find_long_functions(*list_scripts(), most=LONGEST_FUNCTION, folder=tmp_path)
    assert [name for name in found if not is_component(name.partition(":")[2])] == []


@pytest.mark.process
def test_long_functions_are_found_whatever_their_form(tmp_path: Path) -> None:
    body = "{\n" + "  work()\n" * LONGEST_FUNCTION + "}\n"
    forms = {
        "declared.js": "function doWork() ",
        "assigned.js": "const doWork = () => ",
        "given.js": "useEffect(() => ",
        "Component.js": "function Work() ",
    }
    for name, form in forms.items():
        (tmp_path / name).write_text(form + body + (")" if form.startswith("use") else ""))
    found = find_long_functions(tmp_path, most=LONGEST_FUNCTION, folder=tmp_path)
    names = ("declared.js:doWork", "assigned.js:doWork", "given.js:", "Component.js:Work")
    assert found == dict.fromkeys(names, LONGEST_FUNCTION + 2)


def test_most_functions_of_the_page_are_named_by_more_than_one_word() -> None:
    names = [name for name in list_functions() if not is_component(name)]
    assert sum(len(words_of(name)) == 1 for name in names) / len(names) <= ONE_WORD


def test_few_functions_of_the_page_are_named_by_a_participle_alone() -> None:
    names = [name for name in list_functions() if not is_component(name)]
    assert sum(is_participle(name) for name in names if len(words_of(name)) == 1) / len(names) <= PARTICIPLES


def test_the_page_creates_no_formatter_of_dates() -> None:
    # The first one that a browser makes is a task of 25 ms, and of 100 on a CPU four times slower.
    found = [path.name for path in list_scripts() if re.search(r"\bIntl\.|toLocale(Date|Time)", path.read_text())]
    assert found == []


def test_the_page_has_no_words_of_our_own() -> None:
    table = re.findall(r"^\| `([a-z]+)` \|", GLOSSARY, re.MULTILINE)
    modules = (path.stem for path in list_scripts())
    counts = Counter(word for name in (*list_functions(), *modules) for word in {*words_of(name.replace("-", "_"))})
    assert {word: counts[word] for word in table if counts[word]} == OWN_WORDS


def test_a_text_that_is_shown_in_part_says_so() -> None:
    cut = re.compile(r"shown\([^`;]*?\.slice\(0, (?!end\b)")
    lines = {f"{path.name}: {line.strip()}" for path in list_scripts() for line in path.read_text("utf-8").splitlines()}
    assert [line for line in lines if cut.search(line)] == [], "use `truncate` of lib/format.js"
