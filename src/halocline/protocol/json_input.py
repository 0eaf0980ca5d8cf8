"""Reads JSON that others wrote: what is nested too deeply is refused as what is no JSON is.

msgspec raises RecursionError for it, which no caller expects; a test holds that what reads foreign text comes here.
"""

from typing import Any, Generic, TypeVar, overload

import msgspec

T = TypeVar("T")
TOO_DEEP = "it is nested too deeply"


class Decoder(Generic[T]):
    """The same as `msgspec.json.Decoder`, made once and used often."""

    @overload
    def __init__(self: "Decoder[Any]") -> None: ...
    @overload
    def __init__(self: "Decoder[T]", type: type[T]) -> None: ...
    @overload
    def __init__(self: "Decoder[Any]", type: Any) -> None: ...
    def __init__(self, type: Any = Any) -> None:
        self._decode = msgspec.json.Decoder(type).decode

    def decode(self, data: bytes | str) -> T:
        """Raises msgspec.DecodeError."""
        try:
            found: T = self._decode(data)
        except RecursionError as error:
            raise msgspec.DecodeError(TOO_DEEP) from error
        return found


@overload
def decode(data: bytes | bytearray | memoryview | str) -> Any: ...
@overload
def decode(data: bytes | bytearray | memoryview | str, type: type[T]) -> T: ...
@overload
def decode(data: bytes | bytearray | memoryview | str, type: Any) -> Any: ...
def decode(data: bytes | bytearray | memoryview | str, type: Any = Any) -> Any:
    """The same as `msgspec.json.decode`. Raises msgspec.DecodeError."""
    try:
        return msgspec.json.decode(data, type=type)
    except RecursionError as error:
        raise msgspec.DecodeError(TOO_DEEP) from error
