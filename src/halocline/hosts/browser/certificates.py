"""Custom CA certificates for Chromium: on Linux it trusts those in the NSS database in HOME.

NSS is installed wherever Chromium is; its tools often are not, so the library is called directly.
"""

import ctypes
import os
import shutil
import ssl
import sys
import tempfile
from pathlib import Path

LIBRARY = "libnss3.so"
MEMORY = "/dev/shm"
REFUSED = "Chromium did not accept the certificates of ca_file or SSL_CERT_FILE."
SERVERS = (1 << 3) | (1 << 4)
"""A certificate authority, trusted for servers (CERTDB_VALID_CA, CERTDB_TRUSTED_CA)."""


class Trust(ctypes.Structure):
    """CERTCertTrust: trust for servers, mail and programs."""

    _fields_ = (("ssl", ctypes.c_uint), ("email", ctypes.c_uint), ("objects", ctypes.c_uint))


class Item(ctypes.Structure):
    """SECItem: bytes and their length."""

    _fields_ = (("kind", ctypes.c_int), ("data", ctypes.c_char_p), ("length", ctypes.c_uint))


class NotTrusted(Exception):
    """Chromium cannot be made to trust the certificates; the text says why."""


def trust_certificates(files: list[str]) -> None:
    """Make Chromium trust the certificates of these files. HOME must be our own folder. Raises NotTrusted.

    Does nothing except on Linux: elsewhere Chromium trusts what the system trusts.
    """
    if sys.platform != "linux":
        return
    certificates = [data for file in files for data in _read_certificates(file)]
    folder = Path(os.environ["HOME"], ".pki", "nssdb")
    folder.mkdir(parents=True, mode=0o700)
    # NSS syncs each certificate to disk, and a full CA file has 140; in memory that takes no time.
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as place:
        _fill_database(place, certificates)
        for file in Path(place).glob("*.db"):
            shutil.copy(file, folder)


def _fill_database(folder: str, certificates: list[bytes]) -> None:
    try:
        nss = ctypes.CDLL(LIBRARY)
    except OSError:
        raise NotTrusted(f"Custom certificates need {LIBRARY} (NSS), which is not installed.") from None
    for name in ("PK11_GetInternalKeySlot", "CERT_NewTempCertificate", "CERT_GetDefaultCertDB"):
        getattr(nss, name).restype = ctypes.c_void_p
    if nss.NSS_InitReadWrite(f"sql:{folder}".encode()):
        raise NotTrusted(REFUSED)
    try:
        slot = ctypes.c_void_p(nss.PK11_GetInternalKeySlot())
        nss.PK11_InitPin(slot, None, b"")
        taken = [_add_certificate(nss, slot, data, f"halocline {number}") for number, data in enumerate(certificates)]
        nss.PK11_FreeSlot(slot)
    finally:
        nss.NSS_Shutdown()
    if not any(taken):
        raise NotTrusted(REFUSED)


def _add_certificate(nss: ctypes.CDLL, slot: ctypes.c_void_p, data: bytes, name: str) -> bool:
    """Add a certificate. True if it was accepted; old CA files contain some that are not."""
    database = ctypes.c_void_p(nss.CERT_GetDefaultCertDB())
    item = Item(0, data, len(data))
    certificate = ctypes.c_void_p(nss.CERT_NewTempCertificate(database, ctypes.byref(item), None, 0, 1))
    if not certificate:
        return False
    added = nss.PK11_ImportCert(slot, certificate, ctypes.c_ulong(0), name.encode(), 0)
    trusted = nss.CERT_ChangeCertTrust(database, certificate, ctypes.byref(Trust(SERVERS, 0, 0)))
    nss.CERT_DestroyCertificate(certificate)
    return not (added or trusted)


def _read_certificates(file: str) -> list[bytes]:
    """Read the certificates of a PEM file, as DER. Raises NotTrusted."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    try:
        parts = Path(file).read_text(encoding="utf-8", errors="replace").split(begin)[1:]
        found = [ssl.PEM_cert_to_DER_cert(f"{begin}{part.partition(end)[0]}{end}\n") for part in parts]
    except (OSError, ValueError) as error:
        raise NotTrusted(f"The CA file {file} cannot be read: {error}.") from error
    if not found:
        raise NotTrusted(f"The CA file {file} contains no PEM certificates.")
    return found
