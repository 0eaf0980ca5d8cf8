import subprocess
from pathlib import Path

import pytest
from tests.tools.contexts import change_context

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.edits.formats.unified import parse_diff
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import Remark
from halocline.runtime.parts.revisions import WorkspaceRevisions
from halocline.tools import generate_explanation as tool

pytestmark = pytest.mark.process


def git(folder: Path, *words: str) -> None:
    configured = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *configured, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def explaining(context, workspace, tmp_path):
    """Two commits, and one change more in the files."""
    git(workspace, "init")
    (workspace / "a.py").write_text("".join(f"line {n}\n" for n in range(1, 31)))
    git(workspace, "add", ".")
    git(workspace, "commit", "-m", "one")
    text = (workspace / "a.py").read_text().replace("line 2\n", "line two\n").replace("line 25\n", "")
    (workspace / "a.py").write_text(text)
    (workspace / "ü ö.txt").write_text("new\n")
    git(workspace, "add", ".")
    git(workspace, "commit", "-m", "two")
    (workspace / "ü ö.txt").write_text("newer\n")
    shadow = ShadowGit(tmp_path / "checkpoints", workspace, "260101-000000-abcd", home=tmp_path / "home")
    return change_context(context, revisions=WorkspaceRevisions(workspace, lambda: shadow))


async def explain(ctx, from_ref: str, to_ref: str = "", *comments: tuple[str, int, str]):
    given = tool.Input("The change", from_ref, to_ref, [tool.Comment(*comment) for comment in comments])
    return await tool.run(given, ctx)


def said(output) -> str:
    return "".join(part.text for part in output.content)


async def test_the_first_call_gives_the_numbered_diff(explaining):
    text = said(await explain(explaining, "HEAD~1", "HEAD"))
    assert "## a.py\n@@ -1,5 +1,5 @@\n      1 | line 1\n-       | line 2\n+     2 | line two\n" in text
    assert "## ü ö.txt\n" in text
    assert text.endswith(f"[{tool.NOW}]")


async def test_comments_stand_in_the_diff_with_the_parts_that_they_are_on(explaining):
    output = await explain(explaining, "HEAD~1", "HEAD", ("a.py", 3, "Beside it."), ("a.py", 2, "Renamed."))
    (diff,) = output.diffs
    assert diff.remarks == (Remark(2, "Renamed."), Remark(3, "Beside it."))
    assert "+line two" in diff.text
    assert "line 24" not in diff.text
    assert (diff.added, diff.removed) == (1, 2)
    assert said(output) == "The user sees 2 comments on 1 of 2 changed files."


async def test_without_a_second_ref_the_files_as_they_are_count(explaining):
    assert "+     1 | newer" in said(await explain(explaining, "HEAD"))


@pytest.mark.parametrize("comment", [("a.py", 15, "x"), ("a.py", 0, "x"), ("b.py", 1, "x")])
async def test_a_comment_on_no_line_of_the_diff_is_refused(explaining, comment):
    with pytest.raises(ToolFailure, match=f"Not in the diff: {comment[0]}:{comment[1]}"):
        await explain(explaining, "HEAD~1", "HEAD", comment)


@pytest.mark.parametrize("ref", ["nothing", "--output=x", "", "HEAD:a.py", "a b", "HEAD..HEAD"])
async def test_what_is_no_commit_is_named_and_nothing_is_run(explaining, workspace, ref):
    with pytest.raises(ToolFailure, match="no commit"):
        await explain(explaining, ref)
    assert not (workspace / "x").exists()


async def test_checkpoints_can_be_compared(explaining, workspace, tmp_path):
    events: list = []
    shadow = ShadowGit(tmp_path / "checkpoints", workspace, "260101-000000-abcd", home=tmp_path / "home")
    shadow.begin(events.append)
    await shadow.settle()
    (workspace / "a.py").write_text("all new\n")
    assert "+     1 | all new" in said(await explain(explaining, "260101-000000-abcd/1"))
    with pytest.raises(ToolFailure, match="No checkpoint"):
        await explain(explaining, "77")


async def test_a_folder_without_git_says_what_else_can_be_named(context, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    bare = change_context(context, revisions=WorkspaceRevisions(context.workspace, lambda: None))
    with pytest.raises(ToolFailure, match=r"is not a git repository\. Compare checkpoints"):
        await explain(bare, "HEAD")


async def test_programs_that_the_repository_names_are_not_run(explaining, workspace):
    mark = workspace / "ran"
    for name in ("diff.external", "core.fsmonitor", "diff.x.textconv"):
        git(workspace, "config", name, f"touch {mark}; true")
    (workspace / ".gitattributes").write_text("*.py diff=x\n")
    await explain(explaining, "HEAD~1")
    assert not mark.exists()


async def test_a_long_diff_is_cut_and_says_so(explaining, workspace):
    (workspace / "a.py").write_text("".join(f"{n}\n" for n in range(5_000)))
    text = said(await explain(explaining, "HEAD"))
    assert "[The diff is cut off here; use refs that are closer together to see the rest.]" in text
    assert text.count("\n") < 2_010


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", []),
        ("no diff at all", []),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", ["x"]),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", ["y"]),
        ("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", ["x"]),
        (
            'diff --git "a/\\t\\303\\274" "b/\\t\\303\\274"\n--- /dev/null\n+++ "b/\\t\\303\\274"\n@@ -0,0 +1 @@\n+x\n',
            ["\tü"],
        ),
        ("diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n", ["i.png"]),
    ],
)
def test_files_are_known_by_their_new_names(text, paths):
    assert [file.path for file in parse_diff(text)] == paths


def test_a_line_that_looks_like_a_header_is_a_line():
    body = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n---- a/y\n++++ b/y\n same\n"
    (file,) = parse_diff(body)
    assert (file.path, file.lines) == ("x", {1, 2})
