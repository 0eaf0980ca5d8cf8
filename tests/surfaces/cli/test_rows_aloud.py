"""A conversation for a screen reader: words in place of marks, in lines that are printed once."""

import re

import pytest
from rich.console import Group
from rich.text import Text
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import Halo, call, shell

from halocline.first_frame import MARK
from halocline.protocol.kinds import Diff
from halocline.surfaces.terminal.drawing.diff_view import diff_view
from halocline.surfaces.terminal.drawing.rows_aloud import MARK_WORDS
from halocline.surfaces.terminal.drawing.scrollback import draw_lines
from halocline.surfaces.terminal.drawing.theme import Gutter, marked, wrapped

DIFF = Diff("a.py", "@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n", 1, 1)


def aloud(body: object) -> list[str]:
    return list(draw_lines(body, aloud=True))  # type: ignore[arg-type]


def test_a_mark_is_a_word_or_nothing_and_rows_say_the_rest() -> None:
    body = Group(
        marked(wrapped("Edit a.py  +12 −3"), "±"),
        marked(wrapped("touch made"), "$"),
        marked(wrapped("one\ntwo"), "│", rest="│"),
        marked(Group(Text("Plan"), marked(wrapped("first"), "✓"), marked(wrapped("second"), "○")), "≡"),
        marked(wrapped("done · 2 steps"), "✓"),
        marked(wrapped("tabs"), "1"),
        Gutter(wrapped("spaces"), Text("  2   "), Text("")),
    )
    assert aloud(body) == [
        "Edit a.py  12 added, 3 removed", "Command: touch made", "one", "two", "Plan", "done: first", "to do: second",
        "done, 2 steps", "1: tabs", "2: spaces",
    ]  # fmt: skip


def test_a_line_of_a_diff_says_what_became_of_it() -> None:
    lines = aloud(Group(*diff_view((DIFF,), 9)))
    assert lines[-3:] == ["line 1: def f():", "line 2 removed:     return 1", "line 2 added:     return 2"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("words", "more"), [([], {"ACCESSIBLE": "1"}), (["--screen-reader"], {})])
def test_a_conversation_is_heard_in_words(halo: Halo, words: list[str], more: dict[str, str]) -> None:
    todo = call("update_todos", todos="- [x] one\n- [ ] two")
    model = halo.script({"call": [shell("touch made"), todo]}, {"text": "It is made."})
    person = HaloTerminal([*words, "-m", model], env={**halo.env, **more}, cwd=halo.folder, size=(40, 100))
    person.expect("Your turn: ")
    heard = person.before or ""
    person.send("go\r")
    for text in ("You: go", "Working.", "Command: touch made", "Effect: ", "y: allow once", "Your choice"):
        person.expect(re.escape(text))
        heard += person.before or ""
    person.send("y\r")
    for text in (
        "Result: exit code 0",
        "done: one",
        "to do: two",
        "Reply: It is made.",
        "done, 2 steps",
        "Your turn: ",
    ):
        person.expect(re.escape(text))
        heard += person.before or ""
    assert {*MARK_WORDS, MARK.strip(), "─", "⠋"} & {*heard} <= {"!", "?", "$"}, heard
