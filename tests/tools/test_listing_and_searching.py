import os
import re
from pathlib import Path

import pytest

from halocline.protocol.errors import ToolFailure

pytestmark = pytest.mark.process


@pytest.fixture
def project(workspace: Path) -> Path:
    for name, text in {"b.py": "alpha\n", "src/a.py": "x\nalpha\ny\nz\nz\nalpha\n", ".hidden/c": "alpha\n"}.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    return workspace


async def test_a_folder_lists_everything_directly_in_it(say, project: Path):
    assert await say("list_files") == ".hidden/\nb.py\nsrc/"
    assert await say("list_files", path="src") == "a.py"


async def test_a_recursive_list_goes_breadth_first_with_hidden_files(say, project: Path):
    assert await say("list_files", path=".", recursive="true") == ".hidden/\nb.py\nsrc/\n.hidden/c\nsrc/a.py"


@pytest.mark.parametrize("recursive", [True, False])
async def test_a_long_list_is_cut_and_says_so(say, workspace: Path, recursive: bool):
    for i in range(250):
        (workspace / f"f{i:03}").touch()
    lines = (await say("list_files", path=".", recursive=recursive)).split("\n")
    assert lines[199] == "f199"
    assert lines[200:] == ["[200 of 250 entries; page=2 has more, or list a folder below]"]
    lines = (await say("list_files", path=".", recursive=recursive, page=2)).split("\n")
    assert (lines[0], lines[49:]) == ("f200", ["f249", "[50 of 250 entries; no more pages]"])


async def test_an_empty_folder_is_said_to_be_empty(say):
    assert await say("list_files") == "[the folder is empty]"


async def test_a_file_is_not_listed(say, project: Path):
    with pytest.raises(ToolFailure, match="Use read_file"):
        await say("list_files", path="b.py")


@pytest.mark.parametrize("path", ["/", "~"])
async def test_the_whole_machine_is_not_listed_with_everything_below(say, path: str):
    with pytest.raises(ToolFailure, match="too large"):
        await say("list_files", path=path, recursive=True)


async def test_odd_names_cannot_break_the_list(say, workspace: Path):
    for name in ["line\nbreak", os.fsdecode(b"\xff")]:
        (workspace / name).touch()
    assert await say("list_files") == "line\\nbreak\n\ufffd"


async def test_matches_are_grouped_by_file_with_context(say, project: Path):
    text = await say("search_files", regex="alpha")
    assert text == "src/a.py\n1- x\n2: alpha\n3- y\n--\n5- z\n6: alpha\nb.py\n1: alpha\n.hidden/c\n1: alpha"


async def test_one_file_can_be_searched(say, project: Path):
    assert await say("search_files", path="b.py", regex="ALPHA|(?i)Alpha") == "b.py\n1: alpha"


async def test_a_pattern_narrows_the_search(say, project: Path):
    assert await say("search_files", regex="alpha", file_pattern="src/*.py") != ""
    assert (await say("search_files", regex="alpha", file_pattern="*.md")).startswith("[no match in .;")


async def test_more_matches_than_can_be_shown_are_said_to_exist(say, workspace: Path):
    (workspace / "a").write_text("hit\n" * 1_000)
    text = await say("search_files", regex="hit")
    assert text.count("hit") == 300
    assert text.endswith("[300 of 1,000 matches, most relevant files first; narrow regex, path or file_pattern]")


async def test_of_many_files_none_takes_all_the_room(say, workspace: Path):
    (workspace / "a.py").write_text("def hit(): ...\n" + "hit()\n" * 1_000)
    for i in range(50):
        (workspace / f"b{i:02}.py").write_text("hit()\n" * 20)
    text = await say("search_files", regex="hit")
    assert text.startswith("a.py\n1: def hit(): ...\n")
    assert text.count(": hit()") + text.count(": def hit") == 300
    assert text.count(".py\n") == 30
    assert text.endswith("[300 of 2,001 matches, most relevant files first; narrow regex, path or file_pattern]")


async def test_what_is_not_even_looked_at_is_said(say, workspace: Path):
    (workspace / "a").write_text("hit\n" * 5_000)
    assert "[300 of more than 3,000 matches," in await say("search_files", regex="hit")


async def test_an_expression_that_the_engine_has_not_is_explained_without_its_options(say, workspace: Path):
    with pytest.raises(ToolFailure, match=r"(?s)look-around.*not supported\s+Rewrite the pattern") as failed:
        await say("search_files", regex="(?<=a)b")
    assert "PCRE2" not in failed.value.text


async def test_long_results_are_cut(say, workspace: Path):
    (workspace / "a").write_text(("hit" + "\u00e9" * 490 + "\n" + "x" * 490 + "\n") * 300)
    text = await say("search_files", regex="hit")
    assert 240_000 < len(text) < 250_200
    assert re.search(r"\n\[25\d of 300 matches, most relevant files first; [^\n]+\]$", text)
    assert text.count("hit") == int(text.split("\n[")[1].split(" ")[0])


