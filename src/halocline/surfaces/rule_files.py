"""Rule files for the model as a list."""

from collections.abc import Iterator, Sequence

from halocline.client import ListedInstruction
from halocline.surfaces.sanitize import clean

NONE = "No rules here. Create one: halo rules new NAME. Possible places: halo rules list --all"


def describe_files(files: Sequence[ListedInstruction]) -> str:
    """List the files, and when each applies."""
    return "\n".join(line for file in files for line in _file_lines(file)) or NONE


def _file_lines(file: ListedInstruction) -> Iterator[str]:
    state = f"does not apply: {file.inert}" if file.inert else f"{file.holds} · {file.size:,} characters"
    yield clean(file.path)
    yield f"    {file.of}, {clean(' '.join(state.split()))}"
    for remark in file.remarks:
        yield f"    note: {clean(' '.join(remark.split()))}"
