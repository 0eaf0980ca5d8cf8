"""Worktrees: opened, merged into the main folder, discarded."""

from halocline.git.worktrees import OpenedWorktree as OpenedWorktree, open_worktree as open_worktree
from halocline.services.worktrees import (
    Choice as Choice,
    Conflict as Conflict,
    Discarded as Discarded,
    WorktreeMerge as WorktreeMerge,
    WorktreePreview as WorktreePreview,
    WorktreeService as WorktreeService,
    WorktreeWork as WorktreeWork,
    find_worktree_at as find_worktree_at,
    name_repository as name_repository,
    name_worktree as name_worktree,
)
