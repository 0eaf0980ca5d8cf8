"""What a person writes while the agent asks: the answer, a yes with words and pictures, or a prompt for later."""

import base64

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

WORDS = "Rather use make."
TOUCH = {"call": [shell("touch made", risky=True), shell("touch too", risky=True)]}
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def resolved(server) -> list[tuple[str, str, str]]:
    return [
        (event.decision.value, event.by, event.note)
        for event in server.halo.log()
        if isinstance(event, ev.ApprovalResolved)
    ]


async def asked(server, opened, *turns, width=1100, theme="light"):
    server.model(*turns)
    await server.start()
    screen = await opened(width=width, theme=theme)
    await screen.say("Do it.")
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    return screen


@pytest.mark.parametrize(("width", "theme"), [(320, "dark"), (390, "light"), (1100, "dark")])
async def test_a_message_is_the_answer_and_the_page_says_so_before_it_is_sent(server, opened, width, theme):
    screen = await asked(server, opened, TOUCH, {"text": "I use make.", "expect": [WORDS]}, width=width, theme=theme)
    await screen.composer.fill(WORDS)
    await screen.sees("Sending this rejects the request: the command will not run.")
    assert not await screen.scrolls_sideways()
    assert await screen.barriers() == []
    await screen.composer.press("Enter")
    await screen.sees("I use make.")
    await screen.ended()
    assert resolved(server) == [("reject_once", "message", "")]
    await screen.sees("Not run: you sent a message instead.")
    assert not (server.halo.folder / "made").exists()
    assert not (server.halo.folder / "too").exists()


async def test_what_is_queued_on_purpose_answers_nothing(server, opened):
    screen = await asked(server, opened, {"call": TOUCH["call"][:1]}, {"text": "Made."}, {"text": "Later it is."})
    await screen.composer.fill("And later this.")
    await screen.page.get_by_role("button", name="Queue instead").click()
    await screen.page.locator(".queued", has_text="And later this.").wait_for()
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").click()
    await screen.sees("Later it is.")
    assert resolved(server) == [("allow_once", "user", "")]
    assert (server.halo.folder / "made").exists()


async def test_words_that_were_typed_before_the_request_could_be_seen_are_queued(server, opened):
    server.model({"text": "Wait.", "call": [shell("touch made", risky=True)], "delay": 3}, {"text": "Made."})
    await server.start()
    screen = await opened()
    await screen.say("Do it.")
    await screen.page.locator(".prompt").wait_for()
    await screen.composer.focus()
    while not await screen.page.locator("[data-decides]").count():
        await screen.page.keyboard.type("and on ")
    await screen.page.keyboard.press("Enter")
    await screen.page.locator(".queued").wait_for()
    assert resolved(server) == []


async def test_words_and_a_picture_go_along_with_a_yes(server, opened):
    screen = await asked(server, opened, {"call": TOUCH["call"][:1]}, {"text": "Seen."})
    async with screen.page.expect_file_chooser() as chooser:
        await screen.page.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files({"name": "shot.png", "mimeType": "image/png", "buffer": PICTURE})
    await screen.page.locator(".given").wait_for()
    await screen.composer.fill("As in this picture.")
    await screen.page.get_by_role("button", name="Approve with message").click()
    await screen.sees("Seen.")
    assert resolved(server) == [("allow_once", "user", "As in this picture.")]
    assert (server.halo.folder / "made").exists()
    (decision,) = [event for event in server.halo.log() if isinstance(event, ev.ApprovalResolved)]
    end = next(event for event in server.halo.log() if isinstance(event, ev.ToolCallEnded))
    assert "shot.png" in str(decision.content)
    assert {*decision.content} <= {*end.result.content}
    assert "As in this picture." in end.result.text


async def test_a_picture_with_a_message_answers_a_question(server, opened):
    question = call("ask_followup_question", question="Which?", options=["this", "that"])
    server.model({"call": [question]}, {"text": "The one in the picture."})
    await server.start()
    screen = await opened()
    await screen.say("Do it.")
    await screen.page.locator("[data-decides] .option:enabled").first.wait_for()
    async with screen.page.expect_file_chooser() as chooser:
        await screen.page.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files({"name": "shot.png", "mimeType": "image/png", "buffer": PICTURE})
    await screen.page.locator(".given").wait_for()
    await screen.composer.press("Enter")
    await screen.sees("The one in the picture.")
    await screen.sees("Answered with a message.")
    (answered,) = [event for event in server.halo.log() if isinstance(event, ev.QuestionAnswered)]
    assert answered.by == "message"
