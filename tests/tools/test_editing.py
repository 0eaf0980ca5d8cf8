import os
import re
from pathlib import Path

import msgspec
import pytest
from tests.tools.contexts import change_context

from halocline.ports.tool import ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import FileChanged
from halocline.task.calls.arguments import input_of
from halocline.tools import changes, replace_in_file, write_to_file


def block(search: str, replace: str) -> str:
    return f"------- SEARCH\n{search}\n=======\n{replace}\n+++++++ REPLACE\n"


async def test_a_new_file_is_made_with_its_folders(call, say, workspace: Path, context: ToolContext):
    output = await call("write_to_file", path="a/b/c.py", content="one\ntwo\n")
    assert output.content[0].text == "Created a/b/c.py (2 lines)."
    assert (workspace / "a" / "b" / "c.py").read_text() == "one\ntwo\n"
    (changed,) = output.events
    assert isinstance(changed, FileChanged)
    assert (changed.path, changed.before, changed.cause) == ("a/b/c.py", None, "call-1")
    assert context.host.blobs.get(changed.after) == b"one\ntwo\n"
    assert output.diffs[0].text == "--- /dev/null\n+++ b/a/b/c.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"


async def test_an_overwritten_file_keeps_its_endings_and_both_versions(call, workspace: Path, context: ToolContext):
    (workspace / "a").write_bytes(b"\xef\xbb\xbfone\r\n")
    output = await call("write_to_file", path="a", content="1\n2\n")
    assert output.content[0].text == "Overwrote a (2 lines, 1 before)."
    assert (workspace / "a").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"
    assert context.host.blobs.get(output.events[0].before) == b"\xef\xbb\xbfone\r\n"


@pytest.mark.parametrize(
    ("path", "content", "written"),
    [
        ("a.py", "```python\nx = 1\n```", "x = 1\n"),
        ("a.py", "```\nx = 1\n```\n", "x = 1\n"),
        ("a.md", "```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("a.py", "```python\nx = 1\n", "```python\nx = 1\n"),
        ("a.py", "x\n```\ny\n```\n", "x\n```\ny\n```\n"),
        ("a.py", "", ""),
        ("a.bat", "one\r\ntwo\r\n", "one\r\ntwo\r\n"),
    ],
)
async def test_only_a_fence_around_the_whole_content_is_stripped(say, workspace: Path, path, content, written):
    await say("write_to_file", path=path, content=content)
    assert (workspace / path).read_bytes().decode() == written


async def test_a_whole_text_the_old_encoding_lacks_is_refused_with_the_choice(say, workspace: Path):
    (workspace / "a").write_bytes(b"caf\xe9 No\xebl l\xe0\n")
    with pytest.raises(ToolFailure, match=r"a is unchanged\..*cp1252, which lacks '→'.*escape.*convert the whole file"):
        await say("write_to_file", path="a", content="→\n")
    assert (workspace / "a").read_bytes() == b"caf\xe9 No\xebl l\xe0\n"


async def test_the_same_content_again_writes_nothing(call, workspace: Path):
    (workspace / "a").write_text("same\n")
    os.utime(workspace / "a", ns=(1, 2))
    output = await call("write_to_file", path="a", content="same\n")
    assert "nothing was written" in output.content[0].text
    assert (output.events, output.diffs) == ((), ())
    assert (workspace / "a").stat().st_mtime_ns == 2


async def test_blocks_are_applied_and_their_lines_reported(call, workspace: Path):
    (workspace / "a").write_text("one\ntwo\nthree\n")
    output = await call("replace_in_file", path="a", diff=block("one", "1\n1.5") + block("three", "3"))
    assert (workspace / "a").read_text() == "1\n1.5\ntwo\n3\n"
    assert output.content[0].text == "Edited a:\nblock 1: lines 1-2 (exact)\nblock 2: lines 4-4 (exact)"
    assert (output.diffs[0].added, output.diffs[0].removed) == (3, 2)


BLOCK = "<<<<<<< SEARCH\n{line}same\n=======\nnew\n>>>>>>> REPLACE"
PATCH = "*** Begin Patch\n*** Update File: a\n{line}\n-same\n+new\n*** End Patch"
IN_A = {"replace_in_file": {"path": "a"}, "apply_patch": {}}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("replace_in_file", {"diff": BLOCK.format(line=":start_line:6\n")}),
        ("replace_in_file", {"diff": BLOCK.format(line=":start_line: 7 \n-------\n")}),
        ("replace_in_file", {"diff": BLOCK.format(line=":start_line:6\n:end_line:6\n-------\n")}),
        ("replace_in_file", {"diff": BLOCK.format(line=""), "line": 6}),
        ("replace_in_file", {"old_text": "same\n", "new_text": "new\n", "line": 5}),
        ("apply_patch", {"input": PATCH.format(line="@@ -6,1 +6,1 @@")}),
        ("apply_patch", {"input": PATCH.format(line="@@ -6 +6 @@")}),
        ("apply_patch", {"input": PATCH.format(line="@@ -6 @@")}),
    ],
)
async def test_a_line_number_in_any_form_settles_which_place_is_meant(say, workspace: Path, tool, arguments):
    (workspace / "a").write_text("same\na\nsame\nb\nc\nsame\nsame;\n")
    report = await say(tool, **IN_A[tool], **arguments)
    assert (workspace / "a").read_text() == "same\na\nsame\nb\nc\nnew\nsame;\n"
    assert re.search(r"lines 6-6 \(exact; of \d places the nearest to line [567]\)", report)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("replace_in_file", {"diff": BLOCK.format(line=":start_line:2\n")}),
        ("replace_in_file", {"diff": BLOCK.format(line=":start_line:6\n") + "\n" + BLOCK.format(line=""), "line": 6}),
        ("replace_in_file", {"old_text": "same", "new_text": "new", "line": 2}),
        ("apply_patch", {"input": PATCH.format(line="@@ -6,4 +6,4 @@")}),
        ("apply_patch", {"input": PATCH.format(line="@@ -2 @@")}),
    ],
)
async def test_a_line_halfway_between_two_places_or_made_up_settles_nothing(call, workspace: Path, tool, arguments):
    (workspace / "a").write_text("same\na\nsame\n")
    with pytest.raises(ToolFailure, match=r"2 times \(lines 1, 3\); add lines around it, or name"):
        await call(tool, **IN_A[tool], **arguments)
    assert (workspace / "a").read_text() == "same\na\nsame\n"


