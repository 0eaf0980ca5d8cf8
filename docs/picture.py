"""Draws the README's picture of the agent at work, from the screen of the demo: `python -m docs.picture`."""

import asyncio
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from halocline.client.tasks import open_client
from halocline.protocol.events import CheckpointTaken, ToolCallEnded
from halocline.runtime.assembly.assembly import Choices
from halocline.surfaces.terminal.drawing.screen import Screen

WHERE = Path(__file__).parent / "images" / "demo.svg"
WIDTH = 92
INK, PAPER, QUIET = (214, 220, 230), (16, 20, 28), (110, 120, 138)
COLOURS = [(235, 111, 106), (118, 199, 137), (226, 184, 96), (110, 160, 240), (198, 146, 233), (86, 194, 214)]
THEME = TerminalTheme(PAPER, INK, [PAPER, *COLOURS, INK], [QUIET, *COLOURS, INK])
COMMANDS_SHOWN = 2
"""The picture ends with this command; the whole demo would be too tall for a page."""


async def _record(home: str) -> str:
    os.environ["HALOCLINE_HOME"] = home
    client = open_client(Choices())
    console = Console(file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, color_system="truecolor")
    screen = Screen(console)
    commands = 0
    for event in client.past(client.tasks.search()[0].task):
        if not isinstance(event, CheckpointTaken):
            screen.show(event)
        commands += isinstance(event, ToolCallEnded) and event.name == "execute_command"
        if commands == COMMANDS_SHOWN:
            break
    screen.close()
    return console.export_svg(title="halo demo", theme=THEME)


def main() -> None:
    """Run the demo in a home of its own and save the picture."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HALOCLINE_HOME": home}
        subprocess.run(
            [sys.executable, "-m", "halocline", "demo", "-y"], env=env, check=True, stdout=subprocess.DEVNULL
        )
        svg = asyncio.run(_record(home))
    # The picture carries no font of its own, so that it loads nothing from elsewhere.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace")
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    svg = re.sub(r"/tmp/[\w.-]+/intervals", "~/intervals", svg)
    WHERE.parent.mkdir(exist_ok=True)
    WHERE.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
