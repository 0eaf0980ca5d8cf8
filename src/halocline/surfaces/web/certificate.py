"""The certificate of `halo web --tls`: yours, or one that is made with `openssl` and kept for the names it is for.

No one else vouches for a certificate made here, so a browser warns once. Its fingerprint is printed to be compared.
"""

import hashlib
import ipaddress
import os
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

DAYS = 397
"""Days that a certificate is valid; browsers accept no more of most."""
RENEWED = 30 * 86_400
"""Seconds before its end at which it is made again."""
_NEW_KEY = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256")


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files of a certificate chain and its key; `fingerprint` is set if the certificate was made here."""

    chain: Path
    key: Path
    fingerprint: str = ""


def check_certificate(chain: str, key: str) -> Certificate:
    """Return your own certificate. Raises UsageError if it cannot be used."""
    found = Certificate(Path(chain).expanduser().absolute(), Path(key or chain).expanduser().absolute())
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(found.chain, found.key, password="")
    except (OSError, ssl.SSLError) as error:
        what = error.strerror or str(error)
        raise UsageError(
            f"Cannot use the certificate {chain}: {what}.", "Give PEM files: --tls-cert and --tls-key."
        ) from error
    return found


def keep_certificate(folder: Path, names: Iterable[str]) -> Certificate:
    """Return the certificate for these host names and addresses, made if there is none in `folder` that stays valid.

    Raises UsageError if it cannot be made.
    """
    alternatives = ",".join(sorted({_alternative_name(name) for name in names}))
    place = folder / hashlib.sha256(alternatives.encode()).hexdigest()[:12]
    if not _is_valid(place / "cert.pem"):
        _make_certificate(place, alternatives)
    der = ssl.PEM_cert_to_DER_cert((place / "cert.pem").read_text())
    digits = hashlib.sha256(der).hexdigest().upper()
    fingerprint = ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))
    return Certificate(place / "cert.pem", place / "key.pem", fingerprint)


def _make_certificate(place: Path, alternatives: str) -> None:
    place.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))  # of this user alone
    try:
        out = ("-keyout", str(fresh / "key.pem"), "-out", str(fresh / "cert.pem"), "-days", str(DAYS))
        said = _run_openssl(*_NEW_KEY, *out, "-subj", "/CN=Halocline", "-addext", f"subjectAltName={alternatives}")
        if said.returncode:
            lines = said.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise UsageError(f"openssl could not make a certificate: {lines[-1]}.", "Give your own with --tls-cert.")
        shutil.rmtree(place, ignore_errors=True)
        os.rename(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _is_valid(chain: Path) -> bool:
    return (
        chain.is_file() and not _run_openssl("x509", "-in", str(chain), "-noout", "-checkend", str(RENEWED)).returncode
    )


def _run_openssl(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Run `openssl`. Raises UsageError if it is missing."""
    program = shutil.which("openssl")
    if program is None:
        raise UsageError(
            "--tls needs the program openssl.", "Install it, or give your own certificate with --tls-cert."
        )
    return subprocess.run([program, *words], capture_output=True, check=False, env=child_environment(os.environ))


def _alternative_name(name: str) -> str:
    """Return a host name or an address as a certificate names it. Raises UsageError."""
    name = name.strip("[]")
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        if not all(part.replace("-", "").isalnum() and part.isascii() for part in name.split(".")):
            raise UsageError(f"{name!r} is no host name.", "Use a name such as halo.example.") from None
        return f"DNS:{name}"
