"""The habits of models at their servers, learned from replies. If the file is lost, they are learned again."""

from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.values import Value

_MOST = 200


class _Habits(Value, frozen=True):
    """`prints` are models that print their calls, as `provider/model@server`; the newest is last."""

    prints: tuple[str, ...] = ()


class ModelHabits:
    """The habits of one home's models."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def prints_calls(self, model: str, server: str) -> bool:
        """True if the model printed a call instead of making it."""
        return f"{model}@{server}" in self._read().prints

    def note_printing(self, model: str, server: str) -> None:
        """Remember that a model printed a call, unless it cannot be stored."""
        known, name = self._read().prints, f"{model}@{server}"
        if name not in known:
            with suppress(OSError):
                write_whole(self._file, msgspec.json.encode(_Habits((*known, name)[-_MOST:])))

    def _read(self) -> _Habits:
        if not self._file.exists():
            return _Habits()
        with suppress(OSError, msgspec.DecodeError):
            return json_input.decode(read_regular(self._file), type=_Habits)
        return _Habits()
