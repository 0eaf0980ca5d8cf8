"""Lists the changes of a restore: what happened since the target, and what that means for each file."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from halocline.checkpoints.changes.attribution import UNKNOWN, Attribution, Who, read_message
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.journal import Change
from halocline.checkpoints.restore import merge as merging
from halocline.checkpoints.restore.possible_paths import possible_paths
from halocline.checkpoints.restore.three_way import Deed, Fate, Sides, Step, decide_fate, group_by_file, is_within
from halocline.checkpoints.store.contents import find_spoilt
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.protocol.values import Value

_LOOKED_BACK = 32
"""Number of checkpoints before the target that are checked for times at which somebody else changed files."""


class Judged(Value, frozen=True):
    """A file that differs from the target: its fate, what it becomes, and its changes since, oldest first."""

    path: Path
    sides: Sides
    fate: Fate
    becomes: Entry | None
    done: Sequence[Deed]

    @property
    def stays_doubtful(self) -> bool:
        """True if a change stays of which it is unclear whether the task made it."""
        is_doubted = any(deed.who is Who.DOUBT for deed in self.done)
        return self.fate is Fate.DOUBT or (self.is_set and is_doubted and self.becomes != self.sides[1])

    @property
    def is_set(self) -> bool:
        """True if the restore is to set the file."""
        return self.fate in (Fate.GO, Fate.MERGE)


class Steps(Value, frozen=True):
    """The changes of a restore, and the files that it does not change, by reason as in a `RestorePlan`.

    `unknown` are files that the target does not have and that nothing says the task made, and folders that it left out.
    """

    changes: Sequence[Change]
    merges: Collection[Path]
    kept: Sequence[Path]
    yours: Sequence[Path]
    conflicts: Sequence[Path]
    lost: Sequence[Path]
    others: Sequence[tuple[Path, str]]
    doubtful: Sequence[Path]
    assumed: Sequence[Path]
    unknown: Sequence[Path]


def list_steps(
    git: Git,
    commits: tuple[str, str, str],
    last: Attribution,
    left_out: Collection[Path],
    *,
    overwrite: bool,
    unsaved: Collection[Path] = (),
    only: Collection[Path] | None = None,
) -> Steps:
    """`commits`: the task's newest checkpoint, the present, the target; `last` attributes changes since the newest.

    The target left out the `unsaved` files, so it does not say what they were. Without `only`, all files count.
    """
    steps = list_done(git, commits, last)
    untold, judged = judge_files(git, commits, steps, unsaved, overwrite=overwrite)
    if only is not None:
        untold, judged = untold & {*only}, [one for one in judged if one.path in only]
    wanted = {one.path: (one.sides[0], one.becomes) for one in judged if one.is_set}
    gone = find_spoilt(git, {then.sha for _, then in wanted.values() if then})
    lost = {path for path, (_, then) in wanted.items() if then and then.sha in gone}
    wanted = {path: both for path, both in wanted.items() if path not in lost}
    possible = possible_paths(git, wanted, left_out)
    tasks = {path: task for step in steps if step.by for path, task in step.by.tasks().items()}
    by_fate = {fate: [one.path for one in judged if one.fate is fate] for fate in Fate}
    return Steps(
        changes=[Change(path, *wanted[path]) for path in wanted if path in possible],
        merges=[path for path in by_fate[Fate.MERGE] if path in possible],
        kept=[path for path in wanted if path not in possible],
        yours=by_fate[Fate.YOURS],
        conflicts=by_fate[Fate.CONFLICT],
        lost=sorted(lost),
        others=[(path, tasks.get(path, "")) for path in by_fate[Fate.OTHER]],
        doubtful=[one.path for one in judged if one.stays_doubtful],
        assumed=[one.path for one in judged if one.path in possible and _is_assumed(one.done) and not overwrite],
        unknown=[*by_fate[Fate.UNKNOWN], *_list_folders(untold, unsaved)],
    )


def list_done(git: Git, commits: tuple[str, str, str], last: Attribution) -> list[Step]:
    """List what happened since the target, oldest first; the arguments are as in `list_steps`."""
    newest, present, target = commits
    return [*_steps_since(git, target, newest), Step("", _list_differences(git, newest, present), last)]


def judge_files(
    git: Git, commits: tuple[str, str, str], steps: Iterable[Step], unsaved: Collection[Path], *, overwrite: bool
) -> tuple[set[Path], list[Judged]]:
    """Return the files of which the target does not say what they were, and the fates of all others that differ."""
    _, present, target = commits
    done, merge = group_by_file(steps, _times_before(git, target)), partial(merging.merge_file, git)
    differing = _list_differences(git, present, target)
    untold = {path for path, sides in differing.items() if sides[1] is None and is_within(path, unsaved)}
    judged = []
    for path, sides in differing.items():
        if path not in untold:
            deeds = done.get(path, ())
            judged.append(Judged(path, sides, *decide_fate(sides, deeds, merge, overwrite=overwrite), deeds))
    return untold, judged


def _list_folders(untold: Iterable[Path], unsaved: Collection[Path]) -> list[Path]:
    """Return the folders of files that the target does not know because it left these folders out."""
    return sorted({folder + b"/" for folder in unsaved if any(path.startswith(folder + b"/") for path in untold)})


def _is_assumed(done: Iterable[Deed]) -> bool:
    return any(deed.is_assumed for deed in done)


def _list_differences(git: Git, old: str, new: str) -> dict[Path, Sides]:
    """Each file that differs, with its entry on both sides."""
    fields = git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new).split(b"\0")
    found = {}
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        found[path] = _parse_sides(head)
    return found


def _parse_sides(head: bytes) -> Sides:
    """Parse a file's old and new entry from a line of a raw diff."""
    old_mode, new_mode, old_blob, new_blob, _ = head.lstrip(b":").split(b" ")
    return _make_entry(old_mode, old_blob), _make_entry(new_mode, new_blob)


