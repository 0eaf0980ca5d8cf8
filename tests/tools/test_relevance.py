import pytest
from hypothesis import given, strategies as st

from halocline.ports.host import Match
from halocline.tools.search_files import Found, rank_files, share_matches


def order(regex: str, *files: tuple[str, str]) -> list[str]:
    """The paths below `/w` in the order of their ranks; each file has some lines, all of them matches."""
    given = [
        Match(f"/w/{path}", number, line)
        for path, text in sorted(files)
        for number, line in enumerate(text.split("\n"), 1)
    ]
    return [one.path.removeprefix("/w/") for one in rank_files(given, regex, "/w")]


@pytest.mark.parametrize(
    "definition",
    [
        "def total(self):",
        "    async def total(self):",
        "class total:",
        "export default function total() {",
        "func (c Cart) total() int {",
        "pub(crate) fn total() -> u32 {",
        "    public static int total() {".replace("int", "class"),
        "const total = () => 1",
        "#define total 1",
        "struct total {",
    ],
)
def test_where_it_is_defined_comes_before_where_it_is_used(definition: str):
    assert order("total", ("a.x", "total()\ntotal()\ntotal()"), ("z.x", definition)) == ["z.x", "a.x"]


@pytest.mark.parametrize(
    "later",
    [
        "tests/a.py",
        "test_a.py",
        "pkg/a_test.go",
        "src/a.spec.ts",
        "src/__tests__/a.js",
        "vendor/a.go",
        "node_modules/a/a.js",
        "dist/a.min.js",
        "a.lock",
        "package-lock.json",
        "gen/a_pb2.py",
        "CHANGELOG.md",
        "src/ATest.java",
    ],
)
def test_tests_foreign_code_and_what_programs_wrote_come_last(later: str):
    assert order("total", (later, "def total(): ..."), ("src/deep/down/z.x", "total()")) == ["src/deep/down/z.x", later]


def test_a_folder_above_the_search_does_not_count():
    given = [Match("/w/tests/a.py", 1, "def total(): ..."), Match("/w/tests/sub/b.py", 1, "total()")]
    assert [one.path for one in rank_files(given, "total", "/w/tests")] == ["/w/tests/a.py", "/w/tests/sub/b.py"]


def test_a_file_that_is_named_for_it_then_one_that_has_more_then_one_that_is_nearer():
    files = (("x/far.x", "u"), ("near.x", "u"), ("many.x", "u\nu\nu\nu"), ("x/y/cart_total.x", "u"))
    assert order("cart_total", *files) == ["x/y/cart_total.x", "many.x", "near.x", "x/far.x"]


COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=40)


@given(COUNTS, st.integers(1, 100), st.integers(1, 12))
def test_what_is_shown_is_bounded_and_leaves_no_room_unused_but_for_shares(counts: list[int], most: int, least: int):
    found = [Found(str(i), tuple(Match(str(i), n, "x") for n in range(count))) for i, count in enumerate(counts)]
    kept = share_matches(found, most, least)
    assert sum(one.matches for one in kept) <= most
    assert [one.path for one in kept] == [one.path for one in found[: len(kept)]]
    if sum(counts) <= most:
        assert kept == found
