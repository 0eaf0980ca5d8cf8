"""Short notes to the model beside a prompt or a request."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.context.notes import (
        agents as agents,
        answer_schema as answer_schema,
        completion as completion,
        diagnostics as diagnostics,
        double_check as double_check,
        files as files,
        folder as folder,
        goal as goal,
        idle as idle,
        jobs as jobs,
        todos as todos,
        user_shell as user_shell,
    )
else:
    __getattr__ = load_modules_of(__name__)