def _make_entry(mode: bytes, blob: bytes) -> Entry | None:
    return None if mode == b"000000" else Entry(mode, blob.decode())


def _steps_since(git: Git, target: str, newest: str) -> list[Step]:
    """The checkpoints after the target, oldest first. If one is missing, it is unknown who changed what."""
    try:
        return _read_steps(git, target, newest)
    except GitFailed:
        return [Step("", _list_differences(git, target, newest), UNKNOWN)]


def _read_steps(git: Git, target: str, newest: str) -> list[Step]:
    listing = git.run("rev-list", "--reverse", "--format=%H%x00%B%x00", f"{target}..{newest}")
    fields = listing.decode(errors="replace").split("\0")
    messages = {head.rpartition("\n")[2]: text for head, text in zip(fields[0::2], fields[1::2], strict=False)}
    if not messages:
        return []
    commits = "".join(f"{sha}\n" for sha in messages).encode()
    output = git.run("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", data=commits)
    changed: dict[str, dict[Path, Sides]] = {sha: {} for sha in messages}
    fields_of = iter(output.split(b"\0"))
    sha = ""
    for field in fields_of:
        if field.startswith(b":"):
            changed[sha][next(fields_of)] = _parse_sides(field)
        elif field.strip():
            sha = field.strip().decode()
    return [
        Step(text.partition("\n")[0], changed[sha], read_message(text.rstrip("\n"))) for sha, text in messages.items()
    ]


def _times_before(git: Git, target: str) -> list[float]:
    """Times shortly before the target at which somebody else changed files: it may have continued after the target."""
    try:
        listing = _read_messages(git, f"--max-count={_LOOKED_BACK}", target)
    except GitFailed:  # an earlier checkpoint is missing
        listing = _read_messages(git, "--no-walk", target)
    found = (read_message(text.rstrip("\n")) for text in listing.split("\0"))
    return [at for one in found if one for at in one.times]


def _read_messages(git: Git, which: str, target: str) -> str:
    return git.run("rev-list", which, "--format=%B%x00", target).decode(errors="replace")
