"""The system's keyring, through the package `keyring` if it is installed.

It runs in a separate process: its backends take a tenth of a second to import, are third-party code, and may wait for
the user to unlock the keyring. Only encrypting backends are accepted: `keyring` itself would accept a plain text file.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from halocline.installation import extra_command
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import SecretsError
from halocline.protocol.secrets.secret import Secret

REAL = tuple(f"keyring.backends.{name}" for name in ("SecretService", "kwallet", "macOS", "Windows"))
"""Modules of backends that use a keyring of the system."""

_NONE, _MISSING = 3, 4


class SystemKeyring:
    """Secrets by name, under one service. `patience` is the timeout in seconds. All methods may raise SecretsError."""

    def __init__(self, service: str, patience: float) -> None:
        self._service = service
        self._patience = patience

    def put(self, name: str, secret: Secret) -> bool:
        """Store a secret. False if this machine has no keyring."""
        if not _is_installed():
            return False
        return self._ask("put", name, secret.reveal()).returncode != _NONE

    def get(self, name: str) -> Secret | None:
        """Return a secret; None if the keyring does not have it."""
        answer = self._require_answer("get", name)
        return None if answer.returncode == _MISSING else Secret(answer.stdout)

    def remove(self, name: str) -> None:
        """Remove a secret; no error if it does not exist."""
        self._require_answer("remove", name)

    def _require_answer(self, deed: str, name: str) -> "subprocess.CompletedProcess[str]":
        answer = self._ask(deed, name) if _is_installed() else None
        if answer is None or answer.returncode == _NONE:
            text = f"The key {name!r} is in the system's keyring, which is not available here."
            raise SecretsError(text, f"Log in to the desktop, or run: {extra_command('keyring')}")
        return answer

    def _ask(self, deed: str, name: str, secret: str = "") -> "subprocess.CompletedProcess[str]":
        # -P: never import a keyring.py from the current folder.
        words = [sys.executable, "-P", "-m", __name__, deed, self._service, name]
        try:
            answer = subprocess.run(
                words,
                input=secret,
                capture_output=True,
                text=True,
                timeout=self._patience,
                encoding="utf-8",
                check=False,
                env=child_environment(os.environ, passed=("KEYRING_*",)),
            )
        except subprocess.TimeoutExpired:
            text = f"The system's keyring did not answer within {self._patience:g} s."
            raise SecretsError(text, "Unlock it and try again.") from None
        if answer.returncode not in (0, _NONE, _MISSING):
            raise _keyring_error(answer.stderr, secret)
        return answer


def _is_installed() -> bool:
    return find_spec("keyring") is not None


def _keyring_error(said: str, secret: str) -> SecretsError:
    """Build the error from the last line of a traceback, without the exception's name."""
    last = (said.strip().splitlines() or ["no reason given"])[-1]
    reason = last.partition(": ")[2] or last
    shown = (reason.replace(secret, "[key]") if secret else reason)[:300]
    hint = "Unlock it and try again, or store keys in a file: PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring"
    return SecretsError(f"The system's keyring failed: {shown.rstrip('.!')}.", hint)


def _find_backend() -> Any:
    """Return the first encrypting backend that `keyring` would use; None if there is none."""
    chosen = import_module("keyring").get_keyring()
    return next((backend for backend in _backend_parts(chosen) if type(backend).__module__ in REAL), None)


def _backend_parts(backend: Any) -> Iterator[Any]:
    """Yield the members of a chain, which may mix encrypting and other backends, or the backend itself."""
    if type(backend).__module__ == "keyring.backends.chainer":
        yield from backend.backends
    else:
        yield backend


def main(arguments: Sequence[str]) -> int:
    """Run one action. A failure of the keyring ends the process with a traceback."""
    deed, service, name = arguments
    backend = _find_backend()
    if backend is None:
        return _NONE
    if deed == "put":
        backend.set_password(service, name, sys.stdin.read())
        return 0
    found = backend.get_password(service, name)
    if found is None:
        return _MISSING
    if deed == "remove":
        backend.delete_password(service, name)
    else:
        sys.stdout.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
