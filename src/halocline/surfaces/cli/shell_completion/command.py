"""`halo completion SHELL`: print the script with which a shell completes `halo`."""

import argparse

from halocline.surfaces.cli.shell_completion.scripts import SHELLS
from halocline.surfaces.cli.shell_completion.words import list_levels


def command(arguments: argparse.Namespace) -> int:
    print(SHELLS[arguments.shell](list_levels()), end="")
    return 0
