import pytest

from halocline.context.budget import CEILING
from halocline.ports.code import SyntaxRule
from halocline.protocol.messages import Image
from halocline.providers.scripted.model import Call, Turn

DONE = Turn(text="done")
READ = Turn(calls=(Call("read_file", {"path": "a.txt"}),))
LONG = "".join(f"line {i} of many\n" for i in range(200))
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc00000030101"
    "0018dd8db00000000049454e44ae426082"
)


async def test_an_unchanged_file_is_not_repeated_until_it_is_asked_for_once_more(journey):
    journey.write("a.txt", LONG)
    await journey.run(READ, READ, READ, READ, DONE)
    assert ["unchanged" in result for result in journey.results] == [False, True, False, False]


async def test_a_changed_file_is_shown_again(journey):
    journey.write("a.txt", LONG)
    write = Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": LONG + "more\n"}),))
    await journey.run(READ, write, READ, DONE)
    assert "201 | more" in journey.results[2]


async def test_a_short_file_and_another_range_are_always_shown(journey):
    journey.write("a.txt", LONG)
    journey.write("b.txt", "short\n")
    part = Turn(calls=(Call("read_file", {"path": "a.txt", "start_line": 5}),))
    short = Turn(calls=(Call("read_file", {"path": "b.txt"}),))
    await journey.run(READ, part, short, short, DONE)
    assert not any("unchanged" in result for result in journey.results)


async def test_a_picture_reaches_a_model_that_takes_pictures(journey):
    journey.write("a.png", PIXEL)
    turn = Turn(calls=(Call("read_file", {"path": "a.png"}),))
    await journey.run(turn, DONE, image_models=("scripted*",))
    assert any(isinstance(part, Image) for message in journey.state.messages for part in message.content)


async def test_a_model_that_takes_no_pictures_is_told(journey):
    journey.write("a.png", PIXEL)
    await journey.run(Turn(calls=(Call("read_file", {"path": "a.png"}),)), DONE)
    assert "This model cannot view images" in journey.results[0]


@pytest.mark.parametrize(
    ("rule", "status", "said", "after"),
    [
        ("warn", "completed", "2 | return (1", "def f():\n    return (1\n"),
        ("refuse", "failed", "a.py is unchanged", "def f():\n    return 1\n"),
        ("off", "completed", "Overwrote a.py", "def f():\n    return (1\n"),
    ],
)
async def test_an_edit_that_introduces_a_syntax_error_is_told_or_refused(journey, rule, status, said, after):
    path = journey.write("a.py", "def f():\n    return 1\n")
    write = Call("write_to_file", {"path": "a.py", "content": "def f():\n    return (1\n"}, id="w")
    read = Call("read_file", {"path": "a.py"}, id="r")
    await journey.run(Turn(calls=(read, write)), DONE, syntax_errors=SyntaxRule(rule))
    assert journey.ends[1:] == [("w", status)]
    assert said in journey.results[1]
    assert ("syntax errors" in journey.results[1]) == (rule != "off")
    assert path.read_text() == after


async def test_a_file_that_was_broken_before_can_be_edited(journey):
    journey.write("a.py", "x = (\ndef f():\n    return 1\n")
    diff = "------- SEARCH\n    return 1\n=======\n    return 2\n+++++++ REPLACE"
    edit = Call("replace_in_file", {"path": "a.py", "diff": diff})
    await journey.run(Turn(calls=(edit,)), DONE, syntax_errors=SyntaxRule.REFUSE)
    assert "syntax" not in journey.results[0]


async def test_what_is_left_out_of_a_long_output_can_be_read_where_the_result_says(journey):
    prints = Turn(calls=(Call("execute_command", {"command": "seq 100000"}, id="c1"),))
    await journey.run(prints, DONE)
    (copy,) = (journey.home.root / "tasks" / journey.task / "outputs").iterdir()
    assert f"{copy} has all of it; use read_file, search_files or commands on it" in journey.results[0]
    reads = Call("read_file", {"path": str(copy), "start_line": 50_000, "end_line": 50_000}, id="c2")
    finds = Call("search_files", {"path": str(copy), "regex": "^77777$"}, id="c3")
    writes = Call("write_to_file", {"path": str(copy), "content": "x"}, id="c4")
    await journey.run(prints, DONE, Turn(calls=(reads, finds, writes)), DONE, resume=journey.task)
    latest = journey.results[-3:]  # calls that only read end in any order
    assert any(text.startswith("50000 | 50000\n") for text in latest)
    assert any("77777: 77777" in text for text in latest)
    assert "Halocline's own files" in latest[-1]


async def test_a_failure_is_bounded_as_well_and_its_whole_text_is_kept(journey):
    await journey.run(Turn(calls=(Call("no" * 300_000, {}, id="c1"),)), Turn(text="ok"))
    assert len(journey.results[0]) <= CEILING
    assert "left out here; to see everything, read sha256:" in journey.results[0]