async def test_a_wrong_expression_and_a_missing_folder_are_failures(say):
    with pytest.raises(ToolFailure, match="unclosed group"):
        await say("search_files", regex="(")
    with pytest.raises(ToolFailure, match=r"lib does not exist\."):
        await say("search_files", regex="x", path="lib")


OVER_LINES = {
    r"a\(\):\s+return": "f.py\n1: def a():\n2: \n3:     return 1\n4- class B:",
    r"a\(\):\n\n": "f.py\n1: def a():\n2-",
    "a\\(\\):\n+ +return": "f.py\n1: def a():\n2: \n3:     return 1\n4- class B:",
    r"a\(\):(\r\n|\n)": "f.py\n1: def a():\n2-",
    r"(?s)a\(\).*?1": "f.py\n1: def a():\n2: \n3:     return 1\n4- class B:",
    r"return[^)]+B": "f.py\n2- \n3:     return 1\n4: class B:\n5-     x = 2",
    r"^\s*return": "f.py\n2- \n3:     return 1\n4- class B:",
    r"B:\s*$": "f.py\n3-     return 1\n4: class B:\n5-     x = 2",
    r"x\s=\s2": "f.py\n4- class B:\n5:     x = 2",
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("regex", OVER_LINES)
async def test_an_expression_may_run_over_lines_and_marks_no_others(say, workspace: Path, regex: str, ends: str):
    text = "def a():\n\n    return 1\nclass B:\n    x = 2\n"
    (workspace / "f.py").write_bytes(text.replace("\n", ends).encode())
    assert (await say("search_files", regex=regex)).rstrip() == OVER_LINES[regex]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-8-sig", "utf-8"])
@pytest.mark.parametrize("regex", ["grün", "gr.n", "GR(?i)Ü", r"\w+ needle", "needle"])
async def test_text_is_found_as_it_is_read(say, workspace: Path, encoding: str, regex: str):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (workspace / "u.txt").write_bytes(mark + "first\ngrün needle GRÜ\n".encode(encoding))
    assert await say("search_files", regex=regex, context=0) == "u.txt\n2: grün needle GRÜ"


async def test_a_search_shows_files_or_counts(say, project: Path):
    assert await say("search_files", regex="alpha", show="files") == "src/a.py\nb.py\n.hidden/c"
    assert await say("search_files", regex="alpha", show="counts") == "src/a.py: 2\nb.py: 1\n.hidden/c: 1"
    assert await say("search_files", path="src", regex="alpha", context=0) == "src/a.py\n2: alpha\n--\n6: alpha"


async def test_files_are_found_by_name_newest_first(say, project: Path):
    os.utime(project / "b.py", (1, 1))
    os.utime(project / "src/a.py", (2, 2))
    assert await say("list_files", pattern="*.py") == "src/a.py\nb.py"
    assert await say("list_files", pattern="*.rs") == "[no files in .; none of 3 files there fits the pattern]"


BUILT = {
    "package.json": "dist/",
    "Cargo.toml": "target/",
    "CMakeLists.txt": "build/",
    "web/package.json": "web/dist/",
    "made/CACHEDIR.TAG": "made/",
    "env/pyvenv.cfg": "env/",
}


@pytest.mark.parametrize("sign", BUILT)
async def test_what_was_built_is_left_out_of_a_list_and_said(say, workspace: Path, sign: str):
    for name in (sign, f"{BUILT[sign]}deep/x.js", "src/dist/own.js"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).touch()
    text = await say("list_files", recursive=True)
    assert "x.js" not in text
    assert "src/dist/own.js" in text
    assert text.endswith(f"\n[built or cached, so not listed: {BUILT[sign]}; name one as path to list it]")
    assert "deep/x.js" in await say("list_files", path=BUILT[sign], recursive=True)


async def test_nothing_found_says_what_was_not_looked_at(say, workspace: Path):
    for name in ("a.py", "out/b.py", "out/c.py", "node_modules/d.js"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("x\n")
    (workspace / ".gitignore").write_text("out/\n")
    (workspace / "e.bin").write_bytes(b"\0")
    (workspace / "f.js").write_bytes(b"needle" * 200_000)
    assert await say("search_files", regex="needle") == (
        "[no match in .; not looked at: 3 ignored files (out/, node_modules/; name one as path), 1 file that is not "
        "text, 1 match in lines of over 1 MB]"
    )
    assert await say("search_files", path="a.py", regex="needle") == "[no match in a.py]"


async def test_counts_that_ended_early_say_so_and_files_are_counted_as_files(say, workspace: Path):
    (workspace / "many.txt").write_text("hit x\n" * 60_000)
    text = await say("search_files", regex="hit", show="counts")
    assert text.endswith(
        "[counting ended at 50,000 matches: there are more, in these or other files; narrow the search]"
    )
    (workspace / "many.txt").unlink()
    for at in range(201):
        (workspace / f"{at}.txt").write_text("hit\nhit\n")
    assert "[200 of 201 files, most relevant" in await say("search_files", regex="hit", show="files")
