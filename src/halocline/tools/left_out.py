"""The words for nothing found: what was left out, and why, stands beside every one of them.

Each sentence that says that a folder, a search or a list has nothing goes through `say_absent`; a test finds others.
"""

from collections.abc import Iterator

from halocline.ports.host import LeftOut
from halocline.protocol.file_names import make_printable

_NAMED = 10
_PLACES = 3


def say_absent(nothing: str, left: LeftOut) -> str:
    """Return `nothing` in brackets, with what was left out."""
    reasons = [*_list_reasons(left)]
    skipped = f"; not looked at: {', '.join(reasons)}" if reasons else ""
    unfitting = f"; none of {count_files(left.unfitting)} there fits the pattern" if left.unfitting else ""
    return "\n".join([f"[{nothing}{unfitting}{skipped}]", *list_skipped_secrets(left)])


def list_unseen(left: LeftOut) -> tuple[str, ...]:
    """Return lines on what may hold more of what was found."""
    unseen = [*_list_unreadable(left)]
    lines = (f"[not looked at: {', '.join(unseen)}]",) if unseen else ()
    return (*lines, *list_skipped_secrets(left))


def list_skipped_secrets(left: LeftOut) -> tuple[str, ...]:
    """Return a line on the files skipped because they may hold secrets."""
    if not left.secrets:
        return ()
    names = ", ".join(map(make_printable, left.secrets[:_NAMED]))
    more = f" and {len(left.secrets) - _NAMED} more" if len(left.secrets) > _NAMED else ""
    return (f"[not searched, as they may hold secrets: {names}{more}; pass one as path to ask the user for access]",)


def count_files(number: int, kind: str = "") -> str:
    """Format a count as `1 file` or `2 ignored files`."""
    return f"{number:,} {kind}{' ' * bool(kind)}file{'s' * (number != 1)}"


def _list_reasons(left: LeftOut) -> Iterator[str]:
    if left.ignored:
        more = ", …" if len(left.places) > _PLACES else ""
        places = ", ".join(map(make_printable, left.places[:_PLACES])) + more
        yield count_files(left.ignored, "ignored") + (f" ({places}; name one as path)" if places else "")
    if left.links:
        yield f"{left.links:,} link{'s' * (left.links != 1)} that lead{'s' * (left.links == 1)} elsewhere"
    yield from _list_unreadable(left)


def _list_unreadable(left: LeftOut) -> Iterator[str]:
    if left.undecodable:
        yield f"{count_files(left.undecodable)} that {'is' if left.undecodable == 1 else 'are'} not text"
    if left.large:
        yield f"{count_files(left.large)} of another encoding, too large or too many to decode"
    if left.long:
        yield f"{len(left.long):,} match{'es' * (len(left.long) != 1)} in lines of over 1 MB"
    if left.unreadable:
        yield f"{left.unreadable:,} unreadable file{'s or folders' if left.unreadable > 1 else ' or folder'}"
    if left.more:
        yield "perhaps more, as looking took too long"
