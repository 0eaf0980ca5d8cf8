"""The merge of a worktree by a person and that of an agent's file agree: in what they give, and in what overlaps."""

from pathlib import Path

import pytest
from tests.runtime.worktree_bench import WorktreeBench, make_bench

from halocline.runtime.subagents.changes import merge_side

pytestmark = pytest.mark.process
CASES = {
    "apart": (b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n"),
    "the same": (b"a\nb\n", b"a\nX\n", b"a\nX\n"),
    "overlap": (b"a\nb\nc\n", b"a\nmine\nc\n", b"a\ntheirs\nc\n"),
    "two overlaps": (b"a\nb\nc\nd\ne\nf\ng\n", b"1\nb\nc\nd\ne\nf\n2\n", b"3\nb\nc\nd\ne\nf\n4\n"),
    "CRLF": (b"a\r\nb\r\nc\r\n", b"a\r\nmine\r\nc\r\n", b"a\r\ntheirs\r\nc\r\n"),
    "underlined headings": (
        b"Head\n=======\nb\nc\n",
        b"Mine\n=======\nx\n=======\nc\n",
        b"Theirs\n=======\ny\n=======\nc\n",
    ),
    "markers in the text": (
        b"<<<<<<< now\na\n=======\nb\n>>>>>>> agent\nc\n",
        b"<<<<<<< now\nmine\n=======\nb\n>>>>>>> agent\nc\n",
        b"<<<<<<< now\ntheirs\n=======\nb\n>>>>>>> agent\nc\n",
    ),
    "no last newline": (b"a\nb", b"a\nmine", b"a\ntheirs"),
    "binary": (b"a\0b", b"a\0mine", b"a\0theirs"),
    "in Latin-1": (b"a\n\xe9\nc\n", b"a\n\xe8\nc\n", b"a\n\xe0\nc\n"),
}
"""The common content, that of the main folder now, and that of the worktree."""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    return make_bench(tmp_path, monkeypatch)


async def test_a_person_and_an_agent_get_the_same_merge_and_the_same_overlaps(bench: WorktreeBench) -> None:
    for number, (base, _, _) in enumerate(CASES.values()):
        (bench.main / f"{number}.txt").write_bytes(base)
    bench.commit(bench.main)
    folder = await bench.open()
    for number, (_, now, theirs) in enumerate(CASES.values()):
        (bench.main / f"{number}.txt").write_bytes(now)
        (folder / f"{number}.txt").write_bytes(theirs)
    done = await bench.worktrees.merge("x", bench.context())
    conflicts = {one.path: one for one in done.merged.conflicts}
    for number, (name, (base, now, theirs)) in enumerate(CASES.items()):
        merged = await merge_side(bench.main, (base, theirs), now)
        conflict = conflicts.get(f"{number}.txt")
        assert (merged.data is None) == (conflict is not None), name
        if merged.data is not None:
            assert (bench.main / f"{number}.txt").read_bytes() == merged.data, name
        for at, hunk in enumerate(conflict.hunks if conflict else (), 1):
            shown = f"{at}. line {hunk.line}:\n<<< now\n{hunk.ours}>>>\n<<< agent\n{hunk.theirs}>>>\n"
            assert shown in merged.conflicts, name
    assert len(conflicts) == len(CASES) - 2
