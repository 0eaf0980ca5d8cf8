"""The words of the command line, read from the parsers: commands, their actions, and the options of each."""

import argparse
from collections.abc import Iterator
from enum import StrEnum

from halocline.protocol.values import Value
from halocline.surfaces.cli.args.command_line import build_parser
from halocline.surfaces.cli.command_table import COMMANDS


class Kind(StrEnum):
    """Kind of an option's value; empty: it takes none."""

    NONE = ""
    TEXT = "text"
    FILE = "file"
    FOLDER = "folder"


class Option(Value, frozen=True):
    """An option by all its names; `choices` are its only values."""

    names: tuple[str, ...]
    text: str
    kind: Kind = Kind.NONE
    choices: tuple[str, ...] = ()


class Level(Value, frozen=True):
    """A command, or an action of one: the words that follow it, its options, and the choices of an argument.

    `path` is empty for `halo` alone.
    """

    path: tuple[str, ...]
    words: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]

    @property
    def key(self) -> str:
        return "/".join(self.path)


def list_levels() -> list[Level]:
    """Return all levels, `halo` alone first."""
    commands = tuple((name, command.text) for name, command in COMMANDS.items())
    levels = list(_read_parser(build_parser(""), ()))
    levels[0] = Level((), commands, levels[0].options)
    return levels + [level for name in COMMANDS for level in _read_parser(build_parser(name), (name,))]


def _read_parser(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Level]:
    words: list[tuple[str, str]] = []
    below: list[Level] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words += [(choice.dest, choice.help or "") for choice in action._choices_actions]
            for name, inner in action.choices.items():
                below += _read_parser(inner, (*path, name))
        elif not action.option_strings and action.choices:
            words += [(str(choice), "") for choice in action.choices]
    options = (_read_option(action) for action in parser._actions if action.option_strings)
    yield Level(path, tuple(words), tuple(option for option in options if option.text != argparse.SUPPRESS))
    yield from below


def _read_option(action: argparse.Action) -> Option:
    choices = tuple(map(str, action.choices or ()))
    return Option(tuple(action.option_strings), action.help or "", _read_kind(action), choices)


def _read_kind(action: argparse.Action) -> Kind:
    if action.nargs in (0, "?"):
        return Kind.NONE
    kinds = {"FILE": Kind.FILE, "DIR": Kind.FOLDER}
    return kinds.get(str(action.metavar), Kind.TEXT)
