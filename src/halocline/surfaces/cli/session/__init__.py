"""One conversation on the command line."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.session import (
        closing as closing,
        debug_log as debug_log,
        first_model as first_model,
        images as images,
        notes as notes,
        piped_input as piped_input,
        user_shell as user_shell,
        worktree as worktree,
    )
else:
    __getattr__ = load_modules_of(__name__)
