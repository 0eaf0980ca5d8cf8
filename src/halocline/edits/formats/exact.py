"""Parse exact replacements as other agents' models write them: an old text, a new text, perhaps for every place."""

from halocline.edits.edit import Edit, Grain
from halocline.edits.text import EditError, to_lf


class NothingToReplace(EditError):
    """The old text equals the new one."""

    code = "nothing_to_replace"


def parse_exact(old: str, new: str, *, everywhere: bool = False, near: int = 0) -> list[Edit]:
    """Return one edit. An old text that ends in a newline means whole lines. Raises NothingToReplace."""
    old, new = to_lf(old), to_lf(new)
    if old == new:
        raise NothingToReplace("The old and new text are the same.", "Send the new text as it should be.")
    is_given = bool(old)
    if old[-1:] == "\n" and new[-1:] in ("", "\n"):
        old, new = old[:-1], new[:-1]
    search = tuple(old.split("\n")) if is_given else ()
    replace = tuple(new.split("\n")) if new else ()
    return [Edit(1, search, replace, "edit", Grain.CHARACTERS, everywhere=everywhere, near=near)]
