"""Port for large or binary content, stored by its hash."""

from typing import Protocol


def blob_reference(data: bytes) -> str:
    """Return the reference of these bytes, stored or not."""
    from hashlib import sha256  # loads OpenSSL, which a task without files does not need

    return f"sha256:{sha256(data).hexdigest()}"


class Blobs(Protocol):
    """Content-addressed storage. A reference is `sha256:` and 64 hexadecimal digits."""

    def put(self, data: bytes) -> str:
        """Store the bytes and return their reference; the same bytes have the same one."""

    def get(self, ref: str) -> bytes:
        """Return the bytes. Raises KeyError if they are missing or corrupt."""
