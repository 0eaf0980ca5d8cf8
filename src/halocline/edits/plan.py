"""Apply edits to one file: locate all of them, apply all or none (or, if requested, those that fit), report each."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from halocline.edits.edit import Edit, UnplacedEdits
from halocline.edits.matching.locate import Locator, Miss, Place, Placement, Splice
from halocline.edits.matching.nearest import explain_miss
from halocline.edits.text import Offsets, TextFile
from halocline.protocol.values import Value

_ADVICE = "Read that part of the file again, then send fewer, smaller edits with whole lines copied exactly."
_EXPLAINED, _LOOKED_FOR, _REPORTED = 5, 20, 30


class Applied(Value, frozen=True):
    """An applied edit: lines `first` to `last` of the new file (from 1); `last < first` if it only deleted."""

    name: str
    first: int
    last: int
    how: str
    places: int = 1

    def __str__(self) -> str:
        where = f"lines {self.first}-{self.last}" if self.last >= self.first else f"deleted before line {self.first}"
        more = f" and {self.places - 1} more places" if self.places > 1 else ""
        return f"{self.name}: {where}{more} ({self.how})"


class Made(Value, frozen=True):
    """A file after its edits: where each was applied, and messages about those that were not."""

    file: TextFile
    applied: list[Applied]
    failures: tuple[str, ...] = ()


def all_or_none(file: TextFile, edits: Sequence[Edit]) -> Made:
    """Apply every edit to the file.

    Raises:
        UnplacedEdits: an edit was not found, found more than once, or overlaps another.
    """
    locator = Locator(file.view)
    return _apply_places(file, locator, list(_until_too_many_miss(locator, edits)), in_part=False)


def what_fits(file: TextFile, edits: Sequence[Edit]) -> Made:
    """Apply the edits that have a certain place and do not overlap another.

    Raises:
        UnplacedEdits: there are none.
    """
    locator = Locator(file.view)
    return _apply_places(file, locator, [place for edit in edits for place in locator.places(edit)], in_part=True)


def _apply_places(file: TextFile, locator: Locator, places: Sequence[Place], *, in_part: bool) -> Made:
    found = _judge_places(places)
    placements = _in_order(found)
    misses = [place for place in found if isinstance(place, Miss)]
    if misses and not (in_part and placements):
        why = misses[0].why.partition(";")[0]
        raise UnplacedEdits(_describe_status(locator, found), _ADVICE, person=f"not applied: {why}")
    after = _rebuild_file(file, placements)
    return Made(after, _report_applied(locator, placements), _describe_failures(misses, after) if misses else ())


def _describe_failures(misses: Sequence[Miss], after: TextFile) -> tuple[str, ...]:
    """Say why edits failed, with line numbers of the new file."""
    locator = Locator(after.view)
    now = [
        next((p for p in locator.places(miss.edit) if isinstance(p, Miss)), Miss(miss.edit, miss.why))
        for miss in misses
    ]
    return (_describe_status(locator, now), "Send only the failed ones again, corrected.")


def _until_too_many_miss(locator: Locator, edits: Sequence[Edit]) -> Iterator[Place]:
    """Yield the places of the edits. After many misses nothing will be applied, so the rest is not tried."""
    missed = 0
    for edit in edits:
        if missed >= _LOOKED_FOR:
            yield Miss(edit, "it was not tried, because too many edits before it failed")
            continue
        places = locator.places(edit)
        missed += any(isinstance(place, Miss) for place in places)
        yield from places


def _judge_places(places: Sequence[Place]) -> list[Place]:
    """Return the places without repeats; overlapping ones become misses."""
    places = list(_without_repeats(places))
    clashes = _find_clashes(places)
    return [clashes.get(id(place), place) for place in places]


def _in_order(places: Sequence[Place]) -> list[Placement]:
    return sorted((p for p in places if isinstance(p, Placement)), key=lambda p: (p.start, p.end))


def _without_repeats(places: Sequence[Place]) -> Iterable[Place]:
    """Yield the places, counting an edit that is written twice for the same place once."""
    seen: set[tuple[int, int, tuple[Splice, ...]]] = set()
    for place in places:
        if isinstance(place, Placement):
            same = (place.start, place.end, place.splices)
            if same in seen:
                continue
            seen.add(same)
        yield place


def _find_clashes(places: Sequence[Place]) -> dict[int, Miss]:
    """Map each place that overlaps another to a miss. Places may only share lines that neither changes."""
    clashes: dict[int, Miss] = {}
    reaching: Placement | None = None
    for place in _in_order(places):
        if reaching is not None and _do_disturb(reaching, place):
            for one, other in ((reaching, place), (place, reaching)):
                why = f"it overlaps {other.edit.name} {other.edit.number}; combine the two into one"
                clashes.setdefault(id(one), Miss(one.edit, why))
        if reaching is None or place.end >= reaching.end:
            reaching = place
    return clashes


def _do_disturb(one: Placement, other: Placement) -> bool:
    if one.start == other.start and one.end == other.end:
        return True
    return any(_do_meet(s.start, s.end, other) for s in one.splices) or any(
        _do_meet(s.start, s.end, one) for s in other.splices
    )


def _do_meet(start: int, end: int, place: Placement) -> bool:
    return start == place.start or (start < place.end and place.start < end) or place.start < start < place.end


def _describe_status(locator: Locator, found: Sequence[Place]) -> str:
    """Describe the result of each edit, failed ones first; a very long list is cut."""
    failed = [place for place in found if isinstance(place, Miss)]
    fine = [place for place in found if isinstance(place, Placement)]
    said = [
        f"{miss.edit.title} failed: {miss.why}.{explain_miss(locator.lines, miss) if number < _EXPLAINED else ''}"
        for number, miss in enumerate(failed[:_REPORTED])
    ]
    said += [
        f"{place.edit.title} would match at line {locator.lines.number(place.start)} ({place.how})."
        for place in fine[: _REPORTED - len(said)]
    ]
    rest = len(found) - len(said)
    return "\n".join([*said, f"… and {rest} more; {len(failed)} failed in total."] if rest else said)


def _rebuild_file(file: TextFile, placements: Sequence[Placement]) -> TextFile:
    """Return the file with each changed part replaced; everything else keeps its bytes."""
    offsets, pieces, at = Offsets(file.text), [], 0
    for splice in sorted((s for place in placements for s in place.splices), key=lambda s: (s.start, s.end)):
        pieces += [file.text[at : offsets.original(splice.start)], splice.text.replace("\n", file.eol)]
        at = offsets.original(splice.end)
    return replace(file, text="".join([*pieces, file.text[at:]]))


def _report_applied(locator: Locator, placements: Sequence[Placement]) -> list[Applied]:
    """Return the lines of the new file that each edit became, by number; the placements are in the file's order."""
    applied: dict[int, Applied] = {}
    shift = 0
    for place in placements:
        lines, edit = locator.lines, place.edit
        first = lines.number(place.start) + shift
        grown = sum(s.text.count("\n") - lines.view.count("\n", s.start, s.end) for s in place.splices)
        last = lines.number(place.end) + shift + grown if edit.replace else first - 1
        shift += grown
        if edit.number in applied:
            known = applied[edit.number]
            applied[edit.number] = Applied(known.name, known.first, known.last, known.how, known.places + 1)
        else:
            applied[edit.number] = Applied(f"{edit.name} {edit.number}", first, last, f"{place.how}{place.by_line}")
    return [applied[number] for number in sorted(applied)]
