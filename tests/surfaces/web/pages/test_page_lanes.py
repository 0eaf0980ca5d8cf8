"""Sub-agents in the page: a lane each, to be looked at and stopped one by one."""

import subprocess

import pytest
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.web.pages.screen import SILENCE, Server

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def describe(halo: Halo, name: str, *turns: dict) -> None:
    """An agent of the project that plays these turns."""
    folder = halo.folder / ".halocline" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    model = halo.script(*turns, name=name)
    (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: about {name}\nmodel: {model}\n---\nLook.\n")


def three_lanes(server: Server) -> None:
    """One reports at once, the others never."""
    usage = {"input": 8000, "output": 40}
    report = call("attempt_completion", result="It is at **a.py:1**.")
    describe(server.halo, "quick", {"call": [report], "usage": usage, "cost": 0.02})
    for name in ("stuck", "steered"):
        describe(server.halo, name, {"delay": 600})
    names = ("quick", "stuck", "steered")
    agents = [{"prompt": f"Where is {name}?", "agent": name, "name": f"the {name} one"} for name in names]
    server.model(
        {"text": "I let three look.", "call": [call("use_subagents", agents=agents)]}, {"text": "All is known."}
    )


async def test_each_sub_agent_has_a_lane_that_is_looked_at_steered_and_stopped_by_itself(server, opened):
    three_lanes(server)
    await server.start()
    screen = await opened(width=390)
    await screen.say("Look into it.")
    quick, stuck, steered = (
        screen.page.locator(".lane", has_text=f"the {name} one") for name in ("quick", "stuck", "steered")
    )
    await quick.get_by_text("8k tokens · $0.02").wait_for()
    assert await quick.get_by_role("button", name="Stop").count() == 0
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await steered.get_by_role("link", name="Open").press("Enter")
    await screen.sees("the steered one", "h1")
    await screen.say("and the tests")
    await screen.sees("Delivered before the next request")
    await screen.page.get_by_role("link", name="back to parent task").press("Enter")
    for lane in (stuck, steered):
        await lane.get_by_role("button", name="Stop").press("Enter")
        await lane.get_by_text("stopped").wait_for()
    await screen.ended()
    await quick.locator(".lane-open").press("Enter")
    await quick.locator(".lane-body strong", has_text="a.py:1").wait_for()
    await screen.sees("Where is quick?", ".lane-body")
    assert await screen.barriers() == []


async def test_an_approval_says_which_agent_asks_and_its_lane_what_it_changed(server, opened):
    edit = call("write_to_file", path="new.py", content="new = 1\n")
    child = server.halo.script({"call": [edit]}, {"call": [call("attempt_completion", result="Done.")]}, name="alpha")
    begins = call("spawn_agent", name="alpha", prompt="Write it.", writes=True, model=child)
    model = server.halo.script({"text": "I start one.", "call": [begins]}, {"text": "All is known."})
    server.settings(f'model = "{model}"\nsubagents = "on"\napproval_mode = "ask"\n')
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first", "--allow-empty")):
        author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        subprocess.run(("git", *author, *words), cwd=server.halo.folder, check=True, capture_output=True)
    await server.start()
    screen = await opened(width=900)
    await screen.say("Do it.")
    await screen.sees("a git worktree of its own")
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.get_by_role("button", name="Approve").first.click()
    await screen.sees("The agent alpha asks.")
    await screen.sees("new = 1")
    assert await screen.barriers() == []
    assert not await screen.page.get_by_role("button", name="Edit…").count()
    assert not await screen.page.get_by_text("Included").count()
    await screen.page.wait_for_timeout(SILENCE)
    await screen.page.locator(".card.asks").get_by_role("button", name="Approve").click()
    await screen.ended()
    await screen.sees("All is known.")
    await screen.sees("It changed 1 file in its worktree", ".lane-outcome")
    await screen.sees("Not checked: no command ran after the edit", ".lane-outcome")
    assert await screen.page.get_by_text("merge_agent_changes").count() == 0
    await screen.page.evaluate("location.hash = '#/board'")
    await screen.sees("1 file to merge +1 −0", ".board")
    await screen.sees("project ⎇ alpha-", ".board")
    await screen.sees("0 of 1 tasks need you", ".board")
    await screen.page.get_by_role("button", name="Worktree: alpha").click()
    await screen.sees("new = 1", "dialog")
