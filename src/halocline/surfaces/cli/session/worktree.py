"""The worktree of `--worktree`: opened, or made and set up once by the command of the settings."""

import argparse
import os
import secrets
import subprocess
import time
from pathlib import Path

from halocline.client.tasks import open_client
from halocline.client.worktrees import OpenedWorktree, open_worktree
from halocline.protocol.child_environment import child_environment
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import choices_of, options_of
from halocline.surfaces.cli.plain.questions import ask_yes_no, on_terminal
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean, reveal


def make_name() -> str:
    """Return a name for a new worktree: the time, and letters that tell it from others of the same second."""
    return f"{time.strftime('%y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def work_in_worktree(arguments: argparse.Namespace, workspace: Path) -> Path:
    """Return the folder to work in. Raises UsageError."""
    name = arguments.worktree or make_name()
    opened = event_loop.run_loop(open_worktree(workspace, name))
    print_message(f"Working in {clean(str(opened.folder))}, on the branch {opened.branch}.")
    if opened.copied:
        print_message(f"Copied {format_plural(opened.copied, 'ignored file')} that .worktreeinclude names.")
    if opened.failed:
        print_message(f"Not copied: {clean(', '.join(opened.failed))}.")
    if opened.is_new:
        _set_up(arguments, workspace, opened)
    return opened.folder


def _set_up(arguments: argparse.Namespace, workspace: Path, opened: OpenedWorktree) -> None:
    attended = on_terminal() and not arguments.print
    service = open_client(choices_of(arguments), "cli", folder=workspace).worktrees_in(workspace)
    mode = options_of(arguments, attended=attended).approval_mode
    setup = service.find_setup(opened.folder, mode, trusted=arguments.trust)
    if setup is None:
        return
    command, decision = reveal(setup.command), setup.decision
    asks = decision.decision == "ask" and attended
    if not (decision.decision == "allow" or (asks and ask_yes_no(f"Set the worktree up with: {command}?"))):
        why = "you said no" if asks else clean(decision.reason)
        print_message(f"The setup command did not run, because {why}: {command}", "Run it there yourself.")
        return
    print_message(f"Setting up: {command}")
    # What it prints goes to standard error: standard output may be for a program.
    done = subprocess.run(
        ["/bin/sh", "-c", setup.command],
        cwd=opened.folder,
        env=child_environment(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=2,
        stderr=2,
        check=False,
    )
    if done.returncode:
        print_message(
            f"The setup command ended with exit code {done.returncode}.",
            f"It does not run again in this worktree: run it yourself, in {clean(str(opened.folder))}.",
        )
