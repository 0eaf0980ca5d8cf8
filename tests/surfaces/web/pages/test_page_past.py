"""What a task did is looked at, taken back, and gone back from; by keyboard."""

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import call, shell

from halocline.protocol import events as ev

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

OLD = "".join(f"line {number}\n" for number in range(1, 41))
NEW = OLD.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n")
TURNS = (
    {"call": [call("read_file", path="a.txt")]},
    {"call": [call("write_to_file", path="a.txt", content=NEW)]},
    {"call": [call("write_to_file", path="b.txt", content="b\n"), shell("echo hello")]},
    {"call": [call("attempt_completion", result="**Done.**")]},
    {"text": "You are welcome."},
)


async def worked(server, opened, **more):
    """A page of a task that changed two files."""
    (server.halo.folder / "a.txt").write_text(OLD)
    server.settings(f'model = "{server.halo.script(*TURNS)}"\napproval_mode = "yolo"\n')
    await server.start()
    screen = await opened(**more)
    await screen.say("Change it.")
    await screen.sees("2 files changed", ".turn-end")
    await screen.page.locator(".checkpoint:not(.now)").nth(2).wait_for(state="attached")
    return screen


@pytest.mark.parametrize("width", [390, 1100])
async def test_changes_are_reviewed_commented_on_and_taken_back_one_by_one(width: int, server, opened):
    screen = await worked(server, opened, width=width)
    keyboard, folder = screen.page.keyboard, server.halo.folder
    await keyboard.press("Control+.")
    pane = screen.page.get_by_label("Changes", exact=True)
    hunks = pane.locator("[data-hunk]")
    await hunks.nth(2).wait_for()
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await hunks.nth(0).focus()
    await keyboard.press("a")
    await keyboard.press("c")
    await keyboard.type("Why thirty?")
    await keyboard.press("Control+Enter")
    await pane.get_by_text("Why thirty?").wait_for()
    await hunks.nth(0).focus()
    await keyboard.press("x")
    await pane.get_by_text("Reverted").wait_for()
    assert (folder / "a.txt").read_text() == NEW.replace("five", "line 5")
    await pane.get_by_role("button", name="Undo").press("Enter")
    await pane.get_by_text("Reverted").wait_for(state="detached")
    assert (folder / "a.txt").read_text() == NEW
    await pane.get_by_role("button", name="Revert all changes in b.txt").press("Enter")
    await pane.get_by_role("button", name="Revert all", exact=True).press("Enter")
    await pane.get_by_text("Reverted b.txt").wait_for()
    assert not (folder / "b.txt").exists()
    await pane.get_by_role("button", name="Send 1 comment").press("Enter")
    await screen.sees("You are welcome.")
    assert "Why thirty?" in await screen.transcript()


async def test_going_back_says_what_it_would_do_and_can_be_undone(server, opened):
    screen = await worked(server, opened)
    keyboard, folder = screen.page.keyboard, server.halo.folder
    (folder / "mine.txt").write_text("mine\n")
    (folder / "b.txt").write_text("b\nand mine\n")
    await screen.page.get_by_role("button", name="Rewind", exact=True).press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.locator(".moment").first.wait_for()
    await keyboard.type("Change it")
    await keyboard.press("ArrowDown")
    await sheet.locator(".moment.of-prompt").press("Enter")
    await sheet.get_by_text("ran since").wait_for()
    assert await screen.barriers() == []
    assert "a.txt" in await sheet.locator(".will").inner_text()
    assert "b.txt" in await sheet.locator("fieldset.stack").inner_text()
    await sheet.get_by_role("button", name="Rewind", exact=True).press("Enter")
    restored = screen.page.locator(".divider", has_text="Rewound to before “Change it.”")
    await restored.wait_for()
    assert await screen.page.get_by_text("Rewound to before").count() == 2  # in its row, and for a screen reader
    assert await screen.composer.input_value() == "Change it."
    await screen.page.get_by_role("button", name="Rewound").wait_for()
    assert "Done." not in await screen.transcript()
    assert (folder / "a.txt").read_text() == OLD
    assert (folder / "b.txt").read_text() == "b\nand mine\n"
    assert (folder / "mine.txt").exists()
    await restored.get_by_role("button", name="Undo").press("Enter")
    await screen.sees("Done.", ".completion")
    assert (folder / "a.txt").read_text() == NEW
    assert await screen.composer.input_value() == ""


