"""`halo board`: all tasks on a full screen. Without the extra, or a terminal, it says what to use instead."""

import argparse
import os
from importlib.util import find_spec

from halocline.client import Choices, open_client
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop, tui

_DUMB = ("dumb", "unknown", "")
INSTEAD = "List the tasks: halo tasks list --all. Answer one: halo attach"


def command(arguments: argparse.Namespace) -> int:
    """Show the board. Raises UsageError where it cannot be drawn."""
    if find_spec("textual") is None:
        raise UsageError("The library of the board is not installed.", "Install it: pip install 'halocline[tui]'")
    if not (os.isatty(0) and os.isatty(1)):
        raise UsageError("halo board needs a terminal.", INSTEAD)
    if os.environ.get("TERM", "dumb") in _DUMB:
        raise UsageError("This terminal cannot show a full screen (TERM is dumb).", INSTEAD)
    return event_loop.run_loop(tui.running.run_board(open_client(Choices())))
