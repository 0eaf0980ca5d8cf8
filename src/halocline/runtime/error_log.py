"""The program's own log: traces of bugs that a task survived. Nothing is created or imported before the first one."""

import asyncio
import logging
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from halocline.protocol import json_output, secrets
from halocline.protocol.private_files import make_private_folder

LOGGER = logging.getLogger("halocline")
FILE_NAME = "halocline.log"
LARGEST = 1_000_000
"""Largest log in bytes; one previous file is kept."""
SERVING = ("task", "background:")
"""First words of the names of coroutines that serve a task; its id follows."""


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return secrets.redaction.redact_text(super().format(record))


class JsonFormatter(logging.Formatter):
    """One line of JSON an entry: time, level, logger, task, message, and the trace of an error."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "task": getattr(record, "task", "") or _find_task(),
            "process": record.process,
            "message": record.getMessage(),
            "error": self.formatException(record.exc_info) if record.exc_info else "",
        }
        told = {name: value for name, value in entry.items() if value != ""}
        redacted = secrets.redaction.each_text(told, secrets.redaction.redact_text)
        return json_output.encode(redacted).decode()


def print_json_log() -> None:
    """Print what this process logs on standard error, too, as lines of JSON: for those who collect them."""
    printed = logging.StreamHandler()
    printed.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(printed)
    LOGGER.setLevel(logging.INFO)


def _find_task() -> str:
    """Return the task that is served where an entry is made; empty if there is none."""
    try:
        current = asyncio.current_task()
    except RuntimeError:
        return ""
    kind, _, name = (current.get_name() if current else "").partition(" ")
    return name if kind in SERVING else ""


class ProgramLog(logging.Handler):
    """Writes records of the `halocline` logger to a small rotating file in `folder`, private to the person."""

    def __init__(self, folder: Path, *, as_json: bool = False) -> None:
        super().__init__(logging.WARNING)
        self._folder = folder
        self._as_json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        same = (one for one in LOGGER.handlers if isinstance(one, ProgramLog) and one._folder == self._folder)
        if next(same, self) is not self:  # another client of this process writes it
            return
        with suppress(OSError):  # on a full or broken disk a trace is lost; it does not belong on the screen
            self._file.emit(record)

    def attach(self) -> None:
        """Start to log."""
        LOGGER.addHandler(self)

    def close(self) -> None:
        """Stop logging and close the file."""
        LOGGER.removeHandler(self)
        if file := self.__dict__.pop("_file", None):
            with suppress(OSError):
                file.close()
        super().close()

    @cached_property
    def _file(self) -> logging.Handler:
        from logging.handlers import RotatingFileHandler  # costs milliseconds, and hardly ever needed

        class Quiet(RotatingFileHandler):
            def handleError(self, record: logging.LogRecord) -> None:
                """Do nothing: the default prints a trace with everything that was to be written."""

        make_private_folder(self._folder)
        (self._folder / FILE_NAME).touch(mode=0o600)
        file = Quiet(self._folder / FILE_NAME, maxBytes=LARGEST, backupCount=1, encoding="utf-8")
        text = _Redacting("%(asctime)s %(process)d %(levelname)s %(message)s")
        file.setFormatter(JsonFormatter() if self._as_json else text)
        return file
