"""`halo` where no model is set up: one is chosen on the screen, and what was typed before and meanwhile is not lost."""

import asyncio
import shlex

import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import HALO, Halo
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT

from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.surfaces.cli.live.live_mode import DRAFT_KEPT
from halocline.surfaces.cli.session.first_model import PROVIDER
from halocline.surfaces.slash.login import ADDRESS

pytestmark = [pytest.mark.slow, pytest.mark.process]

TYPED = ["fix the bug", "and test it", "and tell me how"]


async def test_what_is_typed_before_a_model_is_chosen_and_into_the_list_is_the_first_prompt(
    halo: Halo, open_terminal: Open
) -> None:
    async with ModelServer([Turn(text="Hello.")], models=("tiny-1", "tiny-2")) as server:
        address = server.url("openai")

        def choose() -> None:
            terminal = open_terminal(100, 40).runs(shlex.join(HALO)).says(TYPED[0]).types(TYPED[1])
            terminal.sees(PROVIDER, "anthropic").says(TYPED[2]).sees("No provider has this name")
            terminal.types("openai-c").sees_no("mistral").presses("Enter").sees(ADDRESS).says(address)
            terminal.sees("Key for").presses("Enter").sees("tiny-1", "tiny-2").types("tiny-2").sees_no("tiny-1")
            terminal.presses("Enter").sees("New tasks use", "· ask ·", *TYPED).presses("Enter").sees("Hello.", HINT)

        await asyncio.to_thread(choose)
        assert server.requests[-1].body["model"] == "tiny-2"
    (started,) = [event for event in halo.log() if isinstance(event, ev.TurnStarted)]
    assert started.content[0] == Text("\n".join(TYPED))


def test_who_chooses_no_model_is_told_how_and_finds_what_they_typed_in_the_history(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal(100, 40).runs(shlex.join(HALO)).says("fix the bug").sees(PROVIDER, "anthropic")
    terminal.presses("Escape").sees(DRAFT_KEPT, "No model is configured.", "halo login")
    terminal.runs("clear").sees_no(DRAFT_KEPT).starts("-m", halo.script({"text": "Hello."}))
    terminal.presses("Up").sees("❯ fix the bug")
