"""Exact replacement as other agents' models write it: an old text, a new text, and whether every place is meant."""

from halocline.edits.edit import Edit, Grain
from halocline.edits.text import EditError, to_lf


class NothingToReplace(EditError):
    """The old text equals the new one."""

    code = "nothing_to_replace"


def parse_exact(old: str, new: str, *, everywhere: bool = False) -> list[Edit]:
    """One edit. An old text that ends in a newline means whole lines. Raises NothingToReplace."""
    old, new = to_lf(old), to_lf(new)
    if old == new:
        raise NothingToReplace("The old and the new text are the same.", "Send the text as it shall be.")
    if old[-1:] in ("", "\n") and new[-1:] in ("", "\n"):
        old, new = old[:-1], new[:-1]
    search = tuple(old.split("\n")) if old else ()
    replace = tuple(new.split("\n")) if new else ()
    return [Edit(1, search, replace, "edit", Grain.CHARACTERS, everywhere=everywhere)]