async def test_added_lines_without_context_are_not_put_where_their_line_number_is_not(call, workspace: Path):
    (workspace / "a").write_text("1\n2\n")
    patch = "*** Begin Patch\n*** Update File: a\n@@ -1,0 +2,1 @@\n+new\n*** End Patch"
    with pytest.raises(ToolFailure, match="its search part is empty"):
        await call("apply_patch", input=patch)


async def test_where_the_settings_want_what_fits_the_rest_is_reported_by_the_lines_as_they_are_now(
    workspace: Path, context: ToolContext
):
    (workspace / "a").write_text("one\ntwo\nsame\nsame\nlast line here\n")
    diff = block("one", "1\n1.5") + block("last line where", "x") + block("same", "y") + block("two", "2")
    input = replace_in_file.Input(path="a", diff=diff)
    output = await replace_in_file.TOOL.run(input, change_context(context, partial_edits=True))
    assert (workspace / "a").read_text() == "1\n1.5\n2\nsame\nsame\nlast line here\n"
    assert output.content[0].text == (
        "Some blocks do not match. Partly edited a:\n"
        "block 1: lines 1-2 (exact)\n"
        "block 4: lines 3-3 (exact)\n"
        "Block 2 failed: its search text is not in the file. The nearest lines are:\n"
        "6 | last line here\n"
        "Line 6: it is `last line here`, you wrote `last line where`.\n"
        "Block 3 failed: its search text appears 2 times (lines 4, 5); add lines around it, or name its line, as in "
        "`:start_line:5`, below the SEARCH marker.\n"
        "Send only the failed ones again, corrected."
    )


async def test_where_the_settings_want_what_fits_and_nothing_does_nothing_is_written(
    workspace: Path, context: ToolContext
):
    (workspace / "a").write_text("one\n")
    input = replace_in_file.Input(path="a", diff=block("zzz", "1") + block("yyy", "2"))
    with pytest.raises(ToolFailure, match=r"(?s)Block 1 failed.*Block 2 failed.*a is unchanged"):
        await replace_in_file.TOOL.run(input, change_context(context, partial_edits=True))


async def test_blocks_that_overlap_are_both_left_out_of_what_fits(workspace: Path, context: ToolContext):
    (workspace / "a").write_text("one\ntwo\nthree\n")
    diff = block("one\ntwo", "1\n2") + block("two", "II") + block("three", "3")
    output = await replace_in_file.TOOL.run(
        replace_in_file.Input(path="a", diff=diff), change_context(context, partial_edits=True)
    )
    assert (workspace / "a").read_text() == "one\ntwo\n3\n"
    assert output.content[0].text.count("it overlaps block") == 2


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ({"old_text": "x = 1", "new_text": "x = 2"}, "x = 2; x1\n"),
        ({"old_text": "x", "new_text": "y", "replace_all": True}, "y = 1; y1\n"),
        ({"old_text": "; x1"}, "x = 1\n"),
    ],
)
async def test_an_old_text_and_a_new_one_do_as_well_as_blocks(say, workspace: Path, arguments, after: str):
    (workspace / "a").write_text("x = 1; x1\n")
    assert (await say("replace_in_file", path="a", **arguments)).startswith("Edited a:\nedit 1: ")
    assert (workspace / "a").read_text() == after


