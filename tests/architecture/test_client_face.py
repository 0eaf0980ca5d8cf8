import ast
import re
from itertools import chain
from pathlib import Path

import halocline.client

ROOMS = sorted(Path(halocline.client.__file__).parent.glob("[a-z]*.py"))
SOURCES = Path(halocline.__file__).parent


def list_names(room: Path) -> list[str]:
    imports = [node for node in ast.parse(room.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in imports for alias in node.names if alias.asname]


def test_each_name_is_handed_on_by_one_room():
    names = sorted(chain.from_iterable(map(list_names, ROOMS)))
    assert names == sorted(set(names))


def test_every_name_that_is_handed_on_is_used():
    users = [*SOURCES.glob("surfaces/**/*.py"), *SOURCES.glob("sdk/*.py"), *SOURCES.glob("testing/*.py")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in users)))
    assert [name for room in ROOMS for name in list_names(room) if name not in words] == []
