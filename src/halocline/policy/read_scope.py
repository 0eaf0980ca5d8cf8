"""The files that one call may read: the judged places and everything below them, except guarded files.

What must stay true: a file is judged by its resolved path and by its open descriptor, never by the path that led there.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from halocline.files.real_paths import find_real_path
from halocline.policy.paths import Classifier, identity_of, is_linked, is_spelt_alike, is_within, look_at
from halocline.protocol.permission_rules import Place

ELSEWHERE = "it now leads elsewhere: it changed after the call was checked, so send the call again"
HIDDEN = "it is hidden by an ignore file or a rule"
OWN_STATE = "it is one of Halocline's own files"
SECRET = "it may hold secrets, or a rule asks first; to ask for it, name it by its own path"
_FLOORS: dict[Place | None, str] = {Place.IGNORED: HIDDEN, Place.OWN_STATE: OWN_STATE}
"""Why places of these kinds can never be read."""


def judged_places(places: Sequence[str], identities: Sequence[str], kinds: Classifier) -> dict[str, str]:
    """Map places to identities. A call that may read the whole workspace may read the task's other folders too."""
    judged = dict(zip(places, identities, strict=True))
    if kinds.workspace in judged:
        judged |= {root.path: "" for root in kinds.roots[1:]}
    return judged


class ReadScope:
    """Implements `ports.host.Scope`. `judged` maps the places of a call to the identities found there.

    `exact`: these very files were approved, so a different file in the same place is refused. `own` are Halocline's
    folders in which a tool keeps data.
    """

    def __init__(
        self, kinds: Classifier, judged: Mapping[str, str], own: Sequence[Path] = (), *, exact: bool = False
    ) -> None:
        self._kinds = kinds
        self._judged = judged
        self._unresolved = own
        self._exact = exact

    @cached_property
    def _own(self) -> tuple[str, ...]:
        return tuple(map(find_real_path, self._unresolved))

    def refusal(self, place: str, found: os.stat_result | None = None) -> str:
        """Say why a place may not be read; empty if it may. `found` is what was opened; None if only listed."""
        if any(is_within(place, folder) for folder in self._own):
            return ""
        if place in self._judged:
            return self._refusal_of_judged(place, found) if found else ""
        if not any(is_within(place, judged) or is_spelt_alike(place, judged) for judged in self._judged):
            # The names of a folder above a judged place help to find what was meant.
            return "" if any(is_within(judged, place) for judged in self._judged) else ELSEWHERE
        if found is None:
            return ""
        kind = self._kinds.guarded_kind(place, found)
        return SECRET if kind is Place.SECRET else _FLOORS.get(kind, "")

    @property
    def hides_names(self) -> bool:
        """True if some names are hidden."""
        return self._kinds.has_ignored

    def hides(self, place: str) -> bool:
        """Return True if even the name of a place is hidden, or another name of the file there."""
        return self.hides_names and self._kinds.guarded_kind(place, look_at(place)) is Place.IGNORED

    def folder_of(self, place: str) -> str:
        """Return the folder of the task that a place is in; empty for a place outside."""
        root = self._kinds.root_of(place)
        return root.path if root else ""

    def is_secret(self, place: str) -> bool:
        """Return True if a place may hold secrets by its name and was not itself judged."""
        return place not in self._judged and self._kinds.guarded_kind(place) is Place.SECRET

    def _refusal_of_judged(self, place: str, found: os.stat_result) -> str:
        """Check a judged place. A file with several names must be the very one that was judged."""
        known = self._judged[place]
        if (self._exact or is_linked(found)) and known != identity_of(found):
            return ELSEWHERE
        return _FLOORS.get(self._kinds.guarded_kind(place, found), "")
