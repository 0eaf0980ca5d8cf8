"""Find what killed processes left behind, for `halo doctor`, and remove it when asked."""

import time

from halocline.runtime.litter import find_litter, remove_litter
from halocline.services.doctor.finding import Finding
from halocline.store.paths import Home

NAMED = 3
"""Files to name; the rest are only counted."""


def check_litter(home: Home, *, fix: bool = False) -> list[Finding]:
    """Find half-written files in the home and beside edited files; `fix` removes them."""
    found = sorted(find_litter(home, time.time()))
    if not found:
        return [Finding("leftovers", True, "none", needed=False)]
    gone = remove_litter(found) if fix else []
    left = [path for path in found if path not in gone]
    names = ", ".join(map(str, (left or gone)[:NAMED])) + (", …" if len(left or gone) > NAMED else "")
    if not left:
        return [Finding("leftovers", True, f"removed {len(gone)} from killed processes: {names}", needed=False)]
    hint = "They could not be removed; delete them by hand." if fix else "Run halo doctor --fix, or start a new task."
    return [Finding("leftovers", False, f"{len(left)} from killed processes: {names}", hint, needed=False)]
