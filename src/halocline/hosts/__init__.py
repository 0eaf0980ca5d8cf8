"""This machine: files, commands, search."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.hosts import (
        code as code,
        documents as documents,
        hooks as hooks,
        own as own,
        ripgrep as ripgrep,
        shell as shell,
        web as web,
    )
else:
    __getattr__ = load_modules_of(__name__)
