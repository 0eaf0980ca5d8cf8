"""Parts of a task that what builds it and what tasks share both need: files, revisions, an editor's, quick checks."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.parts import files as files, program_parts as program_parts, revisions as revisions
else:
    __getattr__ = load_modules_of(__name__)
