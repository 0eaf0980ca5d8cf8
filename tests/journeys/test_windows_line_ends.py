"""A command of a model that writes the line ends of Windows is one with those of Unix, wherever it is seen."""

import pytest
from tests.journeys.test_approvals import ASK, decide

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice
from halocline.providers.scripted.model import Call, Turn

DONE = Turn(text="done")


def shell(command: str) -> Turn:
    return Turn(calls=(Call("execute_command", {"command": command}, id="c1"),))


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("if true; then\r\n  echo yes > a\r\nfi\r\n", {"a": b"yes\n"}),
        ("for x in a b; do\r\n  touch $x\r\ndone", {"a": b"", "b": b""}),
        ("touch made.txt\r\ntouch other.txt\r\n", {"made.txt": b"", "other.txt": b""}),
        ("cat > a <<'E'\r\none\r\ntwo\r\nE\r\n", {"a": b"one\ntwo\n"}),
        ("touch a && \\\r\n  touch b", {"a": b"", "b": b""}),
        ("case x in\r\n  x) touch a ;;\r\nesac\r\n", {"a": b""}),
        ("printf 'a\\r\\n' > a\r\n", {"a": b"a\r\n"}),
        ("printf %s 'a\rb' > a", {"a": b"a\rb"}),
    ],
)
async def test_line_ends_of_windows_are_no_part_of_a_word(journey, command, made):
    await journey.run(shell(command), DONE)
    assert journey.ends == [("c1", "completed")]
    assert {path.name: path.read_bytes() for path in journey.workspace.iterdir() if path.is_file()} == made


async def test_what_is_judged_shown_and_logged_as_run_has_none(journey):
    await journey.run(shell("touch a\r\ntouch b\r\n"), DONE, options=ASK, answer=decide(Choice.ALLOW_ONCE))
    (asked,) = journey.of(ev.ApprovalRequested)
    shown = (asked.title, asked.detail, asked.parts, [event.title for event in journey.of(ev.ToolCallStarted)])
    assert "\r" not in repr(shown).replace("\\r", "\r")
    assert {path.name for path in journey.workspace.iterdir() if path.is_file()} == {"a", "b"}


async def test_a_command_that_a_person_pastes_into_the_card_has_none(journey):
    pasted = decide(Choice.ALLOW_ONCE, arguments={"command": "touch c\r\ntouch d\r\n"})
    await journey.run(shell("touch a"), DONE, options=ASK, answer=pasted)
    assert {path.name for path in journey.workspace.iterdir() if path.is_file()} == {"c", "d"}


async def test_a_read_only_command_is_one_with_any_line_ends(journey):
    (journey.workspace / "a").write_text("inside\n")
    await journey.run(shell("cat a\r\nls\r\n"), DONE, options=ASK)
    assert journey.ends == [("c1", "completed")]
