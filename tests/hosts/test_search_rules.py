import os
from pathlib import Path

import pytest

from halocline.hosts.ripgrep import Ripgrep
from halocline.policy.paths import Classifier
from halocline.policy.read_scope import ReadScope
from halocline.ports.host import SearchQuery
from halocline.protocol.errors import ToolFailure

pytestmark = pytest.mark.process

FILES = ["w.ts", "src/y.tsx", "src/a/x.ts", "src/a/My Notes.md", "t/z.js", ".eslintrc", ".github/workflows/ci.yml"]
PATTERNS = {
    "*.ts": "w.ts src/a/x.ts",
    "*.ts,*.tsx": "w.ts src/y.tsx src/a/x.ts",
    "*.ts, *.js": "w.ts t/z.js src/a/x.ts",
    "*.ts *.js": "w.ts t/z.js src/a/x.ts",
    "**/*.{ts,tsx}": "w.ts src/y.tsx src/a/x.ts",
    "./src/**": "src/y.tsx src/a/My Notes.md src/a/x.ts",
    "src": "src/y.tsx src/a/My Notes.md src/a/x.ts",
    "src/": "src/y.tsx src/a/My Notes.md src/a/x.ts",
    "src/*.tsx": "src/y.tsx",
    "*.ts,!src/**": "w.ts",
    "My Notes.md": "src/a/My Notes.md",
    ".github": ".github/workflows/ci.yml",
    "workflows": ".github/workflows/ci.yml",
    "*.yml": ".github/workflows/ci.yml",
    ".eslintrc": ".eslintrc",
    "[wx].ts": "w.ts src/a/x.ts",
}
ABOVE = {
    "*": "src/a.py",
    "*\n!.bashrc\n!*.md": "src/a.py",
    "project/": "src/a.py",
    "/home/project": "src/a.py",
    "project/**": "src/a.py",
    "*.log": "src/a.py",
    "src/": "",
    "/home/*/src/": "",
}


def make_files(root: Path, names: list[str]) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("needle\n")


async def found_in(folder: Path, pattern: str = "", root: Path | None = None) -> list[str]:
    """The files with the word, as a list and a search agree on them."""
    search = Ripgrep().only(ReadScope(Classifier(root or folder), {str(root or folder): ""}))
    found = (await search.search(SearchQuery(str(folder), "needle", pattern, context=0))).matches
    names, _ = await search.files(folder, 100, pattern)
    assert sorted(os.path.relpath(one.path, folder) for one in found) == sorted(names)
    return sorted(names)


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_patterns_mean_what_people_write(tmp_path: Path, pattern: str):
    make_files(tmp_path, FILES)
    wanted = PATTERNS[pattern].replace("My Notes", "My\0Notes").split()
    assert await found_in(tmp_path, pattern) == sorted(name.replace("\0", " ") for name in wanted)


@pytest.mark.parametrize("pattern", ["src/**/*.ts", "src/a/*.ts", "a/x.ts", "*.ts", "{}/src/a/*.ts"])
async def test_a_pattern_may_begin_with_the_folder_that_is_searched(tmp_path: Path, pattern: str):
    make_files(tmp_path, FILES)
    assert await found_in(tmp_path / "src", pattern.replace("{}", str(tmp_path)), tmp_path) == ["a/x.ts"]


@pytest.mark.parametrize("pattern", ["*.py", "**", "out/**", "*.{py,js}"])
async def test_no_pattern_shows_what_an_ignore_file_leaves_out(tmp_path: Path, pattern: str):
    make_files(tmp_path, ["a.py", "out/b.py", ".git/c.py", "node_modules/d.py", "kept.md"])
    (tmp_path / ".gitignore").write_text("out/\n!.*\n!kept.md\n")
    assert set(await found_in_text(tmp_path, pattern)) <= {"a.py", "kept.md"}


NAMED = {
    "[id].tsx": ["pages/[id].tsx"],
    "pages/[id].tsx": ["pages/[id].tsx"],
    "pages/[...slug].tsx": ["pages/[...slug].tsx"],
    "a{b.txt": ["a{b.txt"],
    "[": ["["],
    "{pages,other}/*.tsx": ["pages/[...slug].tsx", "pages/[id].tsx"],
}


