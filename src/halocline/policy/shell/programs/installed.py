"""Check that a program judged by its name is the installed one, not a file of the project found through PATH.

What must stay true: no name in the tables stands for a file that came with the project. Only a project's own tools, in
the folders for such tools, may have the names of tools.
"""

import os
from functools import partial

from halocline.files.real_paths import find_real_path
from halocline.policy.paths import is_within
from halocline.policy.shell.findings import Analysis, Finding, unknown_finding
from halocline.policy.shell.programs.mutating import ACTORS, PERSISTS, RIGHTS, SHELLS
from halocline.policy.shell.programs.shell_builtins import BUILTINS
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.spellings import SYSTEM_FOLDERS
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.permission_rules import Place

_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/")
_WRAPPERS = ("git", "env", "timeout", "nice", "xargs", "time")
_JUDGED = frozenset({*READERS, *ACTORS, *SHELLS, *BUILTINS, *PERSISTS, *RIGHTS, *_WRAPPERS})
"""Names that the tables know; a project may install a tool of any other name for itself."""
_RUNS_A_WORD = frozenset({"find", "fd", "fdfind", "xargs"})


def note_impostors(analysis: Analysis, ground: Ground) -> None:
    """Record programs that are files of the project: what is known about their names does not apply to them."""
    several = len(analysis.words) > 1 and not analysis.reads
    for words in list(analysis.words):
        for name in words if words and os.path.basename(words[0]) in _RUNS_A_WORD else words[:1]:
            where = "" if "/" in name else _found_in_project(name, ground, may_appear=several)
            if not where:
                continue
            why = f"PATH includes a folder of the project: {name} may be {where}"
            if name in _JUDGED:
                analysis.problem = analysis.problem or why
            finding = unknown_finding(" ".join(words), why)
            analysis.findings.append(Finding(finding.part, finding.rule, argv=words))


def runs_elsewhere(name: str, ground: Ground) -> str:
    """Say why a program named by its path may not be what its name says; empty if it is.

    A program of the project is judged as such, whatever its name.
    """
    base, folder = os.path.basename(name), os.path.dirname(name)
    if "/" not in name or folder in SYSTEM_FOLDERS:
        return ""
    for one in ground.find(name):
        if _is_in_project(one.path, ground):
            if one.place is Place.RUNS_LATER and base in _JUDGED:
                return f"{one.shown} is a file in the project, not the installed program"
        elif not _is_installed(os.path.expanduser(name), one, ground):
            return "it runs a program outside the workspace"
    return ""


def _is_installed(name: str, found: Found, ground: Ground) -> bool:
    """Return True if a program belongs to the system, is in a PATH folder, or is a project's link to one that is."""
    if found.path.startswith(_SYSTEM):
        return True
    places = [find_real_path(place) for place in ground.facts.search_places(ground.path) if os.path.isabs(place)]
    return find_real_path(os.path.dirname(name)) in places or os.path.dirname(found.path) in places


def _found_in_project(name: str, ground: Ground, *, may_appear: bool) -> str:
    """Return the file of the project that a name runs, or would run if the file may still appear; empty for none."""
    if not name or "\0" in name or name.startswith("-"):
        return ""
    for folder in ground.folders or (str(ground.workspace),):
        for searched in map(os.path.expanduser, ground.facts.search_places(ground.path)):
            path, relative = os.path.join(folder, searched, name), not os.path.isabs(searched)
            there = ground.facts.is_program(path)
            if not (there or may_appear):
                continue
            place = find_real_path(os.path.dirname(path))
            ours = relative or _is_in_project(place, ground)
            in_venv = partial(ground.facts.is_file, os.path.join(os.path.dirname(place), "pyvenv.cfg"))
            if ours and (place.endswith("/node_modules/.bin") or in_venv()):  # where a project keeps its tools
                ours = there and name in _JUDGED
            elif not ours and there:
                ours = _is_in_project(find_real_path(path), ground)
            if ours:
                return path
            if there:
                break
    return ""


def _is_in_project(path: str, ground: Ground) -> bool:
    return any(is_within(path, root) for root in ground.real_roots)
