"""A file that is there is overwritten only once the model has read it; what it cannot lose by that, it may."""

import pytest
from tests.journeys.test_mentions import DONE

from halocline.providers.scripted.model import Call, Turn

TEXT = "one\ntwo\n"
REFUSED = "a.txt is unchanged: it exists already, and you have not read it"


def call(name: str, **arguments) -> Turn:
    return Turn(calls=(Call(name, arguments),))


WRITE = call("write_to_file", path="a.txt", content="new\n")
READ = call("read_file", path="a.txt")
FORMS = {
    "as here": WRITE,
    "as Claude Code names it": call("Write", file_path="a.txt", content="new\n"),
    "by its whole path": None,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_file_that_was_not_read_stays_and_the_model_is_told_what_to_do(journey, form):
    file = journey.write("a.txt", TEXT)
    await journey.run(form or call("write_to_file", path=str(file), content="new\n"), WRITE, READ, WRITE, DONE)
    assert [REFUSED in result for result in journey.results] == [True, True, False, False]
    assert "Read it with read_file first" in journey.results[0]
    assert file.read_text() == "new\n"
    assert (await journey.replay()).differences == ()


KNOWN = {
    "a part of it was read": (call("read_file", path="a.txt", start_line=1, end_line=1),),
    "it was read and edited": (READ, call("replace_in_file", path="a.txt", old_text="one", new_text="eins")),
    "several were read at once": (call("read_file", files=[{"path": "a.txt"}]),),
}


@pytest.mark.parametrize("before", KNOWN.values(), ids=KNOWN)
async def test_what_the_model_read_or_wrote_may_be_overwritten(journey, before):
    file = journey.write("a.txt", TEXT)
    await journey.run(*before, WRITE, DONE)
    assert file.read_text() == "new\n"


async def test_what_the_model_wrote_whole_may_be_overwritten_also_after_an_edit(journey):
    edit = call("replace_in_file", path="a.txt", old_text="new", new_text="old")
    await journey.run(WRITE, edit, WRITE, DONE)
    assert not any("unchanged" in result for result in journey.results)


async def test_an_edit_of_a_part_does_not_make_the_rest_known(journey):
    file = journey.write("a.txt", TEXT)
    edit = call("replace_in_file", path="a.txt", old_text="one", new_text="eins")
    await journey.run(edit, WRITE, edit, READ, WRITE, DONE)
    assert [REFUSED in result for result in journey.results] == [False, True, False, False, False]
    assert file.read_text() == "new\n"
    assert (await journey.replay()).differences == ()


@pytest.mark.parametrize("prompt", ["mend @a.txt", "mend @a.txt:1", "mend @./"])
async def test_what_the_person_mentions_is_read(journey, prompt):
    file = journey.write("a.txt", TEXT)
    await journey.run(WRITE, DONE, prompt=prompt)
    assert file.read_text() == "new\n", journey.results


async def test_the_mention_of_another_file_or_of_one_that_was_not_given_is_no_reading(journey):
    file = journey.write("a.txt", TEXT)
    journey.write("b/a.txt", TEXT)
    journey.write("ba.txt", TEXT)
    await journey.run(WRITE, DONE, prompt="see @b/a.txt and @ba.txt and @a.txt.gone")
    assert file.read_text() == TEXT


async def test_an_empty_file_has_nothing_to_lose(journey):
    file = journey.write("a.txt", "")
    await journey.run(WRITE, DONE)
    assert file.read_text() == "new\n"