async def test_what_went_back_together_comes_back_together_from_the_conversation_itself(server, opened):
    screen = await worked(server, opened)
    await screen.page.get_by_role("button", name="Rewind to before this").first.press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.locator(".will").wait_for()
    await sheet.get_by_role("button", name="Rewind", exact=True).press("Enter")
    restored = screen.page.locator(".divider", has_text="Rewound to before")
    await restored.wait_for()
    assert (server.halo.folder / "a.txt").read_text() == OLD
    assert "Done." not in await screen.transcript()
    await restored.get_by_role("button", name="Undo").press("Enter")
    await screen.sees("Done.", ".completion")
    assert (server.halo.folder / "a.txt").read_text() == NEW
    assert [type(event) for event in server.halo.log()[-4:]] == [ev.CheckpointRestored, ev.ConversationRestored] * 2
    await screen.sees("Undone: the model sees “Change it.” and what came after it again.", ".log")
    for gone in (restored, screen.page.locator(".left-behind"), screen.page.locator(".log", has_text="Rewound to")):
        await gone.wait_for(state="detached")
    await screen.page.locator(".turn-end").get_by_role("button", name="Review").wait_for()
    assert await screen.composer.input_value() == ""


async def test_the_undo_of_a_rewind_leaves_a_draft_with_the_words_of_an_earlier_prompt(server, opened):
    screen = await worked(server, opened)
    await screen.composer.fill("Change it.")
    await screen.page.get_by_role("button", name="Rewind to before this").first.press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.locator(".will").wait_for()
    await sheet.get_by_role("button", name="Rewind", exact=True).press("Enter")
    restored = screen.page.locator(".divider", has_text="Rewound to before")
    await restored.get_by_role("button", name="Undo").press("Enter")
    await screen.sees("Done.", ".completion")
    assert await screen.composer.input_value() == "Change it."


async def test_the_changes_follow_a_rewind_its_undo_and_other_programs(server, opened):
    screen = await worked(server, opened)
    await screen.page.keyboard.press("Control+.")
    pane = screen.page.get_by_label("Changes", exact=True)
    hunks = pane.locator("[data-hunk]")
    await hunks.nth(2).wait_for()
    await screen.page.get_by_role("button", name="Rewind to before this").first.press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.locator(".will").wait_for()
    await sheet.get_by_role("button", name="Rewind", exact=True).press("Enter")
    await pane.get_by_text("No changes in this task").wait_for()
    await screen.page.locator(".divider").get_by_role("button", name="Undo").press("Enter")
    await hunks.nth(2).wait_for()
    (server.halo.folder / "a.txt").write_text(NEW.replace("five", "5"))
    await pane.get_by_role("button", name="Revert", exact=True).first.press("Enter")
    await pane.get_by_text("The changes below are as they are now").wait_for()
    await pane.get_by_text("also by you").wait_for()
    assert await screen.page.locator(".toast").count() == 0
    assert await screen.barriers() == []


