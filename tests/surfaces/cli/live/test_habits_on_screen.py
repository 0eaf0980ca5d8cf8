"""What people do on the screen that no other file tries: searching prompts, going back in a task, agents that ask."""

import asyncio
import os
import shlex
import subprocess
import sys

import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import HALO, Halo, call
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT

from halocline.protocol import events as ev
from halocline.protocol.messages import Text

pytestmark = [pytest.mark.slow, pytest.mark.process]

HI = {"text": "Hello."}


def test_a_search_goes_back_prompt_by_prompt_also_through_those_of_earlier_tasks(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal().starts("-m", halo.script({"text": "One."}, {"text": "Two."}))
    for prompt, reply in (("walk first", "One."), ("walk second", "Two.")):
        terminal.says(prompt).saw(f"❯ {prompt}").sees(reply, HINT)
    terminal.presses("C-d").sees("halo -r").runs("clear").sees_no("walk")
    terminal.starts("-m", halo.script(HI)).says("hello").sees("Hello.", HINT).presses("C-r").types("walk")
    terminal.sees("❯ walk second").presses("C-r").sees("❯ walk first").presses("Enter").sees_no("Search prompts")
    assert terminal.composer() == "walk first"


def test_a_conversation_that_is_short_is_not_compacted_and_the_reason_is_said(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("go").sees("Hello.", HINT)
    terminal.says("/compact").saw("Not compacted: it would save too little.").sees(HINT)


def test_an_agent_asks_on_the_screen_of_its_parent_by_its_name_and_is_a_row_there(
    halo: Halo, open_terminal: Open
) -> None:
    slow = {"call": [call("write_to_file", path="made.txt", content="made\n")], "delay": 2}
    model = halo.script(slow, {"text": "I made it."}, name="slow")
    agents = halo.folder / ".halocline" / "agents"
    agents.mkdir(parents=True)
    (agents / "maker.md").write_text(f"---\nname: maker\ndescription: makes\nmodel: {model}\n---\nMake it.\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(halo.folder), *words], check=True)
    spawned = call("spawn_agent", name="the maker", prompt="Make it.", writes=True, agent="maker")
    terminal = open_terminal(100, 40).starts("-m", halo.script({"call": [spawned]}, HI)).says("go")
    terminal.sees("reject and stop").decides("y").sees("the maker").sees("made.txt", "reject and stop").decides("y")
    terminal.sees("Hello.").saw("✓ the maker")


def test_all_of_a_resumed_task_is_printed_by_a_key(halo: Halo, open_terminal: Open) -> None:
    files = [call("write_to_file", path=f"{number}.txt", content="x\n") for number in range(170)]
    model = halo.script({"call": files}, {"text": "All are there."}, HI)
    terminal = open_terminal().starts("-y", "-m", model)
    for prompt, end in (("the first of all", "All are there."), ("the second", "Hello.")):
        terminal.says(prompt).sees(end, HINT)
    terminal.presses("C-d").sees("halo -r")
    again = open_terminal().starts("-c", "-m", model).saw("❯ the second", "Ctrl-O")
    assert "the first of all" not in again.everything
    again.presses("C-o").saw("❯ the first of all", "0.txt")


def test_lines_are_added_by_a_backslash_by_ctrl_j_and_by_alt_enter(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).types("one\\").presses("Enter").types("two")
    terminal.presses("C-j").types("three").presses("M-Enter").types("four")
    terminal.sees("four").presses("Enter").sees("Hello.")
    (started,) = [event for event in halo.log() if isinstance(event, ev.TurnStarted)]
    assert started.content[0] == Text("one\ntwo\nthree\nfour")


async def test_a_model_of_a_server_is_chosen_from_the_list(halo: Halo, open_terminal: Open) -> None:
    async with ModelServer([Turn(text="Hello.")], models=("tiny-1", "tiny-2")) as server:
        url = ("--base-url", server.url("openai"), "--api-key", "k")

        def choose() -> None:
            terminal = open_terminal(100, 30).starts("-m", "openai-compatible/tiny-1", *url).types("/model")
            terminal.sees("❯ /model").presses("Enter").sees("openai-compatible/tiny-2").types("tiny-2")
            terminal.sees("❯ openai-compatible/tiny-2").presses("Enter").sees("Model: openai-compatible/tiny-2")
            terminal.says("go").sees("Hello.")

        await asyncio.to_thread(choose)
        assert server.requests[-1].body["model"] == "tiny-2"


HISTORY = "\n# 2026-11-01\n+walk first\n\n# 2026-11-02\n+walk second\n"


def test_up_pressed_before_the_screen_stands_waits_for_the_history_and_what_is_typed_then_comes_behind(
    halo: Halo, open_terminal: Open
) -> None:
    halo.home.mkdir(parents=True, exist_ok=True)
    history = halo.home / "prompt_history"
    os.mkfifo(history)  # it is read as late as something is written
    terminal = open_terminal().runs(f"sleep 0.5; {sys.executable} -m halocline -m {halo.script(HI)}")
    terminal.types("draft").presses("Up").types(" now")
    with history.open("w") as slow:
        terminal.types(" and")
        slow.write(HISTORY)
    terminal.sees("❯ walk second now and", "· ask ·").presses("Up").sees("❯ walk first")
    terminal.presses("Down", "Down").sees("❯ draft")
    assert [event for event in halo.log() if isinstance(event, ev.TurnStarted)] == []


def test_ctrl_r_pressed_at_the_first_frame_searches_what_was_typed_on_other_days_and_sends_nothing(
    halo: Halo, open_terminal: Open
) -> None:
    halo.home.mkdir(parents=True, exist_ok=True)
    (halo.home / "prompt_history").write_text(HISTORY)
    terminal = open_terminal().runs(shlex.join([*HALO, "-m", halo.script(HI)])).sees(HINT)
    terminal.presses("C-r").types("walk").presses("Enter", "Enter").types("more").sees(
        "Search prompts: walk", "· ask ·"
    )
    terminal.sees("❯ walk second").presses("C-r").sees("❯ walk first").presses("Enter").sees_no("Search prompts")
    assert terminal.composer() == "walk first"
    assert [event for event in halo.log() if isinstance(event, ev.TurnStarted)] == []
