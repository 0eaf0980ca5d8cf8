"""Find the workspace files that a command runs: a grant for the command covers them only with their current content.

Each script has a fingerprint, so a script that changed since it was approved asks again. What a script itself runs is
not followed: this informs the user, and only a sandbox is a security boundary.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from halocline.policy.paths import LONGEST_PATH
from halocline.policy.shell.programs.mutating import INTERPRETERS, SHELLS
from halocline.policy.shell.programs.wrappers import RUNNERS
from halocline.policy.shell.values.ground import Ground
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.patterns import compile_later

Script = tuple[str, str]
"""A file, and the name of a script in it if it has several."""
MOST_WORDS = 64
_INTERPRETER = compile_later(r"(python|pypy|ruby|node|perl|php|lua)[\d.]*")
_INTERPRETERS = frozenset({*INTERPRETERS, *SHELLS, "tsx", "ts-node", "coffee", "bun", "groovy", "julia"})
_PASS_ON = frozenset({"env", "sudo", "doas", "nohup", "exec", "command", "time", "setsid", "builtin"})
"""Programs that pass their input on to the command after them."""
_VALUED = frozenset({"-W", "-X", "-r", "--require", "--import", "--loader", "--env-file", "--rcfile", "--init-file"})
_CODE = compile_later(r"-\w*[ec]|-p|--eval|--print")
_SHELL_CODE = compile_later(r"-\w*c")
_RUNNERS = RUNNERS | {"npm exec", "direnv exec"}
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_LIFECYCLE = {"i": "install", "ci": "install", "add": "install", "t": "test", "tst": "test"}
_ELSEWHERE = frozenset({"-C", "--directory", "--prefix", "--dir", "--cwd", "--chdir"})
_NAMED = frozenset({"-f", "--file", "--makefile", "--justfile", "--rakefile", "--taskfile", "--gulpfile", "-c"})
_FILES = {name: files.split() for name, files in read_pairs(read_lines(__file__)["files"]).items()}


def scripts_of(words: tuple[str, ...], ground: Ground) -> dict[str, str]:
    """Map the scripts that a simple command runs to their fingerprints."""
    runs = words[:MOST_WORDS]
    return _map_scripts((one for folder in ground.folders for one in _scripts(runs, folder, ground.facts)), ground)


def files_named(words: tuple[str, ...], ground: Ground) -> dict[str, str]:
    """Map the workspace files among a command's words to their fingerprints."""
    named = [os.path.expanduser(one) for one in words[:MOST_WORDS] if len(one) <= LONGEST_PATH and "\0" not in one]
    paths = (os.path.join(folder, word) for folder in ground.folders for word in named)
    return _map_scripts(((os.path.normpath(path), "") for path in paths), ground)


def _map_scripts(scripts: Iterable[Script], ground: Ground) -> dict[str, str]:
    """Map those of the scripts that are in the workspace to their fingerprints."""
    workspace = os.path.realpath(ground.workspace)
    found: dict[str, str] = {}
    for path, script in scripts:
        shown = os.path.relpath(os.path.normpath(path), workspace)
        if shown != ".." and not shown.startswith("../"):
            found[f"{shown}#{script}" if script else shown] = ground.facts.fingerprint(path, script)
    return {name: content for name, content in found.items() if content}


def reads_script(words: tuple[str, ...]) -> bool:
    """Return True if a command runs its input: an interpreter without a script of its own."""
    while words and os.path.basename(words[0]) in _PASS_ON:
        words = tuple(dropwhile(lambda word: word.startswith("-") or "=" in word, words[1:]))
    base = os.path.basename(words[0]) if words else ""
    if not (base in _INTERPRETERS or _INTERPRETER.fullmatch(base)):
        return False
    code = _SHELL_CODE if base in SHELLS else _CODE
    first = next((word for word in words[1:] if not word.startswith("-") or word in ("-", "-s", "-m")), "-")
    return first in ("-", "-s") and not any(code.fullmatch(word) for word in words[1:])


def entries(scripts: dict[str, str]) -> tuple[str, ...]:
    """Return scripts in the form used by events and grants."""
    return tuple(f"{name}={content}" for name, content in sorted(scripts.items()))


def _scripts(words: tuple[str, ...], folder: str, facts: ShellFacts) -> Iterator[Script]:
    if not words or any("\0" in word for word in words):
        return
    program, base = words[0], os.path.basename(words[0])
    if "/" in program:
        yield os.path.join(folder, os.path.expanduser(program)), ""
    if " ".join(words[:2]) in _RUNNERS:
        rest = tuple(dropwhile(lambda word: word.startswith("-"), words[2:]))
        yield from _scripts(rest, folder, facts)
        yield from ((os.path.join(folder, rest[0]), ""),) if rest and rest[0].endswith(".py") else ()
    elif base in _INTERPRETERS or _INTERPRETER.fullmatch(base):
        code = _SHELL_CODE if base in SHELLS else _CODE
        yield from _interpreter_scripts(words[1:], folder, facts, code)
    if base in _PACKAGE_MANAGERS:
        yield from _of_package(words[1:], folder)
    elif base in _FILES:
        yield from _of_file(words[1:], folder, _FILES[base], facts)


def _interpreter_scripts(
    words: tuple[str, ...], folder: str, facts: ShellFacts, code: re.Pattern[str]
) -> Iterator[Script]:
    """Yield the first operand that is a file, and files that flags load before it."""
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if code.fullmatch(word) and not operands:
            return  # its words are what it runs
        if word == "-m" and rest:
            path = os.path.join(folder, *rest[0].split("."))
            yield from list(_there([f"{path}.py", os.path.join(path, "__main__.py")], facts))[:1]
            return
        if word in _VALUED and rest:
            yield from _there([os.path.join(folder, rest.pop(0))], facts)
        elif not word.startswith("-"):
            operands.append(os.path.join(folder, word))
    yield from list(_there(operands, facts))[:1]


def _there(paths: list[str], facts: ShellFacts) -> Iterator[Script]:
    return ((path, "") for path in paths if facts.fingerprint(path, ""))


def _of_package(words: tuple[str, ...], folder: str) -> Iterator[Script]:
    folder, rest = _split_folder(words, folder)
    plain = [word for word in rest if not word.startswith("-")]
    if plain[:1] in (["run"], ["run-script"], ["rum"]):
        plain = plain[1:]
    if plain:
        yield os.path.join(folder, "package.json"), _LIFECYCLE.get(plain[0], plain[0])


def _of_file(words: tuple[str, ...], folder: str, names: Sequence[str], facts: ShellFacts) -> Iterator[Script]:
    folder, rest = _split_folder(words, folder)
    named = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in _NAMED]
    named += [word.partition("=")[2] for word in rest if word.partition("=")[0] in _NAMED and "=" in word]
    named += [word[2:] for word in rest if word.startswith("-f") and len(word) > 2]
    paths = [os.path.join(folder, name) for name in named or names]
    yield from list(_there(paths, facts))[: None if named else 1]


def _split_folder(words: tuple[str, ...], folder: str) -> tuple[str, list[str]]:
    """Return the folder, changed by a flag if there is one, and the other words."""
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        flag, equals, value = word.partition("=")
        if word in _ELSEWHERE and waiting:
            folder = os.path.join(folder, waiting.pop(0))
        elif equals and flag in _ELSEWHERE:
            folder = os.path.join(folder, value)
        elif word.startswith("-C") and len(word) > 2:
            folder = os.path.join(folder, word[2:])
        else:
            rest.append(word)
    return folder, rest
