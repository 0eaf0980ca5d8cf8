"""The system's keyring, by way of the package `keyring` where it is installed.

It is asked in a process of its own: its backends take a tenth of a second to import, are not ours, and may wait for a
person to unlock something. Only backends that encrypt are accepted: `keyring` itself would take a plain text file.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import SecretsError
from halocline.protocol.secrets.secret import Secret

REAL = tuple(f"keyring.backends.{name}" for name in ("SecretService", "kwallet", "macOS", "Windows"))
"""Modules of backends that are a keyring of the system."""

_NONE, _MISSING = 3, 4


class SystemKeyring:
    """Secrets by name, under one service; answers are waited for `patience` seconds. All may raise SecretsError."""

    def __init__(self, service: str, patience: float) -> None:
        self._service = service
        self._patience = patience

    def put(self, name: str, secret: Secret) -> bool:
        """Keep a secret. False when this machine has no keyring."""
        if not _is_installed():
            return False
        return self._ask("put", name, secret.reveal()).returncode != _NONE

    def get(self, name: str) -> Secret | None:
        """The secret of that name; None when the keyring has none."""
        answer = self._needed("get", name)
        return None if answer.returncode == _MISSING else Secret(answer.stdout)

    def remove(self, name: str) -> None:
        """Forget a secret; one that is gone already is no error."""
        self._needed("remove", name)

    def _needed(self, deed: str, name: str) -> "subprocess.CompletedProcess[str]":
        answer = self._ask(deed, name) if _is_installed() else None
        if answer is None or answer.returncode == _NONE:
            text = f"The key {name!r} is in the system's keyring, which cannot be reached from here."
            raise SecretsError(text, "Log in to the desktop, or install the extra: pip install 'halocline[keyring]'")
        return answer

    def _ask(self, deed: str, name: str, secret: str = "") -> "subprocess.CompletedProcess[str]":
        # -P: a file named keyring.py in the current folder must not be what is imported.
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
            raise SecretsError(text, "Unlock it, and try again.") from None
        if answer.returncode not in (0, _NONE, _MISSING):
            raise _keyring_error(answer.stderr, secret)
        return answer


def _is_installed() -> bool:
    return find_spec("keyring") is not None


def _keyring_error(said: str, secret: str) -> SecretsError:
    """The last line of a trace is the reason, behind the error's name."""
    last = (said.strip().splitlines() or ["no reason given"])[-1]
    reason = last.partition(": ")[2] or last
    shown = (reason.replace(secret, "[key]") if secret else reason)[:300]
    hint = "Unlock it and try again; or keep keys in a file: PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring"
    return SecretsError(f"The system's keyring failed: {shown.rstrip('.!')}.", hint)


def _find_backend() -> Any:
    """The first real one among those that `keyring` would use; None when it would use none."""
    chosen = import_module("keyring").get_keyring()
    return next((backend for backend in _backend_parts(chosen) if type(backend).__module__ in REAL), None)


def _backend_parts(backend: Any) -> Iterator[Any]:
    """A chain tries its members in turn, and real ones may stand in it beside others."""
    if type(backend).__module__ == "keyring.backends.chainer":
        yield from backend.backends
    else:
        yield backend


def main(arguments: Sequence[str]) -> int:
    """Do one deed. What fails in the keyring ends the process with a trace."""
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
