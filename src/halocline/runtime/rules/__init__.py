"""The rules, hooks and memory of a task's folders."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.rules import (
        folder_rules as folder_rules,
        hooks as hooks,
        memory as memory,
        multi_root as multi_root,
        project_settings as project_settings,
        tool_patterns as tool_patterns,
    )
else:
    __getattr__ = load_modules_of(__name__)
