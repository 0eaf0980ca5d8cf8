"""Commands with a list of values: the list opens with the command, and is chosen by arrows, typing and Enter."""

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open

from halocline.surfaces.cli.live.actions import PICKERS

pytestmark = [pytest.mark.process, pytest.mark.slow]

SHOWN = {
    "/mode": "plan",
    "/approvals": "accept-edits",
    "/config": "fallback_models",
    "/settings": "fallback_models",
    "/theme": "color-blind",
    "/resume": "an earlier task",
}
NEED_MORE = {"/model", "/effort", "/mcp", "/permissions", "/agents"}
"""Lists that are empty without models with prices, servers, permissions or agents."""


def test_every_list_is_tried_here_or_needs_more() -> None:
    assert {*SHOWN} | NEED_MORE == {*PICKERS}


async def test_lists_open_with_enter_and_are_chosen_by_arrows_typing_and_enter(halo: Halo, open_terminal: Open) -> None:
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "an earlier task")
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    for command, value in SHOWN.items():
        terminal.types(command).sees(f"❯ {command}").presses("Enter").sees(value).presses("Escape")
        terminal.sees_no(value).presses("C-c").sees("Ask anything")
    terminal.types("/theme").presses("Enter").sees("color-blind").types("high").sees_no("color-blind")
    terminal.sees("high-contrast").presses("Down").sees("❯ /theme high-contrast").presses("Enter")
    terminal.sees("Theme: high-contrast")


EMPTY = {
    "/permissions": "No permissions",
    "/mcp": "No MCP servers",
    "/agents": "No agents",
    "/context": "uncached",
    "/hooks": "No hooks",
}


@pytest.mark.parametrize("typed", ["/permissions", "/perm", "/mcp", "/agents", "/agen", "/contex", "/hoo"])
def test_a_command_without_values_reports_with_the_first_enter(halo: Halo, open_terminal: Open, typed: str) -> None:
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    command, report = next((name, text) for name, text in EMPTY.items() if name.startswith(typed))
    terminal.types(typed).sees(f"❯ {typed}", command).presses("Enter").saw(f"❯ {command}", report)
