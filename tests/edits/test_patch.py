import pytest
from tests.tables import for_each

from halocline.edits.edit import Edit, Grain, UnplacedEdits
from halocline.edits.formats.patch import Action, MalformedPatch, Section, parse_patch
from halocline.edits.plan import all_or_none
from halocline.edits.text import TextFile

UPDATE = "*** Update File: a.py\n@@ def f():\n x\n-y\n+z\n"
HUNK = Edit(1, ("x", "y"), ("x", "z"), "hunk", Grain.LINES, ("def f():",))
WHOLE = [Section(Action.UPDATE, "a.py", edits=(HUNK,))]


@for_each(
    "text",
    [
        f"*** Begin Patch\n{UPDATE}*** End Patch",
        f"*** Begin Patch\n{UPDATE}*** End Patch\n",
        f"*** Begin Patch\n{UPDATE}*** End Patch\n".replace("\n", "\r\n"),
        f"  *** Begin Patch  \n{UPDATE}\n\n*** End Patch\n\n",
        f"apply_patch <<'EOF'\n*** Begin Patch\n{UPDATE}*** End Patch\nEOF\n",
        f'apply_patch <<"PATCH"\n*** Begin Patch\n{UPDATE}*** End Patch\nPATCH',
        f"bash -lc \"apply_patch <<'EOF'\n*** Begin Patch\n{UPDATE}*** End Patch\nEOF\n\"",
        f"%%bash\napply_patch <<EOF\n*** Begin Patch\n{UPDATE}*** End Patch\nEOF",
        f"<<EOF\n*** Begin Patch\n{UPDATE}*** End Patch\nEOF",
        f"```diff\n*** Begin Patch\n{UPDATE}*** End Patch\n```",
        UPDATE,
        f"```\n{UPDATE}```\n",
        f"apply_patch <<EOF\n{UPDATE}EOF\n",
        f"*** Begin Patch\n{UPDATE.replace('@@ def f():', '@@ def f(): @@')}*** End Patch",
        f"*** Begin Patch\n{UPDATE.replace('@@ def', '@@ -1,3 +1,2 @@ def')}*** End Patch",
    ],
)
def test_a_patch_is_read_in_every_accepted_wrapping(text: str):
    assert parse_patch(text) == WHOLE


def test_every_kind_of_section_is_read():
    text = (
        "*** Begin Patch\n*** Add File: new dir/n.txt\n+one\n+\n++two\n*** Delete File: gone\n"
        "*** Update File: here\n*** Move to: there\n@@\n-a\n+b\n@@ class C\n@@ def d\n c\n+d\n*** End of File\n"
        "*** Update File: only\n*** Move to: moved\n*** End Patch"
    )
    assert parse_patch(text) == [
        Section(Action.ADD, "new dir/n.txt", lines=("one", "", "+two")),
        Section(Action.DELETE, "gone"),
        Section(
            Action.UPDATE,
            "here",
            "there",
            edits=(
                Edit(1, ("a",), ("b",), "hunk", Grain.LINES),
                Edit(2, ("c",), ("c", "d"), "hunk", Grain.LINES, ("class C", "def d"), at_end=True),
            ),
        ),
        Section(Action.UPDATE, "only", "moved"),
    ]


def test_an_empty_line_is_context_inside_a_hunk_and_nothing_at_its_end():
    (section,) = parse_patch("*** Begin Patch\n*** Update File: a\n@@\n x\n\n-y\n\n@@\n-z\n\n*** End Patch")
    assert [edit.search for edit in section.edits] == [("x", "", "y"), ("z",)]


