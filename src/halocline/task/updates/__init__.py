"""Context updates before a request: files, jobs and lists that changed."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.task.updates import known_files as known_files, todo_file as todo_file, undeclared as undeclared
else:
    __getattr__ = load_modules_of(__name__)
