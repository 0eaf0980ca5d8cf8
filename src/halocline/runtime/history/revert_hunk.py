"""Revert or reapply one change of a file for a person. The file must match what the person saw; otherwise it stays
as it is.
"""

from collections.abc import Sequence
from pathlib import Path

from halocline.edits.swapping import DoesNotFit, swap_hunks
from halocline.edits.text import EditError, TextFile, decode_text, encode_text
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.runtime.assembly.files import files_within

LARGEST = 20_000_000


class HunkReversal(Value, frozen=True):
    """Hunks of the unified `diff` of a file. `kind` is what happened to the file: added, deleted, …

    `back` reverts them, otherwise they are applied again.
    """

    path: str
    diff: str
    kind: str = "changed"
    back: bool = True


async def revert_hunk(workspace: Path, swap: HunkReversal, roots: Sequence[str] = ()) -> None:
    """Revert or reapply hunks, in the workspace or in `roots`, the task's other folders.

    Raises:
        UsageError: they do not apply exactly; nothing was written.
    """
    files = files_within(workspace, *map(Path, roots))
    gone, made = ("added", "deleted") if swap.back else ("deleted", "added")
    try:
        path = _path_inside(workspace, swap.path, roots)
        info = await files.info(path)
        if info is not None and not info.is_file:
            raise UsageError(f"{swap.path} is not a regular file.", "Change it by hand.")
        data = await files.read(path, LARGEST) if info else None
        if (data is None) != (swap.kind == made):
            problem = "no longer exists" if data is None else "already exists"
            raise DoesNotFit(f"{swap.path} {problem}.", "Reload the changes, then decide again.")
        file = decode_text(data) if data is not None else TextFile("")
        now = swap_hunks(file.view, swap.diff, back=swap.back)
        if swap.kind == gone and now:
            raise DoesNotFit(
                f"{swap.path} contains more than what was shown.", "Reload the changes, then decide again."
            )
        wanted = None if swap.kind == gone else encode_text(file.with_view(now))
        await files.write_all((FileWrite(path, wanted, data),))
    except EditError as error:
        raise UsageError(error.text, error.hint) from None
    except FileChangedOutside:
        raise UsageError(f"{swap.path} just changed on disk.", "Reload the changes, then decide again.") from None
    except OSError as error:
        raise UsageError(f"Cannot write {swap.path}: {error.strerror}.", "Check its permissions.") from None


def _path_inside(workspace: Path, name: str, roots: Sequence[str]) -> Path:
    folders = [workspace.resolve(), *map(Path, roots)]
    path = folders[0] / name
    if not any(path.resolve().is_relative_to(folder) for folder in folders):
        raise UsageError(f"{name} is not in {' or '.join(map(str, folders))}.", "Change it by hand.")
    return path
