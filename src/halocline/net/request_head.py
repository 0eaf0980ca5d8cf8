"""The head of a request, as bytes.

What HTTP cannot carry is refused, so that nothing put into a header can become another header or another request.
"""

from collections.abc import Mapping

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")


def request_head(method: str, target: str, fields: Mapping[str, str]) -> bytes:
    """Raises ValueError, without what it holds, when a part of it cannot be sent."""
    if not (_is_printed(method + target) and " " not in target and all(map(_can_be_sent, fields, fields.values()))):
        raise ValueError("it cannot be sent")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _can_be_sent(name: str, value: str) -> bool:
    # A blank at an end would be lost on the way.
    return bool(name) and _NAME.issuperset(name) and _is_printed(value) and value == value.strip(" ")


def _is_printed(text: str) -> bool:
    """Nothing but ASCII from the blank to the tilde."""
    return text.isascii() and text.isprintable()
