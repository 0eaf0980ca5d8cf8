"""Sign-in to Azure without a key, by Microsoft Entra ID: Microsoft's own library finds who is signed in.

The library is an extra: it is imported in a thread, with the first request, and asks over our own network.
"""

import asyncio
import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from halocline.installation import extra_command
from halocline.net.network import Network
from halocline.protocol.errors import ModelError, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.terminal_text import cut_words
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.errors import describe_failure
from halocline.providers.tokens import Token, Tokens

if TYPE_CHECKING:
    from halocline.providers.auth.entra_library import Credential

_SHOWN = 300
_CODE = re.compile(r"AADSTS\d+:[^\n]*")
_ATTEMPT = re.compile(r"^\t\w+: (.*)", re.MULTILINE)
_NOT_HERE = re.compile(r"unavailable|not (be )?found|not installed|package")


def make_entra_tokens(vendor: Vendor, choose_network: Callable[[str], Network]) -> Tokens:
    """Return the tokens for a vendor's scope; `choose_network` says how to reach an address.

    Raises:
        UsageError: the library is not installed.
    """
    if find_spec("azure") is None or find_spec("azure.identity") is None:
        text = f"There is no key for {vendor.title}, and the package for a sign-in by Entra ID is not installed."
        raise UsageError(text, f"Set {vendor.key_variable or 'key_variable'}, or run: {extra_command('azure')}")
    return Tokens(_SignIn(vendor.title, vendor.entra_scope, choose_network).fetch)


class _SignIn:
    """One person's or machine's sign-in, kept for the next token."""

    def __init__(self, title: str, scope: str, choose_network: Callable[[str], Network]) -> None:
        self._title = title
        self._scope = scope
        self._choose_network = choose_network
        self._credential: Credential | None = None

    async def fetch(self) -> Token:
        """Return a new token. Raises ModelError."""
        return await asyncio.to_thread(self._ask, asyncio.get_running_loop())

    def _ask(self, loop: asyncio.AbstractEventLoop) -> Token:
        from halocline.providers.auth import entra_library as library

        try:
            self._credential = self._credential or library.Credential(self._choose_network, loop)
            value, expires_at = self._credential.ask(self._scope)
        except ModelError:
            raise
        except Exception as error:
            if self._credential and self._credential.unreachable:
                raise self._credential.unreachable from error
            raise describe_failure("no_token", who=self._title, reason=_shorten_reason(str(error))) from error
        return Token(Secret(value), expires_at)


def _shorten_reason(message: str) -> str:
    """Return what counts of the library's long message: the server's own words, or the attempt that failed last."""
    attempts = _ATTEMPT.findall(message)
    failed = [words for words in attempts if not _NOT_HERE.search(words)]
    code = _CODE.search(message)
    if attempts and not (code or failed):
        return "no one is signed in on this machine, and it has no identity of its own."
    words = code[0] if code else failed[-1] if failed else message
    return cut_words(" ".join(words.split()), _SHOWN)
