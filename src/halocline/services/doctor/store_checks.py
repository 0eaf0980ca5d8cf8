"""Check the checkpoint stores for `halo doctor`: interrupted restores, and stores that still need the project's git.
Repairs both when asked.
"""

from collections.abc import Iterable
from pathlib import Path

from halocline.checkpoints.repository.stores import Store, list_stores, repository_of, upkeep_of
from halocline.protocol.errors import HaloclineError
from halocline.runtime.history.losses import find_lost
from halocline.services.doctor.finding import Finding
from halocline.store.paths import Home

NAME = "stores"
NAMED = 3
"""Folders to name; the rest are only counted."""
CUT_SHORT = "A restore of {} was interrupted: some files may be restored, others not"
LOST = "They cannot be had back. The tasks' own edits can be taken back: halo checkpoints restore TASK@1"
ENDS = "Run halo doctor --fix, or start a task in that folder, to repair it."


def check_stores(home: Home, *, fix: bool = False) -> list[Finding]:
    """Find interrupted restores and stores that need the project's git; `fix` repairs both."""
    found = [store for store in list_stores(home.checkpoints) if not store.is_damaged]
    halves = [_half_restored(store, fix=fix) for store in found if store.is_half_restored]
    return [*halves, *_check_losses(home), _check_independence(found, fix=fix)]


def _check_losses(home: Home) -> list[Finding]:
    """Name the tasks whose logs name checkpoints that no store has."""
    try:
        lost = find_lost(home, (folder.name for folder in home.tasks.iterdir()) if home.tasks.is_dir() else ())
    except HaloclineError:  # without git, which is told of elsewhere
        return []
    if not lost:
        return []
    names = ", ".join(f"{task} ({len(gone)})" for task, gone in [*lost.items()][:NAMED]) + ", …" * (len(lost) > NAMED)
    of = f"{len(lost)} task{'s'[: len(lost) != 1]}"
    text = f"Checkpoints of {of} are lost: {names}. A store is damaged or was deleted"
    return [Finding(NAME, False, text, LOST, needed=False)]


def _half_restored(store: Store, *, fix: bool) -> Finding:
    text = CUT_SHORT.format(store.workspace)
    if not Path(store.workspace).is_dir():
        return Finding(NAME, False, text, "The folder is missing; this is repaired once it is back.", needed=False)
    if not fix:
        return Finding(NAME, False, text, ENDS, needed=False)
    repository = repository_of(store)
    try:
        with repository.opened():  # opening finishes or reverts it
            pass
    except (HaloclineError, OSError) as error:
        return Finding(NAME, False, text, f"It could not be repaired: {error}", needed=False)
    done = Finding(NAME, True, f"{store.workspace}: {repository.mended or 'the restore was finished'}", needed=False)
    repository.forget_mended()
    return done


def _check_independence(found: Iterable[Store], *, fix: bool) -> Finding:
    stores_of_all = list(found)
    borrowing = [store for store in stores_of_all if store.is_borrowing]
    problems = {store.workspace: _made_independent(store) if fix else "" for store in borrowing}
    left = {workspace: why for workspace, why in problems.items() if why or not fix}
    if not left:
        folders = f"{len(stores_of_all)} folder{'s'[: len(stores_of_all) != 1]} with checkpoints"
        return Finding(NAME, True, f"{folders}; none needs the project's git", needed=False)
    names = ", ".join([*left][:NAMED]) + (", …" if len(left) > NAMED else "")
    hint = "Run halo doctor --fix, or start a task in the folder, to copy what they need."
    reasons = "; ".join(dict.fromkeys(filter(None, left.values())))
    return Finding(NAME, False, f"Checkpoints of {names} still need the project's git", reasons or hint, needed=False)


def _made_independent(store: Store) -> str:
    """Copy what a store needs; return why that failed, or an empty string."""
    upkeep = upkeep_of(store)
    try:
        upkeep.stand_alone()
    except HaloclineError as error:
        return f"Some objects are lost: the project's git no longer has them ({error.text})."
    except OSError as error:
        return f"The objects could not be copied: {error.strerror or error}."
    return "The objects could not be copied; try again later." if upkeep.is_borrowing else ""
