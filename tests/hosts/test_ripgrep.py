import asyncio
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from halocline.hosts.executables import find_program
from halocline.hosts.ripgrep import Ripgrep
from halocline.ports.host import LeftOut, Match, SearchQuery, SearchResult
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


BROKEN = "naïve after\n".encode() + b"\xff broken\n" + "первый needle\n".encode()


@pytest.mark.parametrize("regex", ["naïve", "naïve.*", "первый", "перв.. needle", "needle.*", "broken"])
async def test_a_byte_that_is_not_utf_8_hides_nothing_else_in_its_file(tmp_path: Path, regex: str):
    (tmp_path / "mix.txt").write_bytes(BROKEN)
    lines = BROKEN.decode("utf-8", "replace").split("\n")
    assert [(one.line, lines[one.line - 1]) for one in await matches(tmp_path, regex)] == [
        (at, line) for at, line in enumerate(lines, 1) if re.search(regex, line)
    ]


NOT_PLAIN = {
    "wide.txt": ("x needle\n".encode("utf-16-le"), True),
    "cyrillic.txt": ("needle: проверка кодировки\n".encode("cp1251"), True),
    "nul.txt": (b"text\nx\0y\nneedle\n", False),
    "late.log": (b"a line of text\n" * 20_000 + b"\0\nneedle\n", False),
    "large.img": (b"\0" * 30_000_000, False),
}


@pytest.mark.parametrize("regex", ["needle", "ne+dle"])
@pytest.mark.parametrize("name", NOT_PLAIN)
async def test_what_was_found_hides_no_file_that_is_not_plain(tmp_path: Path, name: str, regex: str):
    data, is_found = NOT_PLAIN[name]
    (tmp_path / "plain.txt").write_text("needle\n")
    (tmp_path / name).write_bytes(data)
    result = await Ripgrep().search(SearchQuery(str(tmp_path), regex, context=0))
    assert {one.path for one in result.matches} == {f"{tmp_path}/plain.txt", *[f"{tmp_path}/{name}"] * is_found}
    assert result.left_out == LeftOut(undecodable=not is_found)


async def test_lines_of_one_file_with_nul_are_counted_as_they_are(tmp_path: Path):
    (tmp_path / "nul.txt").write_bytes(b"a nul \0 here\nneedle\n")
    found = await matches(tmp_path / "nul.txt", "needle", context=1)
    assert [(one.line, one.text) for one in found] == [(1, "a nul \ufffd here"), (2, "needle")]


@pytest.mark.parametrize("regex", [r",\n", r"\d+,\n  \"k\d+", r"k\d+\":\s\d+,\s"])
async def test_many_matches_over_lines_that_touch_each_other_are_found(tmp_path: Path, regex: str):
    (tmp_path / "j.json").write_text("".join(f'  "k{at}": {at},\n' for at in range(30_000)))
    result = await Ripgrep().search(SearchQuery(str(tmp_path), regex, context=0, limit=100_000))
    assert len(result.matches) == 30_000
    assert result.left_out == LeftOut()


@pytest.mark.slow
async def test_files_in_other_encodings_that_take_too_long_cost_no_other_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    (tmp_path / "src").mkdir()
    for at in range(3_000):
        (tmp_path / f"src/{at}.c").write_bytes("x = 0; // счётчик строк в файле\n".encode("cp1251"))
    result = await Ripgrep().search(SearchQuery(str(tmp_path / "src"), "x.*0", context=0, limit=10_000))
    assert len(result.matches) == 3_000
    assert result.left_out == LeftOut(more=True)
    assert list((tmp_path / "copies").iterdir()) == []


async def test_links_that_lead_elsewhere_are_listed_and_counted_as_not_searched(tmp_path: Path):
    (tmp_path / "out/deep").mkdir(parents=True)
    (tmp_path / "out/a.txt").write_text("needle\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "own.txt").touch()
    for name, target in {"link.txt": "../out/a.txt", "folder": "../out", "same": "own.txt", "loop": "loop"}.items():
        (project / name).symlink_to(target)
    names, _ = await Ripgrep().files(project, 10)
    assert sorted(names) == ["folder/", "link.txt", "loop", "own.txt", "same"]
    assert await Ripgrep().files(project, 10, "link*") == (["link.txt"], False)
    assert (await Ripgrep().search(SearchQuery(str(project), "needle"))).left_out == LeftOut(links=2)


@pytest.mark.parametrize("ignored", ["", "ignored/\n"])
async def test_only_folders_with_nothing_but_ignored_files_are_named(tmp_path: Path, ignored: str):
    for name in ("src/a.gen.ts", "src/b.ts", "ignored/c.gen.ts"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(f"*.gen.ts\n{ignored}")
    found = await Ripgrep().count_left_out(tmp_path, "*.gen.ts")
    assert found == LeftOut(ignored=2, places=("ignored/", "src/a.gen.ts"), unfitting=2)


async def test_an_expression_that_no_one_writes_is_refused(tmp_path: Path):
    with pytest.raises(ToolFailure, match="over 4,000 characters"):
        await matches(tmp_path, "[" * 20_000)
    with pytest.raises(ToolFailure, match="impossible to match"):
        await matches(tmp_path, "a\0b")


async def test_what_cannot_be_read_is_counted_however_much_it_is(tmp_path: Path):
    program = tmp_path / "complaining"
    complain = 'seq -f "rg: ./private%g: Permission denied (os error 13)" 3000 >&2; exit 2'
    program.write_text(f"#!/bin/sh\n{complain}\n")
    program.chmod(0o755)
    result = await Ripgrep(str(program)).search(SearchQuery(str(tmp_path), "x"))
    assert result == SearchResult((), left_out=LeftOut(unreadable=3_000))
