"""The page's rooms: which may load what of which, and how much each holds."""

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from posixpath import normpath

from tests.architecture.page_sources import PAGE, read_modules
from tests.tables import for_each

MOST_MODULES = 20
FEATURES = {
    "settings": {"files"},
    "instructions": {"files"},
    "history": set(),
    "models": {"settings"},
    "files": set(),
    "decisions": {"files"},
    "composer": {"decisions", "models"},
    "review": {"decisions", "files"},
    "transcript": {"composer", "decisions", "files"},
    "mcp": {"transcript"},
    "board": {"decisions", "transcript"},
}
"""What each feature loads of others, beside the rooms below them all."""
ROOMS = {
    "lib": set(),
    "state": {"lib"},
    "widgets": {"lib", "state"},
    **{room: {"lib", "state", "widgets"} | others for room, others in FEATURES.items()},
    "shell": {"lib", "state", "widgets", *FEATURES},
    "": {"lib", "state", "shell"},
}
"""What each room may load: imports, those on first use, and styles. The last one is the entry modules at the top."""
_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\bimport\()\s*(['"`])(\.[^'"`]+)\1""")
_FIRST_USE = re.compile(r"""\bimport\((['"`])[^'"`]+\1\)(?!\.[A-Z])""")
_STYLE = re.compile(r"""style\(['"]static/js/([^'"]+)""")


def name_room(path: PurePosixPath) -> str:
    return path.parts[0] if len(path.parts) > 1 else ""


def list_loaded(path: PurePosixPath, text: str) -> set[PurePosixPath]:
    """What a module loads of the page's own files."""
    named = [normpath(f"{path.parent}/{written}") for _, written in _IMPORT.findall(text)] + _STYLE.findall(text)
    return {PurePosixPath(name) for name in named if not name.startswith("..")}


def test_every_folder_of_the_page_is_a_room() -> None:
    assert {name_room(path) for path in read_modules()} == set(ROOMS)
    assert {path.relative_to(PAGE).parent.as_posix() for path in PAGE.rglob("*.*")} == {*ROOMS, "."} - {""}


def test_rooms_load_only_what_they_may() -> None:
    wrong = {
        f"{path} loads {other}"
        for path, text in read_modules().items()
        for other in list_loaded(path, text)
        if name_room(other) not in {name_room(path), *ROOMS[name_room(path)]}
    }
    assert wrong == set()


def test_rooms_do_not_load_each_other_in_a_circle() -> None:
    left = dict(ROOMS)
    while free := {room for room, others in left.items() if not others & set(left)}:
        left = {room: others for room, others in left.items() if room not in free}
    assert left == {}


def test_no_modules_load_one_another_in_a_circle() -> None:
    """Also by an `import()` on first use, and a module does not load itself."""
    graph = {str(path): {*map(str, list_loaded(path, text))} for path, text in read_modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_what_a_room_may_load_is_loaded() -> None:
    found = {
        (name_room(path), name_room(other))
        for path, text in read_modules().items()
        for other in list_loaded(path, text)
    }
    assert {(room, other) for room, others in ROOMS.items() for other in others} - found == set()


def test_every_loaded_file_is_there() -> None:
    loaded = {other for path, text in read_modules().items() for other in list_loaded(path, text)}
    assert [str(other) for other in loaded if not (PAGE / other).is_file()] == []


@for_each("room", sorted(ROOMS))
def test_a_room_holds_no_more_than_one_can_look_through(room: str) -> None:
    assert Counter(map(name_room, read_modules()))[room] <= MOST_MODULES


def test_each_import_on_first_use_is_a_part_that_is_asked_for_again_when_it_fails() -> None:
    bare = {
        f"{path}: {found[0]}"
        for path, text in read_modules().items()
        for found in _FIRST_USE.finditer(text.replace("definePart(() => import(", ""))
    }
    assert bare == set()
