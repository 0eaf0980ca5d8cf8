"""Files that programs write, and no one reads in a diff: by the attribute `linguist-generated`, else by their names."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from halocline.git.view import View

_NAMES = re.compile(
    r".*\.(?:lock|lockb|min\.\w+|map|snap|pb\.go|pb\.cc|pb\.h|g\.dart|designer\.cs)|.*_pb2(?:_grpc)?\.pyi?"
    r"|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.(?:work\.)?sum|packages\.lock\.json|gradle\.lockfile"
    r"|\.terraform\.lock\.hcl|package\.resolved|module\.bazel\.lock",
    re.IGNORECASE,
)


async def find_generated(view: View, paths: Sequence[str]) -> frozenset[str]:
    """Return those of the paths, given relative to the top folder, that are generated. Raises GitUnusable."""
    top = str(view.repository.top)
    answer = await view.run("-C", top, "check-attr", "-z", "linguist-generated", "--", *paths)
    fields = answer.output.decode("utf-8", "surrogateescape").split("\0")
    marked = dict(zip(fields[::3], fields[2::3], strict=False))
    return frozenset(path for path in paths if _is_generated(path, marked.get(path, "")))


def _is_generated(path: str, mark: str) -> bool:
    if mark in ("unset", "false"):
        return False
    return mark in ("set", "true") or bool(_NAMES.fullmatch(PurePosixPath(path).name))
