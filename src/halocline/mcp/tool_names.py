"""Turn a server's untrusted tool names and descriptions into ones that are safe for a model.

What must stay true: the same definition always gives the same name and text, whatever came before. No hidden character
stays in a text, and nothing exceeds its bound.
"""

import hashlib
import re

from halocline.protocol.events.mcp import SEPARATOR
from halocline.protocol.terminal_text import plain_text as plain_text

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_500
_SIGN = re.compile(r"[^A-Za-z0-9_-]")
_HASH = 6


def name_for(server: str, tool: str) -> str:
    """Return the model's name for a tool: unique, at most 64 allowed characters; a changed name ends in a hash."""
    plain = f"{server}{SEPARATOR}{tool}"
    name = _SIGN.sub("_", plain)
    if name == plain and len(name) <= LONGEST_NAME and SEPARATOR not in server and name[0].isalpha():
        return name
    mark = "_" + hashlib.sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_HASH]
    name = name if name[0].isalpha() else f"m{name}"
    return name[: LONGEST_NAME - len(mark)] + mark


def digest_tool(*definition: object) -> str:
    """Hash a tool's whole definition, as the server gave it."""
    return hashlib.sha256(repr(_sort_keys(definition)).encode(errors="surrogatepass")).hexdigest()[:32]


def _sort_keys(value: object) -> object:
    match value:
        case dict():
            return sorted((str(key), _sort_keys(each)) for key, each in value.items())
        case list() | tuple():
            return [_sort_keys(each) for each in value]
    return value