def test_the_names_of_other_agents_tools_are_understood_and_not_told_to_the_model():
    tool = replace_in_file.TOOL
    theirs = {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True}
    assert input_of(theirs, tool) == replace_in_file.Input("a", None, "x", "y", True)
    assert input_of({"path": "a", "old_str": "x", "new_str": "y"}, tool).new_text == "y"
    assert (list(tool.spec.schema["properties"]), tool.spec.schema["required"]) == (["path", "diff"], ["path", "diff"])


@pytest.mark.parametrize("arguments", [{"path": "a"}, {"path": "a", "diff": "x", "old_text": "y"}])
def test_blocks_and_an_old_text_are_not_mixed_and_not_both_left_out(arguments: dict[str, str]):
    with pytest.raises(msgspec.ValidationError, match="needs `path` and `diff`"):
        input_of(arguments, replace_in_file.TOOL)


async def test_an_empty_search_makes_a_new_file(say, workspace: Path):
    text = await say("replace_in_file", path="new/a", diff="------- SEARCH\n=======\none\n+++++++ REPLACE")
    assert text.startswith("Created new/a:")
    assert (workspace / "new" / "a").read_text() == "one\n"


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        (block("one", "1") + block("nowhere", "x"), "Block 2 failed"),
        ("no blocks", "outside any block"),
        ("", "no block"),
        (block("été Noël là", "→"), "which lacks '→'"),
    ],
)
async def test_a_failed_edit_leaves_bytes_and_time_and_says_what_to_do(say, workspace: Path, diff: str, message: str):
    file = workspace / "a"
    file.write_bytes(b"one\n\xe9t\xe9 No\xebl l\xe0\n")
    os.utime(file, ns=(1_000, 2_000))
    with pytest.raises(ToolFailure, match=rf"(?s){message}.*a is unchanged\. \w+"):
        await say("replace_in_file", path="a", diff=diff)
    assert file.read_bytes() == b"one\n\xe9t\xe9 No\xebl l\xe0\n"
    assert file.stat().st_mtime_ns == 2_000
    assert os.listdir(workspace) == ["a"]


async def test_blocks_for_a_missing_file_name_the_similar_one(say, workspace: Path):
    (workspace / "main.py").write_text("x\n")
    with pytest.raises(ToolFailure, match=r"Did you mean main\.py"):
        await say("replace_in_file", path="mian.py", diff=block("x", "y"))


@pytest.mark.parametrize(
    ("name", "arguments"), [("write_to_file", {"content": "x"}), ("replace_in_file", {"diff": block("x", "y")})]
)
async def test_folders_and_binary_files_are_not_edited(say, workspace: Path, name: str, arguments: dict[str, str]):
    (workspace / "folder").mkdir()
    (workspace / "binary").write_bytes(b"\0\1")
    with pytest.raises(ToolFailure, match="a folder"):
        await say(name, path="folder", **arguments)
    with pytest.raises(ToolFailure, match=r"binary file \(2 bytes\) and is unchanged"):
        await say(name, path="binary", **arguments)


async def test_a_file_changed_meanwhile_is_not_overwritten(workspace: Path, context: ToolContext):
    (workspace / "a").write_text("mine\n")
    was = await changes.read_original("a", context)
    (workspace / "a").write_text("somebody's\n")
    with pytest.raises(ToolFailure, match="Read it again"):
        await changes.write_changes([changes.Change(was, was.file.with_view("new\n"), "")], context)
    assert (workspace / "a").read_text() == "somebody's\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (write_to_file.TOOL, {"path": "a", "content": "two\n"}),
        (replace_in_file.TOOL, {"path": "a", "diff": block("one", "two")}),
    ],
)
async def test_a_preview_shows_the_diff_and_changes_nothing(workspace: Path, context: ToolContext, tool, arguments):
    (workspace / "a").write_text("one\n")
    (diff,) = await tool.preview(msgspec.convert(arguments, tool.input), context)
    assert diff.text == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"
    assert (workspace / "a").read_text() == "one\n"


async def test_a_path_by_way_of_the_parent_has_one_name(call, workspace: Path):
    (workspace / "src").mkdir()
    output = await call("write_to_file", path="src/../a", content="x\n")
    assert output.events[0].path == "a"


