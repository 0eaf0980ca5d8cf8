import os
import stat
from pathlib import Path

import pytest

from halocline.ports.tool import ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.tools import apply_patch
from halocline.tools.apply_patch import Input

PATCH = """\
*** Begin Patch
*** Add File: new/n.txt
+one
*** Delete File: gone
*** Update File: a.py
@@
 x = 1
-y = 2
+y = 3
*** Update File: old.sh
*** Move to: bin/new.sh
@@
-echo old
+echo new
*** End Patch
"""


def wrapped(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "gone").write_text("g\n")
    (workspace / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    (workspace / "old.sh").write_text("echo old\n")
    (workspace / "old.sh").chmod(0o755)
    return workspace


def held(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


async def test_a_patch_makes_removes_changes_and_moves_files(call, project: Path, context: ToolContext):
    output = await call("apply_patch", input=PATCH)
    assert held(project) == {"a.py": b"x = 1\r\ny = 3\r\n", "bin/new.sh": b"echo new\n", "new/n.txt": b"one\n"}
    assert stat.S_IMODE((project / "bin" / "new.sh").stat().st_mode) == 0o755
    assert output.content[0].text == (
        "Created new/n.txt (1 line).\nDeleted gone.\nEdited a.py:\nhunk 1: lines 1-2 (exact)\n"
        "Moved old.sh to bin/new.sh:\nhunk 1: lines 1-1 (exact)"
    )
    changes = [(e.path, e.before is not None, e.after is not None) for e in output.events]
    assert changes == [
        ("new/n.txt", False, True),
        ("gone", True, False),
        ("a.py", True, True),
        ("bin/new.sh", False, True),
        ("old.sh", True, False),
    ]
    assert context.host.blobs.get(output.events[1].before) == b"g\n"
    assert [(diff.path, diff.added, diff.removed) for diff in output.diffs] == [
        ("new/n.txt", 1, 0),
        ("gone", 0, 1),
        ("a.py", 1, 1),
        ("bin/new.sh", 1, 1),
    ]


async def test_a_preview_shows_every_file_and_changes_nothing(project: Path, context: ToolContext):
    before = held(project)
    diffs = await apply_patch.TOOL.preview(Input(PATCH), context)
    assert "-y = 2\n+y = 3\n" in diffs[2].text
    assert "+++ /dev/null" in diffs[1].text
    assert held(project) == before


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("*** Update File: a.py\n@@\n-nowhere\n+x\n", "a.py:\nHunk 1 failed: its search text is not in the file"),
        ("*** Add File: a.py\n+x\n", r"a.py already exists. Use `\*\*\* Update File: a.py`"),
        ("*** Update File: b.py\n@@\n-x\n+y\n", r"b.py does not exist. Did you mean a.py"),
        ("*** Delete File: b.py\n", "b.py does not exist"),
        ("*** Update File: a.py\n*** Move to: gone\n", "a.py cannot be moved: gone already exists"),
        ("*** Delete File: folder\n", "folder is a folder"),
        ("*** Update File: ./a.py\n@@\n-x = 1\n+x\n*** Delete File: a.py\n", "named twice"),
        ("*** Delete File: link\n", "symbolic link"),
    ],
)
async def test_one_file_that_does_not_fit_leaves_all_as_they_were(say, project: Path, body: str, message: str):
    (project / "folder").mkdir()
    (project / "link").symlink_to("gone")
    before, old = held(project), (project / "old.sh").stat().st_mtime_ns
    with pytest.raises(ToolFailure, match=message) as failed:
        await say("apply_patch", input=wrapped(f"*** Update File: old.sh\n@@\n-echo old\n+echo new\n{body}"))
    assert "No file was changed" in failed.value.text
    assert held(project) == before
    assert (project / "old.sh").stat().st_mtime_ns == old
    assert sorted(os.listdir(project)) == ["a.py", "folder", "gone", "link", "old.sh"]


async def test_every_file_that_does_not_fit_is_reported_at_once(say, project: Path):
    body = "*** Delete File: b\n*** Update File: a.py\n@@\n-q\n+r\n*** Add File: ok\n+x\n"
    with pytest.raises(
        ToolFailure, match=r"(?s)b.* does not exist.*a\.py:\nHunk 1 failed.*The changes to the other 1 file apply"
    ):
        await say("apply_patch", input=wrapped(body))


async def test_a_malformed_patch_touches_nothing_and_says_what_to_do(say, project: Path):
    with pytest.raises(ToolFailure, match=r"No file was changed\. Send the whole patch again"):
        await say("apply_patch", input=PATCH.replace("*** End Patch\n", ""))
    assert apply_patch.summary(Input("nonsense")).paths == ()


@pytest.mark.parametrize(
    ("body", "title", "kind", "paths"),
    [
        ("*** Add File: a\n+x\n", "Add a", "edit", ("a",)),
        ("*** Update File: a\n@@\n-x\n", "Edit a", "edit", ("a",)),
        ("*** Update File: a\n*** Move to: b\n", "Move a to b", "move", ("a", "b")),
        (
            "*** Update File: a\n*** Move to: b\n*** Delete File: C\n",
            "Move a to b, delete C",
            "delete",
            ("a", "b", "C"),
        ),
        (
            "".join(f"*** Delete File: {n}\n" for n in "abcdef"),
            "Delete a, delete b, delete c, delete d and 2 more files",
            "delete",
            tuple("abcdef"),
        ),
    ],
)
def test_the_summary_names_every_path_and_the_gravest_thing(body: str, title: str, kind: str, paths: tuple[str, ...]):
    summary = apply_patch.summary(Input(wrapped(body)))
    assert (summary.title, summary.kind, summary.paths) == (title, kind, paths)


async def test_a_character_that_the_encoding_lacks_is_named(say, project: Path):
    (project / "old.sh").write_bytes(b"caf\xe9 No\xebl l\xe0\n")
    with pytest.raises(ToolFailure, match=r"old\.sh: .*which lacks '→'"):
        await say("apply_patch", input=wrapped("*** Update File: old.sh\n@@\n-café Noël là\n+→\n"))
