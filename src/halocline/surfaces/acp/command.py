"""`halo acp`: serve an editor that speaks ACP over stdin and stdout."""

import argparse
import os
import sys
from importlib.util import find_spec

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.installation import extra_command
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.surfaces import event_loop
from halocline.surfaces.stdio import is_file

_ON_A_TERMINAL = (
    "halo acp is for editors: it reads messages of the Agent Client Protocol. Configure it there as an agent with the "
    "command `halo acp`.\n"
)


def command(arguments: argparse.Namespace) -> int:
    """Serve one client. Raises UsageError if the SDK is not installed, or there is no one to talk to."""
    if find_spec("acp") is None:
        raise UsageError(
            "The SDK of the Agent Client Protocol is not installed.", f"Install it: {extra_command('acp')}"
        )
    if any(map(is_file, (0, 1))):
        raise UsageError(
            "halo acp talks to an editor over pipes; its input and output cannot be files.", "Start it from an editor."
        )
    if os.isatty(0):
        sys.stderr.write(_ON_A_TERMINAL)
    from halocline.surfaces.acp.server import serve_stdio

    approval = arguments.approval_mode
    mode = "plan" if approval == "plan" else arguments.mode
    opening = TaskOptions(
        model=arguments.model,
        mode=Mode(mode) if mode else None,
        approval_mode=ApprovalMode(approval) if approval not in (None, "plan") else None,
        effort=arguments.effort,
        thinking_budget=arguments.thinking_budget,
        attended=True,
    )
    choices = Choices(**{name: getattr(arguments, name, None) for name in Choices.__struct_fields__})
    client = open_client(choices, "acp")
    event_loop.run_loop(serve_stdio(client, opening))
    return 0
