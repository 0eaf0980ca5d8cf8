"""What one call may read: the places that were judged, and below them all but what nothing gives unasked.

What must stay true: a file is judged by its place without links and by what its descriptor says, never by the path
that led there.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from halocline.policy.paths import Classifier, identity_of, is_linked, is_spelt_alike, is_within
from halocline.protocol.permission_rules import OtherRoot, Place

ELSEWHERE = "it is not the file or folder that was checked; send the call again"
HIDDEN = "it is hidden by an ignore file"
OWN_STATE = "it is one of Halocline's own files"
SECRET = "it may hold secrets; to ask for it, name it by its own path"


def judged_places(
    places: Sequence[str], identities: Sequence[str], workspace: Path, roots: Sequence[OtherRoot]
) -> dict[str, str]:
    """Places with their identities. Whoever may read all of the workspace may read the task's other folders."""
    judged = dict(zip(places, identities, strict=True))
    if os.path.realpath(workspace) in judged:
        judged |= {root.path: "" for root in roots}
    return judged


class ReadScope:
    """Fulfils `ports.host.Scope`. `judged` has the places of a call, each with the identity that was there.

    `exact`: a person approved just these files, so another one in their place is none of them. `own` are folders of
    Halocline's that a tool keeps something in.
    """

    def __init__(
        self, kinds: Classifier, judged: Mapping[str, str], own: Sequence[Path] = (), *, exact: bool = False
    ) -> None:
        self._kinds = kinds
        self._judged = judged
        self._own = tuple(map(os.path.realpath, own))
        self._exact = exact

    def refusal(self, place: str, found: os.stat_result | None = None) -> str:
        """Why a place may not be read; empty when it may. `found` is what was opened there; None for a mere look."""
        if any(is_within(place, folder) for folder in self._own):
            return ""
        if place in self._judged:
            return self._refusal_of_judged(place, found) if found else ""
        if not self._covers(place):
            return "" if self._leads_to_judged(place) else ELSEWHERE
        if found is None:
            return ""
        kind = self._kinds.guarded_kind(place, found)
        return SECRET if kind is Place.SECRET else _floor_of(kind)

    @property
    def hides_names(self) -> bool:
        """Whether there is anything whose name is not given."""
        return self._kinds.has_ignored

    def hides(self, place: str) -> bool:
        """Whether not even its name is given."""
        return self.hides_names and self._kinds.guarded_kind(place) is Place.IGNORED

    def is_secret(self, place: str) -> bool:
        """Whether it may hold secrets, by its name; what was judged itself is none that is left out."""
        return place not in self._judged and self._kinds.guarded_kind(place) is Place.SECRET

    def _refusal_of_judged(self, place: str, found: os.stat_result) -> str:
        """A file with several names is judged by its identity: another one may have come to the same name."""
        known = self._judged[place]
        if (self._exact or is_linked(found)) and known != identity_of(found):
            return ELSEWHERE
        return _floor_of(self._kinds.guarded_kind(place, found))

    def _covers(self, place: str) -> bool:
        return any(is_within(place, judged) or is_spelt_alike(place, judged) for judged in self._judged)

    def _leads_to_judged(self, place: str) -> bool:
        """Whether it is a folder on the way to a judged place, whose names tell what was meant."""
        return any(is_within(judged, place) for judged in self._judged)


def _floor_of(kind: Place | None) -> str:
    """What nothing may lift, said of a place of that kind."""
    match kind:
        case Place.IGNORED:
            return HIDDEN
        case Place.OWN_STATE:
            return OWN_STATE
    return ""
