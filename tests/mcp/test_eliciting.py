import asyncio

from mcp_types import ElicitRequestURLParams

from halocline.mcp.requests.elicitation import MOST_PAGES, Pages, answer_elicitation


def page(name):
    return ElicitRequestURLParams(message="Sign in.", url="https://x.example/go", elicitation_id=name)


async def never(question, options):
    await asyncio.Event().wait()


async def decline(question, options):
    await asyncio.sleep(0.05)
    return "Decline"


async def test_a_page_that_was_done_with_before_it_is_shown_is_not_waited_for():
    pages = Pages()
    pages.done("one")
    async with asyncio.timeout(5):
        assert (await answer_elicitation(page("one"), "test", never, pages)).action == "accept"


async def test_a_page_of_the_same_id_is_shown_again():
    pages = Pages()
    pages.done("one")
    await answer_elicitation(page("one"), "test", never, pages)
    assert (await answer_elicitation(page("one"), "test", decline, pages)).action == "decline"


async def test_another_page_that_is_done_with_ends_no_question():
    pages = Pages()
    for shown in ("one", None):
        asking = asyncio.create_task(answer_elicitation(page(shown), "test", decline, pages))
        await asyncio.sleep(0)
        pages.done("two")
        assert (await asking).action == "decline"


async def test_a_flood_of_pages_that_are_done_with_is_bounded():
    pages = Pages()
    for number in range(MOST_PAGES * 3):
        pages.done(str(number))
    assert (await answer_elicitation(page("0"), "test", decline, pages)).action == "decline"
    assert (await answer_elicitation(page(str(MOST_PAGES * 3 - 1)), "test", never, pages)).action == "accept"