async def test_a_path_outside_the_workspace_is_named_whole(call, workspace: Path, tmp_path: Path):
    output = await call("write_to_file", path=str(tmp_path / "outside"), content="x\n")
    assert output.events[0].path == str(tmp_path / "outside")


@pytest.mark.parametrize("new", ["Content", "Content\n", "\n", "a\nb", "a\n\n", "a\nb\n\n\n"])
@pytest.mark.parametrize("was", [b"", b"\n", b"\r\n \r\n"])
async def test_an_empty_old_text_in_an_empty_file_gives_exactly_the_new_text(say, workspace: Path, was, new):
    (workspace / "a").write_bytes(was)
    await say("replace_in_file", path="a", old_text="", new_text=new)
    assert (workspace / "a").read_bytes().replace(b"\r\n", b"\n") == new.encode()


@pytest.mark.slow
async def test_a_file_too_large_to_keep_whole_is_edited_by_parts(say, call, workspace: Path):
    (workspace / ".editorconfig").write_text("[*.log]\ncharset = koi8-r\n")
    before = b"".join(b"%07d \xd4\xc5\xcb\xd3\xd4 of a line\r\n" % number for number in range(900_000))
    (workspace / "a.log").write_bytes(before)
    report = await say("replace_in_file", path="a.log", diff=block("0700000 текст of a line", "один\nдва"))
    assert report == "Edited a.log:\nblock 1: lines 700001-700002 (exact)"
    patch = "*** Begin Patch\n*** Update File: a.log\n@@\n-0800000 текст of a line\n*** End Patch"
    assert "deleted before line 800002" in await say("apply_patch", input=patch)
    after = before.replace(b"0700000 \xd4\xc5\xcb\xd3\xd4 of a line", b"\xcf\xc4\xc9\xce\r\n\xc4\xd7\xc1")
    after = after.replace(b"0800000 \xd4\xc5\xcb\xd3\xd4 of a line\r\n", b"")
    assert (workspace / "a.log").read_bytes() == after
    with pytest.raises(ToolFailure, match="only text that is exactly the same is found"):
        await call("replace_in_file", path="a.log", diff=block("  0700003 текст of a line", "x"))
    with pytest.raises(ToolFailure, match=r"takes at most 20,000,000\. Change it with a command"):
        await call("write_to_file", path="a.log", content="x")
    os.truncate(workspace / "a.log", 100_000_001)
    with pytest.raises(ToolFailure, match=r"100,000,001 bytes, and this call takes at most 100,000,000\. Change it"):
        await call("replace_in_file", path="a.log", diff=block("0700003", "x"))


INSERTED = [
    (b"one\x0ctwo\nthree\n", 2, b"one\x0ctwo\nNEW\nthree\n"),
    (b"a\r\nb\nc\nd\n", 2, b"a\r\nNEW\nb\nc\nd\n"),
    (b"a\r\nb\r\n", 3, b"a\r\nb\r\nNEW\r\n"),
    ("a\x85b\u2028c\nd\n".encode(), 2, "a\x85b\u2028c\nNEW\nd\n".encode()),
    (b"a\nb", 0, b"a\nb\nNEW\n"),
    (b"a\n", 1, b"NEW\na\n"),
]


@pytest.mark.parametrize(("data", "before", "after"), INSERTED)
async def test_new_lines_change_no_other_byte(say, workspace: Path, data: bytes, before: int, after: bytes):
    (workspace / "a").write_bytes(data)
    await say("replace_in_file", path="a", before_line=before, new_text="NEW\n")
    assert (workspace / "a").read_bytes() == after


@pytest.mark.parametrize("content", ["a\nтекст", "да\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
async def test_what_was_written_can_be_read_again(say, workspace: Path, encoding: str, content: str):
    (workspace / "a").write_bytes("one line\nanother line\n".encode(encoding))
    await say("write_to_file", path="a", content=content)
    shown = await say("read_file", path="a")
    assert all(line in shown for line in content.split("\n"))


async def test_a_new_file_that_lacks_a_character_is_not_called_one_that_is_there(say, workspace: Path):
    (workspace / ".editorconfig").write_text("[*]\ncharset = latin1\n")
    with pytest.raises(ToolFailure, match=r"^n\.bas is not created\. .*lacks '€'.*declared") as failed:
        await say("write_to_file", path="n.bas", content="5 €\n")
    assert "iconv" not in failed.value.text
    assert not (workspace / "n.bas").exists()


async def test_a_file_of_uncertain_encoding_becomes_utf_8_if_it_is_written_whole(say, workspace: Path):
    (workspace / "a").write_bytes("Größe\n".encode("cp850"))
    assert "now UTF-8" in await say("write_to_file", path="a", content="Größe\n")
    assert (workspace / "a").read_text() == "Größe\n"