@pytest.mark.parametrize("pattern", NAMED)
async def test_a_name_with_brackets_fits_itself(tmp_path: Path, pattern: str):
    make_files(tmp_path, ["pages/[id].tsx", "pages/[...slug].tsx", "a{b.txt", "["])
    assert await found_in(tmp_path, pattern) == NAMED[pattern]


@pytest.mark.parametrize("pattern", ["!", "{}", "{a,b}" * 19, "a\0b"], ids=["sign", "empty", "too many", "nul"])
async def test_a_pattern_that_says_nothing_is_a_failure(tmp_path: Path, pattern: str):
    with pytest.raises(ToolFailure, match="pattern"):
        await found_in(tmp_path, pattern)


@pytest.mark.parametrize("pattern", [".env", "**/.env"])
async def test_a_name_in_any_folder_is_searched_although_it_is_ignored(tmp_path: Path, pattern: str):
    make_files(tmp_path, ["src/.env"])
    (tmp_path / ".gitignore").write_text(".env\n")
    assert await found_in_text(tmp_path, pattern) == ["src/.env"]


LINES = {
    "my\\ \n": ["a.py", "b.log"],
    "!\n*.log\n": ["a.py"],
    "[z-a]\n*.log\n": ["a.py"],
    "\\\n*.log\n": ["a.py"],
    "\ufeff*.log\n": ["a.py"],
    "*\n!*/\n!*.py\n": ["a.py"],
    "/*\n!/src/\n*.log\n": ["a.py"],
    "src/**\n!src/**/\n!src/*.py\n": ["a.py"],
    "**/" * 12 + "*.log\n": ["a.py"],
}


@pytest.mark.parametrize("lines", LINES)
async def test_an_odd_line_of_an_ignore_file_costs_no_other_line(tmp_path: Path, lines: str):
    make_files(tmp_path, ["src/a.py", "src/b.log", "src/my "] if "my" in lines else ["src/a.py", "src/b.log"])
    (tmp_path / ".gitignore").write_text(lines)
    assert await found_in(tmp_path / "src", root=tmp_path) == LINES[lines]


async def found_in_text(folder: Path, pattern: str) -> list[str]:
    found = (await Ripgrep().search(SearchQuery(str(folder), "needle", pattern, context=0))).matches
    return [os.path.relpath(one.path, folder) for one in found]


async def test_a_file_that_is_named_is_found_although_it_is_ignored(tmp_path: Path):
    make_files(tmp_path, ["conf.local"])
    (tmp_path / ".gitignore").write_text("*.local\n")
    assert await found_in(tmp_path, "conf.local") == ["conf.local"]


@pytest.mark.parametrize("is_repository", [True, False], ids=["home in git", "home without git"])
@pytest.mark.parametrize("lines", ABOVE)
async def test_ignore_files_above_do_not_hide_the_folder_that_was_opened(
    tmp_path: Path, lines: str, is_repository: bool
):
    project = tmp_path / "home/project"
    make_files(project, ["src/a.py"])
    (tmp_path / ".gitignore").write_text(lines)
    if is_repository:
        (tmp_path / ".git").mkdir()
    wanted = ABOVE[lines].split() if is_repository else ["src/a.py"]
    assert await found_in(project) == wanted
    assert await found_in(project / "src", root=project) == ["a.py"]


async def test_the_ignore_files_of_a_project_count_in_its_folders(tmp_path: Path):
    make_files(
        tmp_path, ["src/app/a.py", "src/app/b.log", "src/app/gen/c.py", "src/app/deep/d.tmp", "src/app/out/e.py"]
    )
    (tmp_path / ".gitignore").write_text("# needle\n*.log\nsrc/*/gen/\n/out\n")
    (tmp_path / "src/.ignore").write_text("# needle\napp/**/*.tmp\n")
    assert await found_in(tmp_path / "src/app", root=tmp_path) == ["a.py", "out/e.py"]
    assert await found_in(tmp_path) == [".gitignore", "src/.ignore", "src/app/a.py", "src/app/out/e.py"]
