"""The folders of a task beside its workspace: which are allowed, and which are still there.

What must stay true: no folder of a task lies in another one of it, so every path belongs to one of them at most.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.protocol.errors import UsageError
from halocline.protocol.events import RootsChanged
from halocline.protocol.file_names import make_encodable
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime.assembly.feature_probes import has_hooks, may_run_code
from halocline.store.settings.settings import Settings

GONE = (
    "The folder {root} of this task is gone, so the task goes on without it. "
    "When it is back: halo --resume {task} --add-dir {root}"
)
HOW = "Name other folders (--add-dir, or the setting add_dirs), or begin in the one that holds them all."


def further_roots(workspace: Path, wanted: Iterable[str | Path], known: Sequence[str] = ()) -> tuple[str, ...]:
    """The task's folders beside `workspace` once those that are `wanted` join the ones that are `known`.

    Raises:
        UsageError: one is no folder, lies in another one of the task, or has a name that is not UTF-8.
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
    """The same for a task that begins, unless its `known` ones are given: with those that the settings name.

    Of these what holds the workspace, or lies in it, is left out: the settings are for every workspace.
    """
    if known is None:
        places = [_resolve_folder(workspace, text) for text in settings.add_dirs]
        known = further_roots(workspace, [place for place in places if not _do_overlap(place, workspace)])
    return further_roots(workspace, wanted, known)


def with_code(
    workspace: Path, wanted: Iterable[str | Path], settings: Settings, known: Sequence[str] | None
) -> list[Path]:
    """Those of a task's folders that might have programs of their own that run; of the further ones, only hooks do.

    Raises UsageError.
    """
    own = [workspace] if may_run_code(settings, workspace) else []
    roots = map(Path, roots_of(workspace, wanted, settings, known))
    return [*own, *(root for root in roots if has_hooks(settings, root))]


class TakenUp(Value, frozen=True):
    """A task that is opened again, with its folders as they are now: the event that says so, and words for a person."""

    state: State
    news: tuple[RootsChanged, ...]
    said: tuple[str, ...]


def taken_up(state: State, wanted: Iterable[str | Path]) -> TakenUp:
    """Leave out the folders that went, and add those that are `wanted` now. Raises UsageError."""
    there = tuple(root for root in state.roots if Path(root).is_dir())
    gone = tuple(GONE.format(root=root, task=state.task) for root in state.roots if root not in there)
    roots = further_roots(Path(state.workspace), wanted, there)
    news = (RootsChanged(roots=roots),) if roots != state.roots else ()
    return TakenUp(replace(state, roots=roots), news, gone)


def _resolve_folder(workspace: Path, text: str | Path) -> Path:
    try:
        place = (workspace / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(f"The folder {text} cannot be added: {error}.", HOW) from error
    if not place.is_dir():
        raise UsageError(f"The folder {place} cannot be added: there is no such folder.", HOW)
    return place


def _require_utf8(folder: Path) -> None:
    """The name of a task's folder is in its log, and has to lead there again. Raises UsageError."""
    if (name := make_encodable(str(folder))) != str(folder):
        raise UsageError(
            f"The name of the folder {name} is not UTF-8 text, so no task can be kept in it.",
            "Rename it (convmv does that for whole folders), or start in the folder above.",
        )


def _do_overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _require_apart(root: Path, other: Path) -> None:
    if root == other:
        raise UsageError(f"The folder {root} is one of this task's already.", "Name each folder once.")
    if _do_overlap(root, other):
        how = "lies in" if root.is_relative_to(other) else "holds"
        raise UsageError(f"The folder {root} cannot be added: it {how} {other}, which the task has.", HOW)
