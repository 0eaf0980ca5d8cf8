import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from halocline.hosts.executables import find_program
from halocline.hosts.ripgrep import Ripgrep
from halocline.ports.host import Match, SearchQuery
from halocline.protocol.errors import ToolFailure

pytestmark = pytest.mark.process


@contextmanager
def special_file(folder: Path, kind: str) -> Iterator[Path]:
    path = folder / kind
    with socket(AF_UNIX) as listening:
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "socket":
                listening.bind(str(path))
            case "device":
                path = Path("/dev/zero")
        yield path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("import os\n\ndef alpha():\n    return 1\n")
    (tmp_path / "b.txt").write_text("alpha\r\nbeta\r\n")
    (tmp_path / ".gitignore").write_text("built/\n")
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "c.py").write_text("alpha\n")
    return tmp_path


async def matches(project: Path, regex: str, glob: str = "", context: int = 0, limit: int = 300) -> list[Match]:
    result = await Ripgrep().search(SearchQuery(str(project), regex, glob, context, limit))
    return list(result.matches)


async def test_matches_come_by_file_and_line_without_ignored_files(project: Path):
    assert await matches(project, "alpha") == [
        Match(str(project / "b.txt"), 1, "alpha"),
        Match(str(project / "src" / "a.py"), 3, "def alpha():"),
    ]


async def test_a_glob_narrows_the_files(project: Path):
    assert [match.line for match in await matches(project, "alpha", "*.py")] == [3]


async def test_context_lines_are_marked(project: Path):
    found = await matches(project, "def", context=1)
    assert [(match.line, match.is_match) for match in found] == [(2, False), (3, True), (4, False)]


async def test_the_end_of_a_line_is_found_in_files_with_crlf(project: Path):
    assert len(await matches(project, "^alpha$", "*.txt")) == 1


async def test_nothing_found_is_no_failure(project: Path):
    assert await matches(project, "zzz") == []


async def test_more_matches_than_the_limit_are_cut(project: Path):
    (project / "many.txt").write_text("hit\n" * 1_000)
    result = await Ripgrep().search(SearchQuery(str(project), "hit", limit=10, context=0))
    assert len(result.matches) == 10
    assert result.cut


async def test_a_wrong_expression_is_a_failure_in_ripgreps_words(project: Path):
    with pytest.raises(ToolFailure, match="unclosed group"):
        await matches(project, "(a")


@pytest.mark.parametrize("regex", ["-x", "--files", "-e"])
async def test_an_expression_is_never_an_option(project: Path, regex: str):
    assert await matches(project, regex) == []


async def test_text_that_is_not_utf8_is_shown_as_it_is_meant(project: Path):
    (project / "latin.txt").write_bytes(b"caf\xe9 alpha\n")
    assert (await matches(project, "alpha", "latin.txt"))[0].text == "caf\u00e9 alpha"


@pytest.mark.parametrize(("length", "lines"), [(10_000, 1), (3_000_000, 0)])
async def test_a_very_long_line_is_cut_or_left_out(project: Path, length: int, lines: int):
    (project / "long.txt").write_text("needle" + "x" * length + "\nlast\n")
    found = await matches(project, "needle", "long.txt")
    assert len(found) == lines
    assert all(len(match.text) < 600 for match in found)


async def test_files_come_nearest_first(project: Path):
    (project / "z.txt").touch()
    assert await Ripgrep().files(project, 10) == ([".gitignore", "b.txt", "z.txt", "src/a.py"], False)
    assert await Ripgrep().files(project, 2) == ([".gitignore", "b.txt"], True)


async def test_odd_file_names_are_kept_apart(tmp_path: Path):
    names = ["-n", "line\nbreak", "blank ", os.fsdecode(b"\xff")]
    for name in names:
        (tmp_path / name).touch()
    found, _ = await Ripgrep().files(tmp_path, 10)
    assert sorted(found) == sorted(names)


