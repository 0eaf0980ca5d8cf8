"""The plug-ins of a task: which are in force, and the code of those that have some."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.plugins import in_force as in_force, loading as loading
else:
    __getattr__ = load_modules_of(__name__)
