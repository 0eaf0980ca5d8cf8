"""`halo`: the command. `--version` is answered before anything else is imported."""

import sys

from halocline._version import __version__


def main() -> int:
    """Run the command line and give its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"halo {__version__}")
        return 0
    from halocline.surfaces.cli.main import main as cli

    return cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
