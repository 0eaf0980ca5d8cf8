"""All that surfaces import of Halocline, a module a thing. Programs have `import halocline`, which stands on it."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.client import (
        commits as commits,
        diffs as diffs,
        editor as editor,
        edits as edits,
        folders as folders,
        git as git,
        history as history,
        imports as imports,
        instructions as instructions,
        mcp as mcp,
        mentions as mentions,
        models as models,
        options as options,
        plugins as plugins,
        policy as policy,
        prompts as prompts,
        settings as settings,
        start as start,
        storage as storage,
        tasks as tasks,
        worktrees as worktrees,
    )
else:
    __getattr__ = load_modules_of(__name__)
