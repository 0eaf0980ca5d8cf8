"""Build the head of a request, as bytes.

Characters that HTTP does not allow are refused, so that no header value can become another header or request.
"""

from collections.abc import Mapping

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")


def request_head(method: str, target: str, fields: Mapping[str, str]) -> bytes:
    """Return the head of a request. Raises ValueError, which does not show the content, if a part cannot be sent."""
    if not (_is_printed(method + target) and " " not in target and all(map(_can_be_sent, fields, fields.values()))):
        raise ValueError("it cannot be sent")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _can_be_sent(name: str, value: str) -> bool:
    # A leading or trailing space would be lost in transit.
    return bool(name) and _NAME.issuperset(name) and _is_printed(value) and value == value.strip(" ")


def _is_printed(text: str) -> bool:
    """Return True for printable ASCII only."""
    return text.isascii() and text.isprintable()
