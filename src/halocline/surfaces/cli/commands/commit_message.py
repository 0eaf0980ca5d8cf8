"""`halo commit-message`: print a commit message as the model writes it."""

import argparse
import sys
from contextlib import aclosing

from halocline.client.git import CommitMessageRequest, CommitMessages
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import choices_of, workspace_of
from halocline.surfaces.sanitize import reveal


def command(arguments: argparse.Namespace) -> int:
    wanted = CommitMessageRequest(workspace_of(arguments.cwd), arguments.model or "", arguments.all)
    event_loop.run_loop(_print_message(CommitMessages.open(choices_of(arguments)), wanted))
    return 0


async def _print_message(messages: CommitMessages, wanted: CommitMessageRequest) -> None:
    """Print the message. Raises ModelError, also when the reply broke off, as what is printed cannot be taken back."""
    shown = ""
    try:
        async with aclosing(messages.write(wanted)) as parts:
            async for message in parts:
                if not message.startswith(shown):
                    raise ModelError(ModelErrorKind.NETWORK, "The reply broke off.", "Run the command again.")
                sys.stdout.write(reveal(message[len(shown) :]))
                sys.stdout.flush()
                shown = message
    finally:
        if shown:
            print()
