from tests.tables import for_each

from halocline.context.instructions.globs import fitting_path, in_any_folder, matches_glob


@for_each(
    "pattern, path, does",
    [
        ("src/api/**", "src/api/users.py", True),
        ("src/api/**", "src/api/v1/users.py", True),
        ("src/api/**", "src/apis/users.py", False),
        ("src/", "src/a/b.py", True),
        ("./src/*.py", "src/a.py", True),
        ("/src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("**", ".github/workflows/a.yml", True),
        ("src/**/test_*.{py,pyi}", "src/test_a.pyi", True),
        ("src/**/test_*.{py,pyi}", "src/a/b/test_a.py", True),
        ("src/**/test_*.{py,pyi}", "src/a/b/test_a.js", False),
        ("{src,lib}/**/{a,b}.{c,d}", "lib/x/b.c", True),
        ("{src,lib}/**/{a,b}.{c,d}", "lib/x/e.c", False),
        ("a?.[tj]s", "ab.ts", True),
        ("a?.[!tj]s", "ab.ts", False),
        ("A.md", "a.md", False),
        ("", "a.md", False),
    ],
)
def test_a_pattern_means_the_paths_that_editors_mean_by_it(pattern, path, does):
    assert matches_glob(pattern, path) is does


def test_the_first_path_that_fits_is_the_reason():
    assert fitting_path(["*.md", "src/**"], ["a.py", "src/b.py", "c.md"]) == "src/b.py"
    assert fitting_path(["src/**"], ["a.py"]) == ""


def test_a_pattern_with_an_exclamation_mark_takes_paths_away():
    assert fitting_path(["src/**", "!src/gen/**"], ["src/gen/a.py", "src/b.py"]) == "src/b.py"
    assert fitting_path(["!src/gen/**"], ["src/b.py"]) == ""


def test_a_pattern_without_a_folder_can_be_made_to_mean_any():
    assert [in_any_folder(one) for one in ("*.py", "!*.py", "src/*.py")] == ["**/*.py", "!**/*.py", "src/*.py"]