@for_each(
    "text, message",
    [
        ("", "This is not a patch"),
        ("hello", "This is not a patch"),
        (f"*** Begin Patch\n{UPDATE}", r"no line `\*\*\* End Patch`"),
        (f"{UPDATE}*** End Patch", r"no line `\*\*\* Begin Patch`"),
        ("*** Begin Patch\n*** End Patch", "changes no file"),
        (f"Here it is:\n*** Begin Patch\n{UPDATE}*** End Patch", "Unexpected text before the patch: 'Here it is:'"),
        (f"*** Begin Patch\n{UPDATE}*** End Patch\nThat is all.", "Unexpected text after the patch"),
        ("*** Begin Patch\nx\n*** End Patch", "Line 2 of the patch belongs to no file"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", r"Line 3 .* does not start with `\+`"),
        ("*** Begin Patch\n*** Delete File: a\nx\n*** End Patch", "Unexpected text after"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "changes nothing"),
        ("*** Begin Patch\n*** Update File: a\n@@ f\n*** End Patch", "without a changed line"),
        ("*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch", "changes nothing"),
        ("*** Begin Patch\n*** Update File: a\n@@\nx\n-y\n*** End Patch", "Line 4 .* neither a space"),
        (f"*** Begin Patch\n{UPDATE}*** Delete File: a.py\n*** End Patch", r"names a\.py twice"),
    ],
)
def test_every_malformation_has_its_own_words(text: str, message: str):
    with pytest.raises(MalformedPatch, match=message):
        parse_patch(text)


CLASSES = """\
class A:
    def save(self):
        self.n += 1
        return True

    def load(self):
        self.n += 1
        return True


class B:
    def save(self):
        self.n += 1
        return True
"""
BUMP = "         self.n += 1\n-        return True\n+        return False\n"


def patched(text: str, hunks: str) -> str:
    (section,) = parse_patch(f"*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch")
    return all_or_none(TextFile(text), section.edits).file.text


@pytest.mark.parametrize(
    ("headers", "line"),
    [
        ("@@ class B:\n", 14),
        ("@@ class A:\n@@ def save(self):\n", 4),
        ("@@ class A:\n@@     def load(self):\n", 8),
        ("@@ def load(self):\n", 8),
        ("@@ class A\n@@ def load\n", 8),
        ("@@ class B:\n@@ def save(self):\n", 14),
    ],
)
def test_headers_say_which_of_equal_places_is_meant(headers: str, line: int):
    lines = CLASSES.split("\n")
    lines[line - 1] = "        return False"
    assert patched(CLASSES, headers + BUMP) == "\n".join(lines)


@pytest.mark.parametrize("headers", ["@@\n", "@@ class A:\n", "@@ def save(self):\n", "@@ class C:\n", "@@ save\n"])
def test_headers_that_leave_a_choice_are_refused(headers: str):
    with pytest.raises(UnplacedEdits, match=r"appears 3 times \(lines 3, 7, 13\)"):
        patched(CLASSES, headers + BUMP)


FLAT = "# One\nintro\nsame\n# Two\nintro\nsame\n## Deep\nother\n"


def test_in_flat_text_a_header_reaches_to_the_next_line_like_it():
    assert patched(FLAT, "@@ # One\n-same\n+1\n") == FLAT.replace("same", "1", 1)
    assert patched(FLAT, "@@ # Two\n-same\n+2\n") == "# One\nintro\nsame\n# Two\nintro\n2\n## Deep\nother\n"


def test_added_lines_without_context_go_below_their_header_or_to_the_end_of_the_file():
    assert patched(FLAT, "@@ # Two\n+new\n") == FLAT.replace("# Two\n", "# Two\nnew\n")
    assert patched(FLAT, "@@\n+new\n*** End of File\n") == FLAT + "new\n"
    assert patched("", "@@\n+new\n") == "new\n"


def test_added_lines_whose_header_fits_two_places_are_refused():
    with pytest.raises(UnplacedEdits, match="match 2 places"):
        patched(FLAT + "# Two\n", "@@ # Two\n+new\n")


def test_the_end_of_the_file_is_meant_where_it_is_said():
    assert patched("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n") == "x\ny\nz\n"


def test_hunks_may_share_lines_that_neither_changes():
    assert patched("a\nb\nc\nd\ne\n", "@@\n-a\n+A\n b\n c\n@@\n b\n c\n-d\n+D\n") == "A\nb\nc\nD\ne\n"


def test_a_hunk_never_matches_a_part_of_a_line():
    with pytest.raises(UnplacedEdits, match="line 1 contains its search text, but not as whole lines"):
        patched("value = 10\n", "@@\n-value = 1\n+value = 2\n")


def test_a_file_that_is_only_moved_may_have_a_hunk_that_changes_nothing():
    (section,) = parse_patch("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n x\n*** End Patch")
    assert (section.path, section.move_to) == ("a", "b")
    assert all_or_none(TextFile("w\nx\n"), section.edits).file.text == "w\nx\n"
    with pytest.raises(UnplacedEdits):
        all_or_none(TextFile("w\ny\n"), section.edits)


def test_lines_that_come_and_no_line_to_go_by_are_put_at_the_end():
    (section,) = parse_patch("*** Begin Patch\n*** Update File: a\n@@\n+y\n+z\n*** End Patch")
    assert all_or_none(TextFile("w\nx\n"), section.edits).file.text == "w\nx\ny\nz\n"


def test_the_first_line_of_the_first_file_may_be_indented():
    (section,) = parse_patch("*** Begin Patch\n  *** Update File: a\n@@\n-x\n+y\n*** End Patch")
    assert section.path == "a"


@pytest.mark.parametrize("before", ["*** Add File: q\n+x\n", "*** Delete File: q\n"])
def test_the_first_line_of_a_file_may_be_indented_where_no_line_of_a_file_can_stand(before: str):
    sections = parse_patch(f"*** Begin Patch\n{before}  *** Update File: a\n@@\n-x\n+y\n*** End Patch")
    assert [section.path for section in sections] == ["q", "a"]


def test_an_indented_line_in_an_update_is_a_line_of_the_file():
    text = "x\n *** Update File: b\ny\n"
    assert patched(text, "@@\n x\n  *** Update File: b\n-y\n+z\n") == text.replace("y", "z")


NESTED = "def f():\n    if x:\n        a = 1\n        b = 2\n    return a\n"


@pytest.mark.parametrize(
    "hunk",
    [
        " def f():\n   if x:\n-        a = 1\n+        a = 5\n    b = 2\n",
        " if x:\n-        a = 1\n+        a = 5\n",
        "     if x:\n-        a = 1\n+        a = 5\n       b = 2\n   return a\n",
    ],
)
def test_context_with_other_indentation_is_found_if_the_changed_lines_stand_once_and_exactly(hunk: str):
    assert patched(NESTED, f"@@\n{hunk}") == NESTED.replace("a = 1", "a = 5")


@pytest.mark.parametrize(
    ("text", "hunk"),
    [
        (NESTED, " def f():\n   if x:\n-      a = 1\n+      a = 5\n    b = 2\n"),
        (NESTED + "if y:\n        a = 1\n", " def f():\n   if x:\n-        a = 1\n+        a = 5\n    b = 2\n"),
        (NESTED, " def f():\n   if x:\n-        a = 1\n+        a = 5\n    b = 2\n+    c = 3\n"),
    ],
    ids=["a changed line is indented otherwise too", "it stands twice", "a line comes beside the context"],
)
def test_context_with_other_indentation_is_refused_if_the_depth_is_not_certain(text: str, hunk: str):
    with pytest.raises(UnplacedEdits, match="indentation"):
        patched(text, f"@@\n{hunk}")
