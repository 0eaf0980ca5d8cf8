"""Brings a settings file of the first format into the second; see FORMAT.md."""

import sys
import tomllib


def migrate(text):
    """Return the text of a file in the second format."""
    old = tomllib.loads(text)
    lines = ["format = 2", "", "[server]"]
    for key in ("host", "port"):
        lines.append(f'{key} = "{old[key]}"')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(migrate(sys.stdin.read()))
