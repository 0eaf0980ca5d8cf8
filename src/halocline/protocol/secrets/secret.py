"""A key, a token or a password in memory. Only `reveal` gives it away: no text form and no encoding of it does."""

from typing import NoReturn

_LONG_ENOUGH = 16
_TAIL = 4


class Secret:
    """Equal to another one that holds the same."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the one place that must send or store it."""
        return self._value

    @property
    def tail(self) -> str:
        """What a person may be shown to know it again: the last characters of a long one, nothing of a short one."""
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
        raise TypeError("a secret is not pickled or copied")
