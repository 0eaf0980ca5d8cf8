"""The command line as a whole: its first word chooses the parser."""

import argparse

from halocline.protocol.errors import UsageError
from halocline.surfaces.cli import args
from halocline.surfaces.cli.args.parser import Parser
from halocline.surfaces.cli.command_table import CHAT, COMMANDS
from halocline.surfaces.lazy_functions import load_function


def build_parser(command: str) -> Parser:
    """Build the parser of a command; empty for `halo [prompt]`."""
    name = f"{COMMANDS.get(command, CHAT).arguments}:{command.replace('-', '_') or 'chat'}_parser"
    parser: Parser = load_function(name)()
    return parser


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Read the command line. Raises UsageError."""
    command = argv[0] if argv and argv[0] in COMMANDS else ""
    arguments = build_parser(command).read(argv[1:] if command else argv)
    if not command and "--" not in argv:
        _refuse_commands(arguments.prompt)
    arguments.command = command
    return arguments


def _refuse_commands(prompt: list[str]) -> None:
    """Raise UsageError for a prompt that looks like a command for `halo`, instead of sending it to a model."""
    if not prompt:
        return
    first, as_prompt = prompt[0], f'To send it as a prompt: halo run "{" ".join(prompt)}"'
    if first in COMMANDS and COMMANDS[first].is_verb:
        return
    if first in COMMANDS:
        raise UsageError(f"The command {first} must come first.", f"Use: halo {first} … {as_prompt}")
    ours = args.foreign_words.find_command(prompt)
    if ours is None and (near := _nearest_command(first)):
        ours = f"halo {near}"
    if ours is not None:
        raise UsageError(f"Unknown command {first!r}.", f"Did you mean: {ours}? {as_prompt}" if ours else as_prompt)


def _nearest_command(word: str) -> str:
    """The command most similar to `word`; empty when none is close."""
    from difflib import get_close_matches

    names = [name for name, command in COMMANDS.items() if not command.is_verb]
    return next(iter(get_close_matches(word, names, n=1, cutoff=0.8)), "")
