from pathlib import Path

import pytest

from halocline.protocol.errors import ToolFailure

pytestmark = pytest.mark.process

SEA = "class Sea:\n    def salt(self):\n        pass\n\n\ndef salty():\n    pass\n"
TOOL = "list_code_definition_names"


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "src").mkdir()
    (workspace / "src" / "sea.py").write_text(
        "class Sea:\n    def salt(self):\n        pass\n\n\ndef salty():\n    pass\n"
    )
    (workspace / "salt.go").write_text("package p\n\nfunc Salt() {}\n\nfunc (l *Lake) salt() {}\n")
    (workspace / "built.py").write_text("def salt(): pass\n")
    (workspace / ".gitignore").write_text("built.py\n")
    (workspace / "notes.txt").write_text("def salt(): pass\n")
    return workspace


async def test_a_file_lists_all_it_defines(say, project):
    assert await say(TOOL, path="src/sea.py") == "1-3 class Sea\n2-3 method Sea.salt\n6-7 function salty"


async def test_a_folder_lists_the_outermost_definitions_nearest_files_first(say, project):
    assert await say(TOOL) == "salt.go\n3-3 function Salt\nsrc/sea.py\n1-3 class Sea\n6-7 function salty"


async def test_a_name_finds_definitions_everywhere_the_exact_ones_first(say, project):
    assert (await say(TOOL, name="salt")).split("\n") == [
        "salt.go:5-5 method Lake.salt",
        "src/sea.py:2-3 method Sea.salt",
        "salt.go:3-3 function Salt",
        "src/sea.py:6-7 function salty",
    ]


@pytest.mark.parametrize("name", ["Sea.salt", "Sea::salt", "Sea#salt"])
async def test_a_name_with_its_owner_finds_only_that_one(say, project, name):
    assert await say(TOOL, name=name) == "src/sea.py:2-3 method Sea.salt"


async def test_nothing_found_says_where_else_to_look(say, project):
    assert await say(TOOL, name="pepper") == (
        "[no definition of pepper; search_files finds its uses; "
        "not looked at: 1 ignored file (built.py; name one as path)]"
    )


async def test_a_file_in_no_known_language_is_told(call, project):
    with pytest.raises(ToolFailure, match="cannot be parsed"):
        await call(TOOL, path="notes.txt")


async def test_a_long_list_is_cut_with_what_to_do(say, workspace: Path):
    (workspace / "a.py").write_text("".join(f"def f{i}(): pass\n" for i in range(900)))
    assert (await say(TOOL, path="a.py")).endswith("[400 of 900 lines; narrow the list with name]")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8"])
async def test_definitions_are_read_in_the_encoding_of_the_file(say, workspace: Path, encoding: str):
    text = "class Größe:\n    def länge(self): ...\n    def müde(self): ...\n"
    (workspace / "k.py").write_bytes(text.encode(encoding))
    assert "class Größe" in await say("list_code_definition_names", path="k.py")
    assert "method Größe.länge" in await say("list_code_definition_names", name="länge")
