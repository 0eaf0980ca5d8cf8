"""One change of a file taken back, or made again, because a person wants it so. Nothing is lost that nobody looked at:
the file must hold what the person saw, and else it stays as it is.
"""

from collections.abc import Sequence
from pathlib import Path

from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.runtime.assembly.optional_parts import files_within

LARGEST = 20_000_000


class Swap(Value, frozen=True):
    """Hunks of the unified `diff` of a file of the task. `kind` is what became of the file: added, deleted, …

    `back` takes them out, otherwise they are put in again.
    """

    path: str
    diff: str
    kind: str = "changed"
    back: bool = True


async def revert_hunk(workspace: Path, wish: Swap, roots: Sequence[str] = ()) -> None:
    """Do it, in the workspace or in `roots`, the task's other folders.

    Raises:
        UsageError: that is not possible exactly; nothing was written.
    """
    from halocline.edits.swapping import DoesNotFit, swap_hunks
    from halocline.edits.text import EditError, TextFile, decode_text, encode_text

    files = files_within(workspace, *map(Path, roots))
    gone, made = ("added", "deleted") if wish.back else ("deleted", "added")
    try:
        path = _path_inside(workspace, wish.path, roots)
        info = await files.info(path)
        if info is not None and not info.is_file:
            raise UsageError(f"{wish.path} is no regular file.", "Change it by hand.")
        data = await files.read(path, LARGEST) if info else None
        if (data is None) != (wish.kind == made):
            raise DoesNotFit(f"{wish.path} is {'gone' if data is None else 'there already'}.", "Look at it again.")
        file = decode_text(data) if data is not None else TextFile("")
        now = swap_hunks(file.view, wish.diff, back=wish.back)
        if wish.kind == gone and now:
            raise DoesNotFit(f"{wish.path} holds more than what was shown.", "Look at it again.")
        wanted = None if wish.kind == gone else encode_text(file.with_view(now))
        await files.write_all((FileWrite(path, wanted, data),))
    except EditError as error:
        raise UsageError(error.text, error.hint) from None
    except FileChangedOutside:
        raise UsageError(f"{wish.path} was changed just now.", "Look at the changes again, then decide.") from None
    except OSError as error:
        raise UsageError(f"{wish.path} cannot be written: {error.strerror}.", "See who may write it.") from None


def _path_inside(workspace: Path, name: str, roots: Sequence[str]) -> Path:
    folders = [workspace.resolve(), *map(Path, roots)]
    path = folders[0] / name
    if not any(path.resolve().is_relative_to(folder) for folder in folders):
        raise UsageError(f"{name} is not in {' or '.join(map(str, folders))}.", "Change it by hand.")
    return path
