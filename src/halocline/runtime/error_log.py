"""The program's own log: traces of bugs that a task survived. Nothing is created or imported before the first one."""

import logging
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from halocline.protocol import secrets
from halocline.protocol.private_files import make_private_folder

LOGGER = logging.getLogger("halocline")
FILE_NAME = "halocline.log"
LARGEST = 1_000_000
"""Largest log in bytes; one previous file is kept."""


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return secrets.redaction.redact_text(super().format(record))


class ProgramLog(logging.Handler):
    """Writes records of the `halocline` logger to a small rotating file in `folder`, private to the person."""

    def __init__(self, folder: Path) -> None:
        super().__init__(logging.WARNING)
        self._folder = folder

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
        file.setFormatter(_Redacting("%(asctime)s %(process)d %(levelname)s %(message)s"))
        return file
