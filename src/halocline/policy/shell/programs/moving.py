"""Find the folders that the shell may be in after `cd`, `pushd` and `popd`, and those of what wrappers run.

What must stay true: where the target or the success is not certain, the folders that it may still be in stay in the
list, beside an unknown one.
"""

import os
from collections.abc import Iterable, Iterator

from halocline.files.real_paths import find_real_path
from halocline.policy.paths import is_within
from halocline.policy.shell.syntax.tree import Node, Simple, Word
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.variables import UNKNOWN, Values, values_of

MOVES = frozenset({"cd", "pushd", "popd"})


def ground_after_moving(simple: Simple, ground: Ground) -> Ground:
    """Return the ground after a command that changes the folder, if it succeeds."""
    name, words = simple.words[0].text, list(simple.words[1:])
    ends = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    words, behind = [*words[:ends], *words[ends + 1 :]], words[ends + 1 :]
    if name == "popd" and not ground.stack:
        return ground  # it fails, as every command gets a shell without a stack
    marks = "-" if name == "cd" else ("-", "+")
    operands = [word for word in words[:ends] if word.text == "-" or not word.text.startswith(marks)] + behind
    found = tuple(_find_targets(simple, operands, ground)) if operands or name == "cd" else ()
    turns = len(words) > 0 if name == "popd" else name == "pushd" and (not operands or len(words) > len(operands))
    if turns or len(operands) > 1:
        stack = (*ground.stack, ()) if name == "pushd" else ground.stack
        every = (*ground.starts, *ground.left, *(one for some in stack for one in some), *found, UNKNOWN)
        return ground.moved_to(every, (every,) * len(stack))
    if name == "popd":  # where it fails, as `pushd` did before, the shell stays where it is
        return ground.moved_to((*ground.stack[-1], *ground.starts), ground.stack[:-1])
    return ground.moved_to(found, (*ground.stack, ground.starts) if name == "pushd" else ground.stack)


def _find_targets(simple: Simple, operands: list[Word], ground: Ground) -> Iterator[str]:
    """Yield the folders that the operands may lead to, and if that is not certain, those where the shell is."""
    if not operands:
        yield from _follow(_value_for("HOME", simple, ground), ground)
    for word in operands:
        if word.text == "-":
            yield from (*(ground.left or (UNKNOWN,)), *ground.starts)
            continue
        for one in word.possible or (word,):
            names = [UNKNOWN] if UNKNOWN in one.text else ground.names(one) or [UNKNOWN]
            yield from _follow(names, ground, quoted=one.quoted)
            yield from _follow(_other_names(simple, names, ground), ground)


def _other_names(simple: Simple, names: Iterable[str], ground: Ground) -> Iterator[str]:
    """Yield what `cd` may make of names by `CDPATH`, or as variables, if a setting may have allowed that."""
    is_set = "CDPATH" in {*ground.exported, *ground.variables.known, *(one.name for one in simple.assignments)}
    searched = _value_for("CDPATH", simple, ground) if is_set else ()
    for name in names:
        yield from (os.path.join(folder or ".", name) for value in searched for folder in value.split(":"))
        yield from ground.variables.known.get(name, ()) if ground.variables.lost else ()


def _value_for(name: str, simple: Simple, ground: Ground) -> Values:
    """Return the values of a variable that a command uses, which may be set for it alone."""
    assigned = [one.value for one in simple.assignments if one.name == name]
    return values_of(assigned[-1]) if assigned else ground.value(name)


def leads_to_folder(node: Node, after: Ground) -> bool:
    """Return True for a move that succeeds as things are now: the shell is in folders that exist after it."""
    moves = isinstance(node, Simple) and node.words != () and node.words[0].source in MOVES
    return moves and all(map(os.path.isdir, after.starts))


def list_elsewhere(folder: Word | None, ground: Ground) -> Iterator[Ground]:
    """Yield the grounds for the other folders in which a wrapper may run its command; none if it stays here."""
    found = [one.path for one in ground.targets(folder)] if folder else []
    if found:
        yield ground.with_folders(found)
    if folder and (folder.dynamic or not found):
        yield ground.with_folders((UNKNOWN,))


def _follow(texts: Iterable[str], ground: Ground, *, quoted: bool = False) -> Iterator[str]:
    """Yield where paths lead, and by which names: after a link, `..` may go back to the folder that the link is in."""
    for text in texts:
        if UNKNOWN in text or not (places := ground.places(text, quoted=quoted)):
            yield from (UNKNOWN, *ground.starts)
            continue
        yield from (one.path for one in places)
        plain = text if quoted else os.path.expanduser(text)
        for one in ground.folders:  # without links on the way to where the command starts
            inside = os.path.relpath(one, ground.folder) if is_within(one, ground.folder) else ""
            yield os.path.normpath(os.path.join(find_real_path(ground.folder) if inside else one, inside, plain))
