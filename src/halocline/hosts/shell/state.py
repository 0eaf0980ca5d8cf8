"""Carries the folder and the exported variables from one command to the next, though each has its own shell.

The shell writes both to an anonymous file (`STATE_FD`) when it exits, by `exit`, by `set -e` or at its end. A shell
that became another program, was killed or has the command's own exit trap writes nothing: then nothing changes. So it
is with a command that is one program and its words: bash becomes that program, which saves a process.
"""

import os
import re
import shlex
from collections.abc import Iterable, Mapping

from halocline.hosts.keeper import STATE_FD
from halocline.hosts.shell.direct import changes_bash, is_one_program
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_LEAVE = "{ builtin trap - DEBUG ERR RETURN; builtin set +xveu; } >/dev/null 2>&1" + "".join(
    f"; builtin {part} 2>/dev/null >&{STATE_FD}" for part in (r'printf "%s\0" "$PWD"', "export -p", r'printf "\0"')
)
"""Each part has its own redirection: a trap runs between them, and what it prints must not become state."""
_EXPORTED = compile_later(
    rb"""^(?:declare\ -[a-zA-Z]*x[a-zA-Z]*|export)\ ([A-Za-z_]\w*)
         =(?:"((?:[^"\\]|\\.)*)"|\$'((?:[^'\\]|\\.)*)')$""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_IDENTIFIER = compile_later(r"[A-Za-z_]\w*\Z", re.ASCII)
_QUOTED = rb'\\([$`"\\\n])'
_ANSI = compile_later(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_LETTERS |= {b"v": b"\v"}
_THE_SHELLS_OWN = frozenset({"_", "SHLVL", "PWD", "PS1", "PS2"})
_UNTOLD = frozenset({"OLDPWD"})


LARGEST_VALUE = 100_000
"""Largest value in bytes that is kept: Linux starts no program with one of 131,072."""


class ShellState(Value, frozen=True):
    """The folder in which the next command starts (empty: the workspace) and its variables (None: unset).

    `too_large` names exported variables that are not kept.
    """

    folder: str = ""
    variables: Mapping[str, str | None] | None = None
    too_large: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that differ. Only the shell gets their values, except that of PATH."""
        return tuple(sorted(set(self.variables or ()) - _UNTOLD))

    @property
    def path(self) -> str:
        """PATH if it differs: the gate judges the next command by it."""
        changed = self.variables or {}
        return (changed["PATH"] or os.defpath) if "PATH" in changed else ""

    def move_to(self, folder: str) -> "ShellState":
        """Return the same variables in another folder."""
        return ShellState(folder, self.variables)

    def over(self, environment: ChildEnvironment) -> ChildEnvironment:
        """Return the environment with the changes applied."""
        return declare_environment(environment, self.variables or {})


class ShellStates:
    """The state for commands in the sandbox and for those outside: variables do not pass from inside to outside.

    A command that you allow outside must not get a PATH or a loader variable that one inside has set.
    """

    def __init__(self) -> None:
        self._states = {True: ShellState(), False: ShellState()}

    def of(self, *, sandboxed: bool) -> ShellState:
        return self._states[sandboxed]

    def learn(self, state: ShellState, *, sandboxed: bool) -> None:
        """Keep a command's state. The folder applies to all commands; it is shown and judged before each."""
        other = self._states[not sandboxed].variables or {}
        passed = other if sandboxed else {**other, **(state.variables or {})}
        self._states = {sandboxed: state, not sandboxed: ShellState(state.folder, passed)}

    def forget_folder(self) -> None:
        """Go back to the workspace."""
        self._states = {kind: state.move_to("") for kind, state in self._states.items()}


def build_shell_words(bash: str | None, text: str, variables: Iterable[str], limits: str) -> list[str]:
    """The program and arguments that run a text: with bash, or with sh where there is none. `limits` comes before."""
    if bash:
        return [bash, "--noprofile", "--norc", "-c", limits + with_trailer(text, variables)]
    return ["/bin/sh", "-c", limits + text]


def with_trailer(text: str, variables: Iterable[str] = ()) -> str:
    """A bash script that runs the text and then writes its state. The text may be anything, even half a command.

    A text that cannot change the state stands alone; `variables` are the names of those that the shell will have.
    """
    if is_one_program(text) and not any(map(changes_bash, variables)):
        return text
    return f"trap {shlex.quote(_LEAVE)} EXIT; eval -- {shlex.quote(text)}"


def left_in(file: int, workspace: str, environment: Mapping[str, str]) -> ShellState | None:
    """The state that a shell wrote to its file; None when it wrote none."""
    data = os.pread(file, os.fstat(file).st_size, 0)
    folder, _, rest = data.partition(b"\0")
    exported, ended, _ = rest.partition(b"\0")
    if not ended:
        return None
    left = {name: value for name, value in _parse_exports(exported).items() if name not in _THE_SHELLS_OWN}
    after = {name: value for name, value in left.items() if len(os.fsencode(value)) <= LARGEST_VALUE}
    changed: dict[str, str | None] = {name: value for name, value in after.items() if environment.get(name) != value}
    changed |= {name: None for name in environment if name not in after and _is_the_shells(name)}
    place = os.fsdecode(folder)
    return ShellState("" if place == workspace else place, changed, tuple(sorted(left.keys() - after.keys())))


def _is_the_shells(name: str) -> bool:
    """True if bash would have listed it; it passes other names on without listing them."""
    return bool(_IDENTIFIER.match(name)) and name not in _THE_SHELLS_OWN


def _parse_exports(exported: bytes) -> dict[str, str]:
    """Parse the output of `export -p` in bash's two quoting styles."""
    found: dict[str, str] = {}
    for name, plain, ansi in _EXPORTED.findall(exported):
        found[name.decode()] = os.fsdecode(_ANSI.sub(_unescape, ansi) if ansi else re.sub(_QUOTED, rb"\1", plain))
    return found


def _unescape(match: re.Match[bytes]) -> bytes:
    octal, letter = match.groups()
    return bytes([int(octal, 8)]) if octal else _LETTERS.get(letter, letter)
