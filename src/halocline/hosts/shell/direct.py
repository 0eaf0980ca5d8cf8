"""A command that is one program with its words, started without a shell: what bash does for it, without bash's time.

Bash would read the words, find the program on PATH, set four variables and become the program. Whatever it would do
otherwise or refuse is left to it.
"""

import os
import re

from halocline.files.real_paths import find_real_path
from halocline.hosts.executables import find_program
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_ONE_PROGRAM = compile_later(
    r"""([\w./+-]+)(?:\ +(?:[\w./@%+,:=^-]|'[^'\n]*'|"[^"$`\\!\n]*")+)*""", re.ASCII | re.VERBOSE
)
"""A program and words that no shell would change."""
_BUILTINS = """
    . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown
    echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile
    popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true
    type typeset ulimit umask unalias unset wait
"""
_KEYWORDS = "if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc"
OF_THE_SHELL = frozenset(f"{_BUILTINS} {_KEYWORDS}".split())
"""Builtins and keywords of bash; they run in the shell itself."""
_WORD = compile_later(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
_QUOTED = compile_later(r"""'([^']*)'|"([^"]*)\"""")
_CHANGE_BASH = frozenset({"BASH_ENV", "SHELLOPTS", "BASHOPTS", "EXECIGNORE"})


class Direct(Value, frozen=True):
    """A program's file, its words with its name first, and its environment."""

    program: str
    words: list[str]
    environment: ChildEnvironment


def is_one_program(text: str) -> bool:
    """True if a text runs one program and does nothing in the shell itself."""
    found = _ONE_PROGRAM.fullmatch(text)
    return found is not None and found[1] not in OF_THE_SHELL


def changes_bash(variable: str) -> bool:
    """True for a variable from which bash takes options or functions, which may have a program's name."""
    return variable in _CHANGE_BASH or variable.startswith("BASH_FUNC_")


def read_command(text: str, environment: ChildEnvironment, folder: str) -> Direct | None:
    """Read the text of one program as bash would in a folder. None if bash would not find its program."""
    words = [_QUOTED.sub(r"\1\2", word) for word in _WORD.findall(text)]
    program = _find_file(words[0], environment.get("PATH", ""), folder)
    return Direct(program, words, _build_environment(environment, program, folder)) if program else None


def _find_file(name: str, path: str, folder: str) -> str | None:
    if "/" in name:
        return name if find_program(name, [folder]) else None
    folders = path.split(":")
    # A part that is empty or relative means the command's own folder, not ours: that is rare, and bash's to find.
    return find_program(name, folders) if all(part.startswith("/") for part in folders) else None


def _build_environment(environment: ChildEnvironment, program: str, folder: str) -> ChildEnvironment:
    before = environment.get("OLDPWD")
    own = {
        "PWD": _name_folder(environment.get("PWD", ""), folder),
        "OLDPWD": before if before and os.path.isdir(before) else None,
        "SHLVL": _read_level(environment.get("SHLVL", "")),
        "_": program,
    }
    return declare_environment(environment, own)


def _read_level(inherited: str) -> str:
    """Read how many shells are around the program; bash counts to 999."""
    level = int(inherited) if inherited.isascii() and inherited.isdecimal() and len(inherited) <= 3 else 0
    return str(level if level < 999 else 0)


def _name_folder(inherited: str, folder: str) -> str:
    """The folder's name as it was inherited, which may lead through links, or else its real one."""
    try:
        is_same = inherited.startswith("/") and os.path.samefile(inherited, folder)
    except OSError:
        is_same = False
    return inherited if is_same else find_real_path(folder)
