"""An edit that waits is taken whole, in part, otherwise or not at all; what is approved is what is written."""

from typing import Any

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call
from tests.surfaces.web.pages.screen import SILENCE

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

LINES = [f"line {number}" for number in range(1, 61)]
OLD = "".join(f"{line}\n" for line in LINES)
CHANGES = {"line 5": "five\nand a half", "line 30": "thirty", "line 50": "fifty"}
NEW = OLD
for old, new in CHANGES.items():
    NEW = NEW.replace(f"{old}\n", f"{new}\n")
BLOCKS = "\n".join(f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE" for old, new in CHANGES.items())
PATCH = "\n".join(
    [
        "*** Begin Patch",
        "*** Update File: a.txt",
        *(line for old, new in CHANGES.items() for line in ("@@", f"-{old}", *(f"+{one}" for one in new.split("\n")))),
        "*** Add File: new.txt",
        "+new",
        "*** End Patch",
    ]
)
CALLS: list[dict[str, Any]] = [
    call("replace_in_file", path="a.txt", diff=BLOCKS),
    call("write_to_file", path="a.txt", content=NEW),
    call("apply_patch", input=PATCH),
]
READ = {"call": [call("read_file", path="a.txt")]}


async def asked(server, opened, edit, **more: Any):
    """A page on which an edit waits."""
    (server.halo.folder / "a.txt").write_text(OLD)
    server.model(READ, {"call": [edit]}, {"text": "So be it."})
    await server.start()
    screen = await opened(**more)
    await screen.say("Change it.")
    await screen.page.locator(".card.asks [data-hunk]").first.wait_for()
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    return screen


async def retype(screen, word: str, other: str) -> None:
    """Replace a line of the open editor that is this word."""
    line = screen.page.locator(".code-editor .cm-line").get_by_text(word, exact=True)
    await line.dblclick(position={"x": 8, "y": 8})
    await screen.page.keyboard.type(other)


@pytest.mark.parametrize("edit", CALLS, ids=lambda edit: edit["tool"])
async def test_a_hunk_that_is_left_out_stays_as_it_was_and_another_becomes_what_the_person_wrote(edit, server, opened):
    screen = await asked(server, opened, edit)
    hunks = screen.page.locator(".card.asks [data-hunk]")
    await hunks.nth(0).focus()
    await screen.page.keyboard.press("n")
    await screen.page.keyboard.press("x")
    await screen.page.keyboard.press("n")
    await screen.page.keyboard.press("e")
    await retype(screen, "fifty", "half a hundred")
    await screen.page.keyboard.press("Control+Enter")
    all = await hunks.count()
    await (
        screen.page.locator("[data-decides]").get_by_role("button", name=f"Approve {all - 1} of {all} changes").click()
    )
    await screen.ended()
    wanted = NEW.replace("thirty", "line 30").replace("fifty", "half a hundred")
    assert (server.halo.folder / "a.txt").read_text() == wanted
    assert (server.halo.folder / "new.txt").exists() == (edit["tool"] == "apply_patch")


@pytest.mark.parametrize(("width", "editors"), [(1100, 2), (1000, 1)])
async def test_what_was_there_stands_beside_the_editor_if_there_is_room(width: int, editors: int, server, opened):
    screen = await asked(server, opened, CALLS[0], width=width)
    card = screen.page.locator(".card.asks")
    await card.get_by_role("button", name="Edit", exact=True).nth(1).click()
    await retype(screen, "thirty", "three tens")
    assert await card.locator(".cm-editor").count() == editors
    await screen.page.keyboard.press("Control+Enter")
    await card.locator(".rewritten-text").get_by_text("three tens").wait_for()
    assert await screen.barriers() == []


async def test_what_is_typed_into_a_form_counts_although_its_own_button_was_not_pressed(server, opened):
    screen = await asked(server, opened, CALLS[0])
    card = screen.page.locator(".card.asks")
    await card.get_by_role("button", name="Comment").nth(0).click()
    await card.locator(".words textarea").fill("Why a half?")
    await card.get_by_role("button", name="Edit", exact=True).nth(1).click()
    await retype(screen, "thirty", "three tens")
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").click()
    await screen.ended()
    [decided] = [event for event in server.halo.log() if isinstance(event, ev.ApprovalResolved)]
    assert "Why a half?" in decided.note
    written = (server.halo.folder / "a.txt").read_text()
    assert "three tens" in written


async def test_enter_approves_all_of_it_and_comments_go_along(server, opened):
    screen = await asked(server, opened, CALLS[0])
    await screen.page.locator(".card.asks [data-hunk]").first.focus()
    await screen.page.keyboard.press("c")
    await screen.page.keyboard.type("Why a half?")
    await screen.page.keyboard.press("Control+Enter")
    await screen.sees("Approve with comments", "[data-decides]")
    await screen.composer.focus()
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.keyboard.press("Enter")
    await screen.ended()
    assert (server.halo.folder / "a.txt").read_text() == NEW
    assert "About a.txt, line 5: Why a half?" in await screen.transcript()


async def test_what_cannot_be_divided_exactly_is_sent_back_with_what_was_chosen(server, opened):
    (server.halo.folder / "a.txt").write_text("1\n" * 30)
    edit = call("write_to_file", path="a.txt", content="2\n" + "1\n" * 28 + "end")
    server.model(READ, {"call": [edit]}, {"text": "I see."})
    await server.start()
    screen = await opened()
    await screen.say("Change it.")
    hunks = screen.page.locator(".card.asks [data-hunk]")
    await hunks.nth(1).focus()
    await screen.page.keyboard.press("x")
    await screen.sees("nothing is written", ".card.asks")
    assert await screen.barriers() == []
    await screen.page.locator("[data-decides]").get_by_role("button", name="Reject with feedback").click()
    await screen.ended()
    assert (server.halo.folder / "a.txt").read_text() == "1\n" * 30
    assert "Rejected in a.txt, line 29" in await screen.transcript()


async def test_a_whole_file_is_edited_before_it_is_written(server, opened):
    screen = await asked(server, opened, CALLS[1], width=390)
    assert not await screen.scrolls_sideways()
    await screen.page.keyboard.press("Escape")
    await screen.page.locator(".log").focus()
    await screen.page.keyboard.press("e")
    field = screen.page.locator("[data-decides] textarea")
    await field.fill("mine\n")
    await screen.page.locator("[data-decides]").get_by_role("button", name="Write file").click()
    await screen.ended()
    assert (server.halo.folder / "a.txt").read_text() == "mine\n"


async def test_a_very_long_file_is_fetched_whole_before_a_part_is_left_out(server, opened):
    long = [f"line {number} of a long file" for number in range(4_000)]
    (server.halo.folder / "a.txt").write_text("\n".join([*long, ""]))
    new = ["first", *long[1:2_000], "second", *long[2_001:]]
    edit = call("write_to_file", path="a.txt", content="\n".join([*new, ""]))
    server.model(READ, {"call": [edit]}, {"text": "Good."})
    await server.start()
    screen = await opened()
    await screen.say("Change it.")
    await screen.page.locator(".card.asks [data-hunk]").first.focus()
    await screen.page.keyboard.press("x")
    await screen.page.locator("[data-decides]").get_by_role("button", name="Approve 1 of 2 changes").click()
    await screen.ended()
    assert (server.halo.folder / "a.txt").read_text() == "\n".join([*long[:2_000], *new[2_000:], ""])


async def test_a_file_without_lines_is_said_in_words_and_not_as_a_patch(server, opened):
    turns = ({"call": [call("write_to_file", path="empty.txt", content="")]}, {"text": "Done."})
    server.settings(f'model = "{server.halo.script(*turns)}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened()
    await screen.say("Go.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Changes").first.click()
    await screen.sees("A new file without lines.", ".review-file")
    assert "diff --git" not in await screen.page.locator("body").inner_text()


async def test_the_review_says_which_changes_are_the_persons(server, opened):
    for name in ("task.txt", "both.txt", "own.txt"):
        (server.halo.folder / name).write_text(OLD)
    diff = "------- SEARCH\nline 5\n=======\nfive\n+++++++ REPLACE"
    edits = [call("replace_in_file", path=name, diff=diff) for name in ("task.txt", "both.txt")]
    server.settings(f'model = "{server.halo.script({"call": edits}, {"text": "Done."})}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened(width=1600)
    await screen.say("Go.")
    await screen.ended()
    for name in ("both.txt", "own.txt"):
        file = server.halo.folder / name
        file.write_text(file.read_text() + "mine\n")
    await screen.page.get_by_role("button", name="Changes").click()
    for name, words in (("both.txt", "also by you"), ("own.txt", "by you, not the task")):
        await screen.page.locator(f".review-file[aria-label='{name}'] .badge").get_by_text(words).wait_for()
    assert await screen.page.locator(".review-file[aria-label='task.txt'] .badge").count() == 0
