"""The folders of a task beside its workspace: check which are allowed, and which still exist.

What must stay true: no folder of a task is inside another, so every path belongs to at most one of them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent, RootsChanged, WorkspaceMoved
from halocline.protocol.file_names import make_encodable
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime import history
from halocline.runtime.parts.feature_probes import may_run_code, may_run_programs
from halocline.store.settings.settings import Settings
from halocline.store.tasks.renamed import FoldersHere

GONE = (
    "The folder {root} of this task is gone, so the task continues without it. "
    "To add it again once it is back: halo --resume {task} --add-dir {root}"
)
HOW = "Name other folders (--add-dir, or the add_dirs setting), or start in the folder that contains them all."


def further_roots(workspace: Path, wanted: Iterable[str | Path], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the task's folders beside `workspace`: the `known` ones, then the `wanted` ones.

    Raises:
        UsageError: one is not a folder, overlaps with another one of the task, or has a name that is not UTF-8.
    """
    _require_utf8(workspace)
    roots = list(known)
    for text in wanted:
        root = _resolve_folder(workspace, text)
        _require_utf8(root)
        if str(root) in known:
            continue
        for other in (str(workspace), *roots):
            _require_apart(root, Path(other))
        roots.append(str(root))
    return tuple(roots)


def roots_of(
    workspace: Path, wanted: Iterable[str | Path], settings: Settings, known: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the folders of a task as `further_roots` does; without `known` ones, those of the settings come first.

    Folders of the settings that overlap with the workspace are left out: the settings apply to every workspace.
    """
    if known is None:
        places = [_resolve_folder(workspace, text) for text in settings.add_dirs]
        known = further_roots(workspace, [place for place in places if not _do_overlap(place, workspace)])
    return further_roots(workspace, wanted, known)


def with_code(
    workspace: Path, wanted: Iterable[str | Path], settings: Settings, known: Sequence[str] | None
) -> list[Path]:
    """Return the task's folders that may bring code that runs: hooks or MCP servers.

    Raises UsageError.
    """
    own = [workspace] if may_run_code(settings, workspace) else []
    roots = map(Path, roots_of(workspace, wanted, settings, known))
    return [*own, *(root for root in roots if may_run_programs(settings, root))]


class ResumedFolders(Value, frozen=True):
    """A resumed task with its folders as they are now: the events to record that, and messages for a person."""

    workspace: Path
    state: State
    events: tuple[WorkspaceMoved | RootsChanged, ...]
    notices: tuple[str, ...]


def resume_folders(
    past: Sequence[DurableEvent], state: State, wanted: Iterable[str | Path], here: FoldersHere
) -> ResumedFolders:
    """Follow a workspace that was renamed, leave out other folders that are gone, and add those `wanted` now.

    Raises UsageError.
    """
    moved = history.moved_workspace.find_move(past, state, here)
    workspace = Path(moved[-1].workspace if moved else state.workspace)
    there = tuple(root for root in state.roots if Path(root).is_dir() and not _do_overlap(Path(root), workspace))
    gone = tuple(GONE.format(root=root, task=state.task) for root in state.roots if root not in there)
    roots = further_roots(workspace, wanted, there)
    changed = (RootsChanged(roots=roots),) if roots != state.roots else ()
    return ResumedFolders(workspace, replace(state, workspace=str(workspace), roots=roots), (*moved, *changed), gone)


def _resolve_folder(workspace: Path, text: str | Path) -> Path:
    try:
        place = (workspace / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(f"Cannot add the folder {text}: {error}.", HOW) from error
    if not place.is_dir():
        raise UsageError(f"Cannot add {place}: there is no such folder.", HOW)
    return place


def _require_utf8(folder: Path) -> None:
    """Raise UsageError unless the name is UTF-8: the log stores it, and must lead back to the folder."""
    if (name := make_encodable(str(folder))) != str(folder):
        raise UsageError(
            f"The name of the folder {name} is not valid UTF-8, so no task can run in it.",
            "Rename it (convmv renames whole trees), or start in the folder above.",
        )


def _do_overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _require_apart(root: Path, other: Path) -> None:
    if root == other:
        raise UsageError(f"The task already has the folder {root}.", "Name each folder once.")
    if _do_overlap(root, other):
        how = "is inside" if root.is_relative_to(other) else "contains"
        raise UsageError(f"Cannot add {root}: it {how} {other}, which the task already has.", HOW)
