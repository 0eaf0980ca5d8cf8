"""Finds the programs that a folder's hooks and servers run, which trust in the folder covers.

Programs are the files that a command runs, the scripts that it passes to an interpreter, and code next to them. Data
that a hook reads or writes, such as a log, a list or the edited file, is not: it may change without asking again.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from halocline.files.regular import read_beginning
from halocline.policy.shell.judge import analyse_command
from halocline.policy.shell.values.ground import Ground
from halocline.ports.hooks import Hook
from halocline.ports.shell_facts import NoFacts
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.store.permissions.hook_files import PROJECT_VARIABLE, RUNNERS

CODE = frozenset(
    {
        *RUNNERS,
        *(".awk", ".ksh", ".fish", ".pl", ".pm", ".rb", ".lua", ".php", ".jq", ".sed", ".tcl", ".psm1", ".bat", ".cmd"),
        *(".jsx", ".tsx", ".wasm", ".so", ".dylib", ".dll", ".jar", ".class", ".pyz", ".pth", ".pyi", ".pyx", ".node"),
    }
)
"""Suffixes of files that can be run or loaded."""
LARGEST_SCRIPT = 1 << 20
_VARIABLE = (f'"${PROJECT_VARIABLE}"/', f"${{{PROJECT_VARIABLE}}}/", f"${PROJECT_VARIABLE}/")
_SOURCES = re.compile(r"(?:^|[;&|{(]|\b(?:then|do|else|exec|command)\b)\s*(?:\.|source|bash|sh|zsh|dash|ksh)\s")
_IMPORTS = re.compile(r"\b(?:import|from|require|require_relative|load|use)\b")
_PROGRAM_FLAGS = frozenset({"-f", "--file", "--from-file"})
_TAKE_PROGRAMS = frozenset({"awk", "gawk", "mawk", "sed", "jq"})
_NAME = re.compile(r"[\w.-]+")


class _Files(NoFacts):
    """Facts that only know whether a file exists."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def fingerprint(self, path: str, script: str) -> str:
        return "file" if os.path.isfile(path) else ""


def find_programs(hooks: Iterable[Hook], folders: Iterable[Path], workspace: Path) -> set[str]:
    """Return the files that hooks run or load; all code in `folders`, which contain hooks, counts too."""
    found = {name for hook in hooks for name in run_by(_hook_text(hook), workspace)}
    found |= {name for folder in folders for name in _code_in(folder)}
    return with_code_beside(found)


def run_by(command: str, workspace: Path) -> set[str]:
    """Return the files that a command runs, without those that it only names."""
    for variable in _VARIABLE:
        command = command.replace(variable, "./")
    here, nothing = str(workspace), workspace / ".nothing"
    ground = Ground(workspace, nothing, Mode.ACT, ApprovalMode.ASK, facts=_Files(), folder=here, starts=(here,))
    analysis = analyse_command(command, ground)
    scripts = {os.path.join(workspace, name.rpartition("#")[0] or name) for name in analysis.scripts}
    words = {word for simple in analysis.words for word in simple}
    is_known = analysis.words and not any(simple[0] in ("", "alias") for simple in analysis.words if simple)
    if analysis.problem or not is_known:  # unknown what it runs: take every file that it names
        return {str(file) for word in _split_command(command) if (file := workspace / word).is_file()}
    first = {simple[0] for simple in analysis.words if simple and "/" in simple[0]}
    given = {word for simple in analysis.words for word in _programs_given(simple)}
    run = first | given | {word for word in words if _is_runnable(workspace / word)}
    return scripts | {str(workspace / word) for word in run if (workspace / word).is_file()}


def _programs_given(words: tuple[str, ...]) -> list[str]:
    """Return the files from which a filter, such as awk, reads its program."""
    if not words or os.path.basename(words[0]) not in _TAKE_PROGRAMS:
        return []
    return [after for word, after in pairwise(words) if word in _PROGRAM_FLAGS]


def with_code_beside(programs: set[str]) -> set[str]:
    """Add the files next to the programs that they load by name, transitively."""
    found, waiting = set(programs), [*programs]
    while waiting:
        program = waiting.pop()
        targets = (program, os.path.realpath(program))  # an interpreter may search next to either
        new = {name for target in targets for name in (target, *_loaded_by(target)) if name not in found}
        found |= new
        waiting += new
    return found


def _loaded_by(program: str) -> Iterator[str]:
    """Yield code in a script's folder that its text names, imports or sources."""
    name = os.path.basename(program)
    is_script = "." not in name or os.path.splitext(name)[1] in CODE or _is_runnable(Path(program))
    is_build_file = name.lower().endswith("file")  # it names half of the project
    folder, text = os.path.dirname(program), _text_of(program) if is_script and not is_build_file else ""
    named = set(_NAME.findall(text))
    imported, sourced = _names_on(_IMPORTS, text), _names_on(_SOURCES, text)
    for entry in _list_entries(folder) if named else ():
        path, (stem, ending) = os.path.join(folder, entry), os.path.splitext(entry)
        is_imported = any(name.split(".")[0] in (entry, stem) for name in imported)
        is_code = ending in CODE or _is_runnable(Path(path))
        if os.path.isdir(path):
            yield from _code_in(Path(path)) if is_imported else ()
        elif entry in sourced or (is_code and (entry in named or is_imported)):
            yield path


def _names_on(lines: re.Pattern[str], text: str) -> set[str]:
    """Return all names on matching lines of a text."""
    return {name.strip(".") for line in text.splitlines() if lines.search(line) for name in _NAME.findall(line)}


def _list_entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _code_in(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]  # hooks run without it
        for name in names:
            path = os.path.join(place, name)
            if os.path.splitext(name)[1] in CODE or _is_runnable(Path(path)):
                yield path


def _is_runnable(path: Path) -> bool:
    """True if a file is executable or starts with `#!`."""
    try:
        if not path.is_file():
            return False
        return os.access(path, os.X_OK) or read_beginning(path, 2) == b"#!"
    except (OSError, ValueError):
        return False


def _text_of(program: str) -> str:
    try:
        data = read_beginning(program, LARGEST_SCRIPT)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def _hook_text(hook: Hook) -> str:
    return " ".join(hook.words[2:]) if hook.words[:2] == ("/bin/sh", "-c") else shlex.join(hook.words)


def _split_command(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [word.strip(";&|()") for word in words if "\0" not in word]
