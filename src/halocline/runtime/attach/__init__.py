"""One task in several processes: the one that writes it, and those that watch and control it."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.attach import connection as connection, remote_task as remote_task, server as server
else:
    __getattr__ = load_modules_of(__name__)
