"""Gives out files of a shared folder by their address, as a small web server asks for them."""

import os
from urllib.parse import unquote


class Refused(Exception):
    """The address does not name a file that may be given out."""


class Share:
    def __init__(self, root):
        self.root = os.path.abspath(root)

    def find(self, address):
        """Return the path of the file at an address such as /notes/a%20b.txt. Raises Refused."""
        path = os.path.join(self.root, address.lstrip("/"))
        if ".." in address or not path.startswith(self.root):
            raise Refused(address)
        path = unquote(path)
        if not os.path.isfile(path):
            raise Refused(address)
        return path

    def read(self, address):
        with open(self.find(address), "rb") as file:
            return file.read()
