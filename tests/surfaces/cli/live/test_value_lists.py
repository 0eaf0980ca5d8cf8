"""Commands with a list of values: the list opens with the command; typing filters it, arrows and Enter pick."""

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.live.conftest import Open

from halocline.surfaces.cli.live.actions import PICKERS

pytestmark = [pytest.mark.process, pytest.mark.slow]

SHOWN = {
    "/mode": "in use",
    "/approvals": "accept-edits",
    "/config": "fallback_models",
    "/settings": "fallback_models",
    "/theme": "color-blind",
    "/resume": "an earlier task",
}
NEED_MORE = {"/model", "/effort", "/mcp", "/permissions", "/agents", "/login", "/logout"}
"""Lists that are empty without models with prices, servers, permissions or agents; those of providers have tests."""


def test_every_list_is_tried_here_or_needs_more() -> None:
    assert {*SHOWN} | NEED_MORE == {*PICKERS}


async def test_lists_open_with_enter_filter_by_typing_and_pick_with_enter(halo: Halo, open_terminal: Open) -> None:
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "an earlier task")
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    for command, value in SHOWN.items():
        terminal.types(command).sees(f"❯ {command}").presses("Enter").sees(value).presses("Escape")
        terminal.sees_no(value).sees("Ask anything")
    terminal.types("/theme").presses("Enter").sees("color-blind").types("high").sees_no("color-blind")
    terminal.sees("❯ high-contrast").presses("Enter").sees("Theme: high-contrast")


def test_the_value_in_use_is_selected_and_a_list_uses_the_height_of_the_window(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(100, 40).starts("-m", halo.script({"text": "Hello."}))
    terminal.types("/approvals").presses("Enter").sees("❯ ask           in use").presses("Down").sees("❯ accept-edits")
    terminal.presses("Enter").sees("Switch to accept-edits?").presses("Escape").sees_no("Keep it").types(
        "/config"
    ).presses("Enter")
    terminal.sees("connect_timeout").presses("PPage").sees("❯ ")
    terminal.presses("Escape").sees("Ask anything")


def test_a_setting_takes_a_value_of_its_list_or_a_typed_one(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
    terminal.types("/config").presses("Enter").sees("fallback_models").types("sandbox_network").sees(
        "❯ sandbox_network"
    )
    terminal.presses("Enter").sees("❯ false    in use").types("tr").sees("❯ true").presses("Enter")
    terminal.sees("sandbox_network is now true").types("/config").presses("Enter").sees("fallback_models")
    terminal.types("max_steps").sees("❯ max_steps").presses("Enter").sees("Type a value").types("77").presses("Enter")
    terminal.sees("max_steps is now 77")
    assert (halo.home / "settings.toml").read_text().count("= ") == 2


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
