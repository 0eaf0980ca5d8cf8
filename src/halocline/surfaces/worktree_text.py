"""Text about worktrees: what each has, what a merge did, and how a discarded one comes back."""

import shlex
from collections.abc import Mapping, Sequence

from halocline.client.history import Restored
from halocline.client.worktrees import Conflict, Discarded, WorktreeMerge, WorktreeWork
from halocline.protocol.file_names import make_printable
from halocline.protocol.left_out import describe_left_out, name_some
from halocline.surfaces.figures import format_plural
from halocline.surfaces.restore_plan import SHOWN, describe_remainder, name_paths
from halocline.surfaces.sanitize import clean

NONE = 'No worktrees. Make one: halo -w NAME "what to do"'
_LINES = 12
"""Most lines of each side of a conflict."""


def describe_work(work: WorktreeWork, tasks: Mapping[str, bool]) -> list[str]:
    """Describe a worktree in two lines; `tasks` are those that worked in it, and whether each is open."""
    worktree = work.worktree
    facts = [f"{format_plural(len(work.unmerged) + len(work.unread), 'file')} to merge"]
    facts += [f"{format_plural(work.ahead, 'commit')} ahead"] if work.ahead else []
    facts += [f"{work.behind} behind"] if work.behind else []
    facts += [f"not merged: {clean(name_some(work.apart))}"] if work.apart else []
    facts += [f"only staged: {clean(name_some(work.staged))}"] if work.staged else []
    facts = [clean(work.problem)] if work.problem else facts
    facts += ["locked"] if worktree.is_locked else []
    facts += [f"{task} is open" if is_open else task for task, is_open in tasks.items()][:SHOWN]
    branch = worktree.branch or f"no branch, at {worktree.head[:8]}"
    return [f"{clean(worktree.name)}  {clean(branch)}  {clean(str(worktree.folder))}", f"  {' · '.join(facts)}"]


def describe_merge(name: str, done: WorktreeMerge) -> list[str]:
    """Say what a merge did, with the lines of each conflict, and what it left."""
    merged = done.merged
    if done.is_whole and not (merged.changed or merged.stays):
        return [f"Nothing to merge from {clean(name)}.", *describe_left(done)]
    both, others = merged.merges, {*merged.added, *merged.deleted, *merged.merges}
    lines = [f"Merged {format_plural(len(merged.changed), 'file')} into the main folder; nothing is committed."]
    lines = lines if merged.changed or not merged.stays else ["Settled; no file of the main folder changes."]
    lines += name_paths("changed", [path for path in merged.changed if path not in others])
    lines += [*name_paths("new", merged.added), *name_paths("deleted", merged.deleted)]
    lines += name_paths("merged with your changes", [path for path in both if path not in merged.marked])
    lines += name_paths("has conflict markers now", merged.marked)
    lines += name_paths("stays as the main folder has it, and counts as merged", merged.stays)
    undo = [f"To undo: halo worktrees undo {shlex.quote(name)}"] if merged.changed or merged.stays else []
    return [*lines, *describe_left(done), *undo]


def describe_left(done: WorktreeMerge) -> list[str]:
    """Describe what a merge leaves, each conflict with the lines of both sides."""
    merged, lines = done.merged, list[str]()
    for conflict in merged.conflicts:
        lines += describe_conflict(conflict)
    lines += name_paths("not merged (a file, a folder or a link is in its place)", merged.kept)
    left = (*describe_left_out("  not merged", done.refused, SHOWN), *describe_left_out("  waits", done.guarded, SHOWN))
    lines += map(make_printable, left)
    return [*lines, *name_paths("not merged (a repository of its own)", done.apart)]


def describe_conflict(conflict: Conflict, most: int = _LINES) -> list[str]:
    """Describe a file that both sides changed, with at most so many lines of each side of a hunk."""
    since = " (changed since it was shown)" if conflict.is_new else ""
    lines = [f"  conflict  {make_printable(conflict.path)}{since}{f': {conflict.why}' if conflict.why else ''}"]
    for hunk in conflict.hunks:
        sides = (*_quote("main folder", hunk.ours, most), *_quote("worktree", hunk.theirs, most))
        lines += [f"    line {hunk.line}", *sides]
    return lines


def explain_rest(name: str, done: WorktreeMerge) -> tuple[str, str]:
    """Return what a merge left and how to go on; two empty texts if it left nothing, also no repository of its own."""
    conflicts, waiting = len(done.merged.conflicts), len(done.guarded)
    count = conflicts + waiting + len(done.refused) + len(done.merged.kept)
    again = f"halo worktrees merge {shlex.quote(name)}"
    sides = "--ours (the main folder's), --theirs or --markers"
    if not any(one.hunks for one in done.merged.conflicts):
        sides = "--ours (as the main folder has it) or --theirs"
    hints = [f"To settle overlaps: {again} {sides}. In one file: --only FILE."] if conflicts else []
    hints += [f"To merge what an edit would ask about: {again} --guarded"] if waiting else []
    hints += ["Copy or commit what is in a repository of its own; no merge takes it."] if done.apart else []
    left = [format_plural(count, "file")] if count else []
    left += [f"{len(done.apart)} in repositories of their own"] if done.apart else []
    return (f"{' and '.join(left)} not merged.", " ".join(hints)) if left else ("", "")


def describe_undone(restored: Restored) -> list[str]:
    """Say what the undo of a merge did, and which of its files it left."""
    since = (*restored.yours, *restored.others, *restored.doubtful)
    count = len(restored.changed)
    return [
        f"Undone: {format_plural(count, 'file')} as before the merge." if count else "Undone; no file had to change.",
        *name_paths("not undone, because you changed the same lines since", restored.conflicts),
        *name_paths("not undone, because it was changed since", since),
        *name_paths("not undone, because it cannot be written or removed", restored.kept),
        *name_paths("not undone, because its saved content is damaged", restored.lost),
        *describe_remainder(restored.left_out),
    ]


def describe_discarded(gone: Discarded) -> list[str]:
    """Say that a worktree is gone, what is left of it, and how it comes back."""
    worktree, branch = gone.worktree, shlex.quote(gone.branch)
    folder = shlex.quote(str(worktree.folder))
    lines = [f"Removed {clean(str(worktree.folder))}."]
    if gone.commits is None:
        lines.append(f"The branch {clean(gone.branch)} stays: git could not count its commits.")
    if gone.commits:
        lines.append(f"The branch {clean(gone.branch)} stays: only it has {format_plural(gone.commits, 'commit')}.")
    if gone.checkpoint:
        again = f"git worktree add --quiet -B {branch} {folder} {gone.tip[:12]}"
        back = f"halo checkpoints restore {gone.checkpoint[:10]} -C {folder} --overwrite --yes"
        lines.append(f"A checkpoint keeps its work. To get it back: {again} && {back}")
    if gone.before_merge:
        place = shlex.quote(str(worktree.main))
        lines.append(f"To undo its last merge: halo checkpoints restore {gone.before_merge[:10]} -C {place}")
    return lines


def _quote(who: str, text: str, most: int) -> Sequence[str]:
    lines = text.splitlines() or ["(nothing)"]
    more = [f"      … and {len(lines) - most} more lines"] if len(lines) > most else []
    return [f"    {who}:", *(f"      {clean(line)}" for line in lines[:most]), *more]
