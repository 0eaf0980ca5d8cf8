#!/bin/bash
set -e
cat > share.py <<'EOF'
"""Gives out files of a shared folder by their address, as a small web server asks for them."""

import os
from urllib.parse import unquote


class Refused(Exception):
    """The address does not name a file that may be given out."""


class Share:
    def __init__(self, root):
        self.root = os.path.realpath(root)

    def find(self, address):
        """Return the path of the file at an address such as /notes/a%20b.txt. Raises Refused."""
        decoded = os.path.normpath("/" + unquote(address)).lstrip("/")
        try:
            path = os.path.realpath(os.path.join(self.root, decoded))
            inside = os.path.relpath(path, self.root)
            hidden = any(part.startswith(".") for name in (decoded, inside) for part in name.split(os.sep))
            if hidden or os.path.commonpath([self.root, path]) != self.root or not os.path.isfile(path):
                raise Refused(address)
        except (OSError, ValueError) as error:
            raise Refused(address) from error
        return path

    def read(self, address):
        try:
            with open(self.find(address), "rb") as file:
                return file.read()
        except OSError as error:
            raise Refused(address) from error
EOF
