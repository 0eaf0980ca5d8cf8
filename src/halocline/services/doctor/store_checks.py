"""Checks the stores of checkpoints for `halo doctor`: restores that were cut short, and stores that still need the
project's git. Mends both when asked.
"""

from collections.abc import Iterable
from pathlib import Path

from halocline.checkpoints.store.stores import Store, list_stores, repository_of
from halocline.protocol.errors import HaloclineError
from halocline.services.doctor.finding import Finding
from halocline.store.paths import Home

NAME = "stores"
NAMED = 3
"""Folders that are named; the others are counted."""
CUT_SHORT = "A restore of {} was cut short: some files may be as before it, others as after it"
ENDS = "halo doctor --fix mends it; the next task in that folder does so, too."


def check_stores(home: Home, *, fix: bool = False) -> list[Finding]:
    """Find restores that were cut short and stores that need the project's git; `fix` mends both."""
    found = [store for store in list_stores(home.checkpoints) if not store.is_damaged]
    halves = [_half_restored(store, fix=fix) for store in found if store.is_half_restored]
    return [*halves, _check_independence(found, fix=fix)]


def _half_restored(store: Store, *, fix: bool) -> Finding:
    text = CUT_SHORT.format(store.workspace)
    if not Path(store.workspace).is_dir():
        return Finding(NAME, False, text, "The folder is not there: it is seen to once it is back.", needed=False)
    if not fix:
        return Finding(NAME, False, text, ENDS, needed=False)
    repository = repository_of(store)
    try:
        with repository.opened():  # which ends it
            pass
    except (HaloclineError, OSError) as error:
        return Finding(NAME, False, text, f"It could not be taken back: {error}", needed=False)
    return Finding(NAME, True, f"{store.workspace}: {repository.mended or 'the restore was ended'}", needed=False)


def _check_independence(found: Iterable[Store], *, fix: bool) -> Finding:
    stores_of_all = list(found)
    borrowing = [store for store in stores_of_all if store.is_borrowing]
    problems = {store.workspace: _made_independent(store) if fix else "" for store in borrowing}
    left = {workspace: why for workspace, why in problems.items() if why or not fix}
    if not left:
        folders = f"{len(stores_of_all)} folder{'s'[: len(stores_of_all) != 1]} with checkpoints"
        return Finding(NAME, True, f"{folders}, none needs the project's git", needed=False)
    names = ", ".join([*left][:NAMED]) + (", …" if len(left) > NAMED else "")
    hint = "halo doctor --fix copies what they need; so does the next task in the folder."
    said = "; ".join(dict.fromkeys(filter(None, left.values())))
    return Finding(NAME, False, f"Checkpoints of {names} still need the project's git", said or hint, needed=False)


def _made_independent(store: Store) -> str:
    """Copy what a store needs; says why it could not be."""
    repository = repository_of(store)
    try:
        repository.stand_alone()
    except HaloclineError as error:
        return f"Some of it is lost, as the project's git does not have it any more ({error.text})."
    except OSError as error:
        return f"It could not be copied: {error.strerror or error}."
    return "It could not be copied; try again later." if repository.is_borrowing else ""
