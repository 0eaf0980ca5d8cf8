"""One module for each command of `halo`."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.commands import debug_log as debug_log, piped_input as piped_input
else:
    __getattr__ = load_modules_of(__name__)
