"""The script of a scripted model: its format, and reading its file.

A script is a TOML file of turns, as `example.toml` shows. `Scripted` (a model) and `ModelServer` (an HTTP server)
play it.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from halocline.protocol.errors import SettingsError
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.values import JsonObject

SUMMARY = "The work continues as planned; the facts below show how far it is."
"""The answer to a request for a summary when the script has none."""


class Fault(StrEnum):
    """The faults of a turn. The last three come after half of the text; a stall is silent, forever unless bounded."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    AUTH = "auth"
    CONTEXT_EXCEEDED = "context_exceeded"
    DISCONNECT = "disconnect"
    STREAM_ERROR = "stream_error"
    STALL = "stall"


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tool call. `raw` replaces the arguments' JSON text, to make calls that do not parse."""

    tool: str
    arguments: JsonObject = {}
    raw: str = ""
    id: str = ""

    @property
    def text(self) -> str:
        """The arguments as the model writes them."""
        return self.raw or msgspec.json.encode(self.arguments).decode()


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"calls": "call"}):
    """One reply; `providers/scripted/example.toml` explains the fields."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    delay: float = 0.0
    pace: float = 0.0
    chunk: int = 24
    usage: Usage | None = None
    cost: float | None = None
    stop: StopReason = StopReason.END_TURN
    fault: Fault | None = None
    retry_after: float | None = None
    expect: str | tuple[str, ...] = ()
    unexpected: str | tuple[str, ...] = ()

    def unmet(self, newest: str) -> str:
        """Say in one sentence what is wrong with the newest messages; empty when nothing is."""
        wrong = [f"expected {text!r}" for text in _as_list(self.expect) if text not in newest]
        wrong += [f"did not expect {text!r}" for text in _as_list(self.unexpected) if text in newest]
        return f"The script {wrong[0]}, but the newest messages were: {_shorten_text(newest)!r}" if wrong else ""

    @property
    def streamed_text(self) -> str:
        """The text, or the half of it that comes before a fault."""
        return self.text[: (len(self.text) + 1) // 2] if self.fault else self.text


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"turns": "turn"}):
    """A whole file: its turns, its summary, and the most tokens that a request may have."""

    turns: tuple[Turn, ...]
    summary: str = SUMMARY
    window: int | None = None


def split_text(text: str, size: int) -> list[str]:
    """Split text into deltas of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), max(1, size))]


def load_script(path: Path) -> Script:
    """Read a script.

    Raises:
        SettingsError: the file cannot be read, is not TOML, or is not a valid script; the text names the key.
    """
    import tomllib

    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), Script)
    except OSError as error:
        raise SettingsError(f"Cannot read the script {path}: {error.strerror or error}.", "Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The script {path} is not valid TOML: {error}.", "Fix the file.") from None
    except msgspec.ValidationError as error:
        hint = "halo docs guide/replay shows the format of scripts."
        raise SettingsError(f"The script {path} is invalid: {error}.", hint) from None


def _as_list(texts: str | Sequence[str]) -> Sequence[str]:
    return (texts,) if isinstance(texts, str) else texts


def _shorten_text(text: str, limit: int = 600) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"
