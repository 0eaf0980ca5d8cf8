"""The door to large or binary content, kept by the hash of its bytes."""

from typing import Protocol


def blob_reference(data: bytes) -> str:
    """The name of these bytes, kept or not."""
    from hashlib import sha256  # loads OpenSSL, which a task without files need not pay for

    return f"sha256:{sha256(data).hexdigest()}"


class Blobs(Protocol):
    """Content-addressed storage. A reference is `sha256:` and 64 hexadecimal digits."""

    def put(self, data: bytes) -> str:
        """Keep the bytes and give their reference; the same bytes give the same one."""

    def get(self, ref: str) -> bytes:
        """The bytes. Raises KeyError when they are not here, or not as they were put."""
