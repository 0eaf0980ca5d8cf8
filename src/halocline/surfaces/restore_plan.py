"""Text about restoring files: what a plan would do, why it does nothing, and what a restore did."""

from collections.abc import Sequence

from halocline.client.history import FileDifference, Restored, RestorePlan, RestorePreview
from halocline.protocol.errors import NotWhole
from halocline.protocol.file_names import make_printable
from halocline.protocol.left_out import LeftOut, describe_left_out
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean

SHOWN = 20
"""Most paths shown for each kind of change."""
STAYS = {
    "yours": "changed by you",
    "others": "changed by another task",
    "doubtful": "changed while a command ran, perhaps by you",
    "conflicts": "you and the task changed the same lines",
    "kept": "cannot be written or removed",
    "lost": "saved content is damaged",
}
"""Fields of a restore whose files stay as they are, and why."""
KINDS = (
    ("creates", "create"),
    ("overwrites", "restore"),
    ("merges", "merge with your changes"),
    ("deletes", "delete"),
    *((field, f"keep ({why})") for field, why in STAYS.items()),
)
"""Fields of a restore plan, and their labels."""
LATE = "That checkpoint was due before all files of {} were read, so changes made until then are kept."
OVERWRITE = "To restore them anyway, and lose the other changes in them: --overwrite"


def describe_plan(plan: RestorePlan) -> list[str]:
    """Describe a restore, one line per file."""
    lines = [line for field, label in KINDS for line in name_paths(label, getattr(plan, field))]
    lines += describe_remainder(plan.left_out)
    return [*lines, *describe_assumed(plan), *(LATE.format(clean(folder)) for folder in plan.late)]


def describe_rewind(seen: RestorePreview, where: str) -> list[str]:
    """Describe what a rewind would do now; `where` is where it goes."""
    lines = [f"Going back {where}:"]
    lines += [f"  The model forgets {format_plural(seen.messages, 'message')}."] if seen.messages else []
    if seen.plan is None:
        lines.append(f"  Files stay as they are. {seen.unsaved}")
    else:
        lines += [f"  {count_plan(seen.plan)}", *describe_plan(seen.plan)]
    if seen.commands:
        lines.append("  These commands ran since; what they did outside the files stays:")
        lines += [f"    $ {clean(command)}" for command in seen.commands]
    return lines


def describe_restored(restored: Restored, undo: str, overwrite: str = "--overwrite") -> list[str]:
    """Say what a restore did, and what it left as it was. `undo` and `overwrite` are the commands to name for these."""
    lines = [f"Restored {format_plural(len(restored.changed), 'file')}."]
    lines += [f"To undo: {undo}"] if restored.undo else []
    if stay := sum(map(len, (restored.yours, restored.conflicts, restored.others, restored.doubtful))):
        lines += [f"Kept {format_plural(stay, 'file')} with changes that are not the task's."]
        lines += [OVERWRITE.replace("--overwrite", overwrite)]
    if gone := count_gone(restored.left_out):
        lines.append(f"Could not restore {format_plural(gone, 'file')}:")
    kept = name_paths("cannot be written or removed", restored.kept)
    return [*lines, *describe_remainder(restored.left_out), *kept]


def describe_loss(task: str, count: int) -> str:
    """Say that checkpoints of a task are lost, and how its edits can still be taken back."""
    what = f"{count} checkpoints of task {task} are lost" if count > 1 else f"A checkpoint of task {task} is lost"
    damaged = "the checkpoint store of this folder is damaged or was deleted"
    return f"{what}: {damaged}. To take back the task's own edits: halo checkpoints restore {task}@1"


def describe_remainder(left_out: Sequence[LeftOut]) -> list[str]:
    """Say what a restore cannot bring back, and what it keeps as a person's own; a line for each reason."""
    return [clean(line) for line in describe_left_out("  cannot restore", left_out, SHOWN, "  keep as yours")]


def count_gone(left_out: Sequence[LeftOut]) -> int:
    """Count what a restore cannot bring back: not what it keeps."""
    return sum(not one.kept for one in left_out)


def describe_unsaved(left_out: Sequence[LeftOut]) -> list[str]:
    """Say what a checkpoint left out, a line for each reason."""
    return [clean(line) for line in describe_left_out("The newest checkpoint leaves out", left_out, SHOWN)]


def describe_assumed(plan: RestorePlan) -> list[str]:
    """Name the files whose changes are attributed to the task only by their time."""
    if not plan.assumed:
        return []
    one = len(plan.assumed) == 1
    return [
        f"  Changed while a command ran, so assumed to be its work: {_join_paths(plan.assumed)}.",
        f"  If you edited {'it' if one else 'one of them'} at that time, make a copy first.",
    ]


def explain_no_change(plan: RestorePlan) -> str:
    """Explain why a restore would change no file. Raises NotWhole when the reason is lost contents."""
    require_whole(plan.lost)
    if plan.yours or plan.conflicts or plan.others or plan.doubtful:
        return f"No file was restored: the files that differ also have changes that are not the task's.\n{OVERWRITE}"
    if plan.kept:
        return "No file was restored: the files that differ cannot be written or removed."
    if count_gone(plan.left_out):
        return "No file was restored: no checkpoint holds the files that differ."
    if plan.left_out:
        return "No file was restored: the files that differ are new, and nothing says that the task made them."
    return "The files already match that checkpoint."


def stays_different(plan: RestorePlan) -> bool:
    """True if files that differ from the checkpoint would stay as they are."""
    return any((plan.yours, plan.conflicts, plan.others, plan.doubtful, plan.kept, plan.left_out))


def count_plan(plan: RestorePlan) -> str:
    """Count the plan's changes in one line."""
    gone = count_gone(plan.left_out)
    stay = sum(map(len, (plan.yours, plan.others, plan.doubtful, plan.conflicts, plan.kept, plan.lost, plan.left_out)))
    stay -= gone
    parts = [f"{format_plural(plan.changes, 'file')} to change"]
    parts += [f"{stay} to keep as is"] if stay else []
    parts += [f"{gone} that cannot be restored"] if gone else []
    return ", ".join(parts) + "."


def diff_text(file: FileDifference) -> str:
    """Diff of one file, with the size of what is left out."""
    cut = f"\\ {file.cut:,} more bytes of {file.path} are left out\n" if file.cut else ""
    return file.diff + cut


def require_whole(lost: Sequence[str]) -> None:
    """Raise NotWhole when contents are lost; everything else was restored."""
    if lost:
        files = format_plural(len(lost), "file")
        raise NotWhole(
            f"{files} not restored, because the saved content is lost: {_join_paths(lost)}.",
            "Another checkpoint may have it: halo checkpoints list",
        )


def _join_paths(paths: Sequence[str]) -> str:
    return ", ".join(map(clean, paths[:SHOWN])) + (f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else "")


def name_paths(what: str, paths: Sequence[str]) -> list[str]:
    more = [f"  {what}  … and {len(paths) - SHOWN} more"] if len(paths) > SHOWN else []
    return [*(f"  {what}  {make_printable(path)}" for path in paths[:SHOWN]), *more]
