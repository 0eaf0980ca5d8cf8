import asyncio

from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.cli.live.composer import LineRequest, LiveComposer
from halocline.surfaces.terminal.asking.menu import ESCAPE, Brief, Kind, TypedAnswer

OPTIONS = {"y": "allow once", "n": "reject", "t": Brief("add a message"), ESCAPE: Brief("reject and stop")}


async def test_a_card_is_drawn_while_text_is_typed_although_an_option_of_its_last_row_was_selected() -> None:
    card = Card("Edit a.txt", OPTIONS, lambda: None)
    card.press("up")
    card.press("up")
    rows = ["".join(text for _, text, *_ in line) for line in card.lines(60, 3, has_text=True)]
    assert rows[1:] == [
        "  …   t add a message  esc reject and stop",
        "  2 more: ↑↓ · Tab: choose here; your text stays",
    ]
    card.stop()


async def test_a_card_of_few_rows_keeps_its_question_what_would_be_done_and_its_choices() -> None:
    grave = "Cannot be undone: git push discards work that others may have, and more of the same"
    card = Card(f"git push --force\n{grave}", OPTIONS, lambda: None, None, Kind.GRAVE)
    rows = ["".join(text for _, text, *_ in line) for line in card.lines(40, 5, has_text=True)]
    assert [row.strip() for row in rows] == [
        "? git push --force",
        "→ Cannot be undone: git push discards",
        "y   allow once",
        "n   reject",
        "2 more: ↑↓ · Tab: choose here; your …",
    ]
    card.stop()


async def test_a_draft_comes_back_when_an_earlier_line_that_was_recalled_above_it_is_sent() -> None:
    composer = LiveComposer(lambda: None)
    composer.insert("draft")
    composer.buffer._working_lines.appendleft("earlier")
    composer.buffer._working_index = 0
    composer.finish_line()
    assert composer.text == "draft"


async def test_an_answer_comes_back_when_an_earlier_line_that_was_recalled_above_it_is_sent() -> None:
    for typed, left in (("my answer", "my answer\nbefore"), ("", "before")):
        composer = LiveComposer(lambda: None)
        composer.buffer._working_lines.extendleft(["earlier", "first"])
        composer.buffer.working_index = 2
        composer.insert("before")
        asking = asyncio.create_task(composer.read_line(LineRequest("Reason")))
        await asyncio.sleep(0)
        composer.insert(typed)
        composer.buffer.history_backward()
        composer.finish_request()
        assert (await asking, composer.text) == ("earlier", left)
        composer.finish_line()
        assert composer.text == ""


async def test_a_line_that_reads_as_a_key_of_a_question_is_the_answer() -> None:
    for line in ("t", "5"):
        card = Card("", {"1": "tabs", "t": "type another answer", ESCAPE: "stop"}, lambda: None, kind=Kind.QUESTION)
        card.note_key()
        while card.take_line(line):
            await asyncio.sleep(0.01)
        answer = await card.answer
        assert (answer, type(answer)) == (line, TypedAnswer)


async def test_a_line_that_is_not_sent_becomes_a_draft_above_what_was_typed_before() -> None:
    for secret, left in ((False, "a reason\nbefore"), (True, "before")):
        composer = LiveComposer(lambda: None)
        composer.insert("before")
        asking = asyncio.create_task(composer.read_line(request := LineRequest("Reason", secret=secret)))
        await asyncio.sleep(0)
        composer.insert("a reason")
        composer.put_above("")
        asking.cancel() if not secret else request.finish(None)
        await asyncio.wait([asking])
        assert composer.text == left


async def test_what_the_editor_made_of_a_draft_is_the_draft_although_a_question_came_meanwhile() -> None:
    composer = LiveComposer(lambda: None)
    composer.insert("draft")
    asking = asyncio.create_task(composer.read_line(request := LineRequest("Which?")))
    await asyncio.sleep(0)
    composer.insert("an answer")
    composer.take_edited("edited", None, "draft")
    assert composer.text == "an answer"
    request.finish(composer.text)
    assert await asking == "an answer"
    assert composer.text == "edited"
    composer.take_edited("an answer, edited", request, "an answer")
    assert composer.text == "an answer, edited\nedited"


async def test_digits_typed_one_after_the_other_are_a_number_and_no_nervous_key() -> None:
    composer = LiveComposer(lambda: None)
    composer.insert("1")
    assert composer.repeats("1") == ""
    composer.clear()
    composer.insert("y")
    assert composer.repeats("y") == "y"
