"""Files, search and shell of a task over what a program gives in their place."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.hosts.own import files as files, parts as parts
else:
    __getattr__ = load_modules_of(__name__)
