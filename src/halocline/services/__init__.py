"""Administration: models, servers, rules, settings, tasks, storage."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.services import (
        background as background,
        commits as commits,
        context_report as context_report,
        file_reader as file_reader,
        models as models,
        plugins as plugins,
        replay as replay,
        report as report,
        settings as settings,
        tasks as tasks,
        themes as themes,
        worktrees as worktrees,
    )
else:
    __getattr__ = load_modules_of(__name__)