async def test_a_point_where_nothing_would_change_cannot_be_rewound_to(server, opened):
    server.model({"text": "Hello."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Rewind", exact=True).press("Enter")
    sheet = screen.page.locator("dialog")
    points = sheet.locator(".moment")
    await points.first.wait_for()
    assert "end" not in (await sheet.locator(".moments").inner_text()).lower()
    await points.filter(has_text="Before “Begin.”").click()
    await sheet.get_by_label("Files only").check()
    await sheet.get_by_text("No file changes.").wait_for()
    assert await sheet.get_by_role("button", name="Rewind", exact=True).is_disabled()


async def test_a_prompt_is_said_anew_and_the_files_go_back_with_it(server, opened):
    screen = await worked(server, opened)
    await screen.page.get_by_role("button", name="Edit and resend").first.press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.get_by_text("ran since").wait_for()
    await sheet.locator("textarea").fill("Do it otherwise.")
    await screen.page.keyboard.press("Control+Enter")
    await screen.sees("Do it otherwise.", ".prompt")
    await sheet.wait_for(state="detached")
    await screen.ended()
    assert await screen.page.locator(".prompt", has_text="Change it.").count() == 0
    await screen.page.get_by_role("button", name="Rewound").press("Enter")
    await screen.sees("Change it.", ".left-behind")


async def test_the_latest_prompt_is_tried_again_with_another_model_and_the_files_go_back(server, opened):
    screen = await worked(server, opened)
    other = server.halo.folder.parent / "other.toml"
    other.write_text('[[turn]]\ntext = "I would not change it."\n')
    await screen.page.get_by_role("button", name="Try another model…").press("Enter")
    await screen.page.get_by_placeholder("Search models").fill(f"scripted/{other}")
    await screen.page.keyboard.press("Enter")
    sheet = screen.page.get_by_role("dialog", name="Edit message")
    await sheet.get_by_text("ran since").wait_for()
    await sheet.get_by_role("button", name="Rewind and send").press("Enter")
    await screen.sees("I would not change it.")
    await screen.ended()
    assert (server.halo.folder / "a.txt").read_text() == OLD
    assert "Done." not in await screen.transcript()


async def test_a_task_goes_on_as_another_from_a_checkpoint(server, opened):
    screen = await worked(server, opened, width=320)
    task = screen.page.url.rpartition("/")[2]
    await screen.page.locator(".checkpoint:not(.now) .checkpoint-line").nth(1).press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.get_by_text("Fork a new task from here instead").press("Enter")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await sheet.get_by_role("button", name="Fork").press("Enter")
    await sheet.wait_for(state="detached")
    await screen.page.locator("[data-told=yes]").wait_for()
    assert screen.page.url.rpartition("/")[2] != task
    assert "Change it." in await screen.transcript()


async def test_what_fills_the_window_is_told(server, opened):
    screen = await worked(server, opened, theme="dark")
    await screen.page.locator(".meter").press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.get_by_text("Free until compaction").wait_for()
    assert await screen.barriers() == []
    await sheet.get_by_role("button", name="Tools").press("Enter")
    await sheet.get_by_text("write_to_file").wait_for()
    await screen.page.keyboard.press("Escape")
    await sheet.wait_for(state="detached")
    await screen.page.locator(".meter:focus").wait_for()


@pytest.mark.parametrize(
    ("button", "decision"),
    [("Send 1 comment after this turn", "allow_once"), ("Reject and send now", "reject_once")],
)
async def test_comments_say_before_they_are_sent_whether_they_reject_what_is_asked(server, opened, button, decision):
    edit = call("write_to_file", path="b.txt", content="one\n")
    asks = call("execute_command", command="touch made", requires_approval=True)
    model = server.halo.script({"call": [edit]}, {"call": [asks]}, *[{"text": "Done it."}] * 2)
    server.settings(f'approval_mode = "accept-edits"\nmodel = "{model}"\n')
    await server.start()
    screen = await opened()
    await screen.say("Do it.")
    await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").wait_for()
    await screen.page.keyboard.press("Control+.")
    pane = screen.page.get_by_label("Changes", exact=True)
    await pane.locator("[data-hunk]").first.wait_for()
    await pane.get_by_role("button", name="Comment").first.click()
    await screen.page.keyboard.type("Why one?")
    await screen.page.keyboard.press("Control+Enter")
    await pane.get_by_role("button", name=button).wait_for()
    assert await screen.barriers() == []
    await pane.get_by_role("button", name=button).press("Enter")
    await pane.get_by_role("button", name=button).wait_for(state="detached")
    if decision == "allow_once":
        await screen.page.locator("[data-decides] :is(.primary, .approves):enabled").click()
    await screen.sees("Done it.")
    (made,) = [event for event in server.halo.log() if isinstance(event, ev.ApprovalResolved)]
    assert made.decision == decision
    await screen.page.get_by_text("Why one?").first.wait_for()


async def test_a_rewind_brings_back_the_list_the_context_and_the_end_and_says_where_it_went(server, opened):
    todos = [call("update_todos", todos="- [x] First thing\n- [ ] Second thing")]
    server.model({"text": "Hello."}, {"text": "Much to read.\n\n" * 60, "call": todos}, {"text": "Done."})
    await server.start()
    screen = await opened()
    await screen.say("Begin.")
    await screen.ended()
    meter = screen.page.locator(".meter")
    before = await meter.inner_text()
    await screen.say("Go on.")
    await screen.page.locator(".todos").wait_for()
    await screen.sees("Done.", ".log")
    await screen.ended()
    await screen.page.locator(".log").hover()
    await screen.page.mouse.wheel(0, -20_000)
    await screen.page.locator(".to-end").wait_for()
    await screen.page.get_by_role("button", name="Rewind to before this").last.press("Enter")
    sheet = screen.page.locator("dialog")
    await sheet.locator("button:enabled", has_text="Rewind").last.wait_for()
    await sheet.locator(".will").wait_for()
    await sheet.get_by_role("button", name="Rewind", exact=True).click()
    await screen.sees("Rewound to before “Go on.”", ".log")
    await screen.page.locator(".todos").wait_for(state="detached")
    await screen.page.locator(".to-end").wait_for(state="detached")
    await screen.page.wait_for_function("(text) => document.querySelector('.meter').innerText === text", arg=before)
    assert "event" not in await screen.transcript()
    assert "0 files" not in await screen.transcript()
