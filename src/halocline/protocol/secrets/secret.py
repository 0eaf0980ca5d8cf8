"""A key, token or password in memory. Only `reveal` returns it; its text forms and encodings do not show it."""

from typing import NoReturn

_LONG_ENOUGH = 16
_TAIL = 4


class Secret:
    """A secret value. Two secrets with the same value are equal."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, for the one place that must send or store it."""
        return self._value

    @property
    def tail(self) -> str:
        """A display form to recognize it by: the last characters of a long value, nothing of a short one."""
        return f"…{self._value[-_TAIL:]}" if len(self._value) >= _LONG_ENOUGH else "…"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled or copied")
