"""Says what was left out of something that worked otherwise, with the reason: one way for all who say it."""

import re
from collections.abc import Iterable, Sequence

from halocline.protocol.values import Value

MOST = 3


class LeftOut(Value, frozen=True):
    """A file or folder that was left out; `why` is the end of a sentence. `kept`: it is there, and stays there."""

    path: str
    why: str
    kept: bool = False


def describe_gap(missing: str, where: str) -> str:
    """Return the marker between a head and a tail: what is left out, and how the model gets it."""
    return f"\n[… {missing} left out here; {where} …]\n"


_GAP = r"\[… ([^\n;]* left out here)(; \S+ has [^;\n]*)?[^\n]* …\]"


def show_gaps(text: str) -> str:
    """Return a text with the markers of its gaps as a person reads them: what is left out, and the file that has it."""
    return re.sub(_GAP, r"[… \1\2 …]", text) if " left out here; " in text else text


def has_gap(lines: Iterable[str]) -> bool:
    """Return whether one of these lines is the marker of a gap."""
    return any(line.startswith("[… ") and " left out here" in line for line in lines)


def name_some(names: Sequence[str], most: int = MOST) -> str:
    """Name the first of several things, and count the others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def describe_left_out(does: str, found: Iterable[LeftOut], most: int = MOST, keeps: str = "Kept") -> list[str]:
    """Say what was left out, a line for each reason; `does` is what was not done, such as `Not restored`."""
    by_reason: dict[tuple[bool, str], list[str]] = {}
    for one in found:
        by_reason.setdefault((one.kept, one.why), []).append(one.path)
    return [
        f"{keeps if kept else does}: {name_some(paths, most)}, because {why}."
        for (kept, why), paths in by_reason.items()
    ]
