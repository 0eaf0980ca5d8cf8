"""An edit that did not fit: looked for, there, and would have been put, side by side."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

BLOCK = "------- SEARCH\ndef two():\n    wait = 3\n=======\ndef two():\n    wait = 4\n+++++++ REPLACE\n"


@pytest.mark.parametrize("width", [1100, 320])
async def test_the_person_sees_why_an_edit_did_not_fit(server, opened, width):
    (server.halo.folder / "a.py").write_text("import x\n\ndef two():\n    wait = 2\n")
    edit = {"tool": "replace_in_file", "arguments": {"file_path": "a.py", "diff": BLOCK}}
    server.model({"call": [edit]}, {"text": "I look again."})
    await server.start()
    screen = await opened(width=width, theme="dark")
    await screen.say("Change it.")
    await screen.ended()
    await screen.page.get_by_role("button", name="Show conflict").press("Enter")
    sheet = screen.page.locator("dialog.sheet")
    await sheet.get_by_text("Not applied:").wait_for()
    sides = [await one.inner_text() for one in await sheet.locator(".conflict-side").all()]
    assert "wait = 3" in sides[0]
    assert "from line 1" in sides[1].lower()
    assert "wait = 2" in sides[1]
    assert "wait = 4" in sides[2]
    assert await sheet.locator(".differs").count() == 5
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    boxes = [await one.bounding_box() for one in await sheet.locator(".conflict-side").all()]
    assert (boxes[0]["y"] == boxes[2]["y"]) == (width == 1100)
    await sheet.get_by_role("button", name="Comment to the agent").press("Enter")
    assert (await screen.composer.input_value()).startswith("About the edit that did not apply to `a.py`")