async def test_a_settings_file_of_the_user_has_no_say(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / "rc").write_text("--ignore-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(project / "rc"))
    assert await matches(project, "ALPHA") == []


@pytest.fixture
def endless(tmp_path: Path) -> str:
    program = tmp_path / "endless"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    return str(program)


async def test_a_search_ends_at_its_time_limit(project: Path, endless: str):
    with pytest.raises(ToolFailure, match=r"took over 0\.05 s"):
        await Ripgrep(endless, time_limit=0.05).search(SearchQuery(str(project), "x"))


async def test_a_cancelled_search_ends(project: Path, endless: str):
    search = asyncio.create_task(Ripgrep(endless).search(SearchQuery(str(project), "x")))
    await asyncio.sleep(0)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
async def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str):
    with special_file(tmp_path, kind) as path, pytest.raises(ToolFailure, match="not a regular file"):
        await Ripgrep().search(SearchQuery(str(path), "x"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
async def test_lines_are_found_in_every_encoding_that_is_searched(project: Path, encoding: str):
    (project / "text.txt").write_bytes("first\r\nn\xe4dle here\n".encode(encoding))
    assert [match.line for match in await matches(project, "dle here", "text.txt")] == [2]


async def test_lines_are_found_in_files_with_odd_names(tmp_path: Path):
    names = ["-n", "line\nbreak", "blank ", os.fsdecode(b"\xff")]
    for name in names:
        (tmp_path / name).write_text("hit\n")
    found = await matches(tmp_path, "hit")
    assert sorted(match.path for match in found) == sorted(f"{tmp_path}/{name}" for name in names)


def test_a_program_is_found_in_the_first_folder_that_has_it(tmp_path: Path):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "tool").touch()
    for folder in ("b", "c"):
        (tmp_path / folder / "tool").touch(mode=0o755)
    folders = [str(tmp_path / name) for name in ("missing", "a", "b", "c")]
    assert find_program("tool", folders) == str(tmp_path / "b" / "tool")
    assert find_program("other", folders) is None


@pytest.mark.parametrize("folder", ["node_modules", "web/node_modules", "env/lib/python3.12/site-packages"])
async def test_folders_of_installed_code_are_entered_only_if_they_are_named(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder / "left/pad"
    place.mkdir(parents=True)
    (place / "index.js").write_text("needle")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/own.js").write_text("needle")
    search = Ripgrep()
    assert await search.files(tmp_path, 10) == (["build/own.js"], False)
    found = (await search.search(SearchQuery(str(tmp_path), "needle"))).matches
    assert [match.path for match in found] == [str(tmp_path / "build/own.js")]
    assert await search.files(tmp_path / folder, 10) == (["left/pad/index.js"], False)
    assert await search.files(place, 10) == (["index.js"], False)


async def test_a_project_may_have_its_installed_code_searched(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/index.js").touch()
    (tmp_path / ".ignore").write_text("!node_modules/\n")
    assert await Ripgrep().files(tmp_path, 10) == ([".ignore", "node_modules/index.js"], False)


DECLARING = {
    "settings": (),
    ".editorconfig": "[*.txt]\ncharset = cp1250\n",
    ".gitattributes": "*.txt working-tree-encoding=cp1250\n",
}


@pytest.mark.parametrize("by", DECLARING)
@pytest.mark.parametrize("place", ["", "a.txt"])
async def test_text_is_found_in_the_encoding_that_is_declared_for_its_file(tmp_path: Path, by: str, place: str):
    (tmp_path / "a.txt").write_bytes("ł\n".encode("cp1250"))
    query = SearchQuery(str(tmp_path / place), "^ł$", context=0)
    assert (await Ripgrep().search(query)).matches == ()
    if by != "settings":
        (tmp_path / by).write_text(DECLARING[by])
    search = Ripgrep(encodings={"*.txt": "cp1250"} if by == "settings" else {})
    assert (await search.search(query)).matches == (Match(str(tmp_path / "a.txt"), 1, "ł"),)


async def test_matches_in_overlong_lines_are_counted_once_each_whatever_their_encoding(tmp_path: Path):
    long = "x" * (1 << 20)
    (tmp_path / "a").write_bytes(f"hit {long}\n".encode())
    (tmp_path / "b").write_bytes(f"hié {long}\nhit {long}\n".encode("cp1252"))
    (tmp_path / "c").write_text("hit\n")
    found = await Ripgrep().search(SearchQuery(str(tmp_path), "hi[té]", context=0))
    assert [match.path for match in found.matches] == [str(tmp_path / "c")]
    assert sorted(found.left_out.long) == [str(tmp_path / name) for name in "abb"]
