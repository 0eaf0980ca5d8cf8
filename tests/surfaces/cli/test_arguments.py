import argparse
import re

import pytest
from tests.tables import for_each

from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.args.command_line import build_parser, parse_arguments
from halocline.surfaces.cli.args.foreign_words import COMMANDS as FOREIGN_COMMANDS, FLAGS, HINTS
from halocline.surfaces.cli.command_table import COMMANDS as OUR_COMMANDS

COMMANDS = ["", "run", "explain", "fix", "improve"]
WORDS_OF = {"": "prompt", "run": "prompt"}


def flags_of(command: str) -> list[str]:
    actions = build_parser(command)._actions
    return [flag for action in actions for flag in action.option_strings]


def read(command: str, *words: str) -> argparse.Namespace:
    return parse_arguments([*([command] if command else []), *words])


@pytest.mark.parametrize("command", COMMANDS)
def test_behind_two_dashes_every_flag_is_a_word(command: str) -> None:
    bare = vars(read(command, "--", "a"))
    takes_words = WORDS_OF.get(command, "file")
    for flag in flags_of(command):
        read_so = vars(read(command, "--", flag, "a"))
        assert read_so == bare | {takes_words: [flag, "a"]}


def test_flags_before_two_dashes_count_and_further_dashes_are_words() -> None:
    arguments = read("run", "-y", "explain", "-m", "x/y", "--", "this", "--", "-p")
    assert (arguments.prompt, arguments.yolo, arguments.print) == (["explain", "this", "--", "-p"], True, False)


def test_a_flag_with_an_optional_value_takes_none_behind_two_dashes() -> None:
    arguments = read("", "-r", "--", "hi")
    assert (arguments.resume, arguments.prompt) == ("", ["hi"])


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("run", "--base-ulr", "x", "hi"), "--base-url"),
        (("tasks", "lst"), "list"),
        (("tasks", "list", "--serach", "x"), "--search"),
        (("run", "--output-format", "jsn", "hi"), "json"),
        (("run", "--quite-another", "hi"), ""),
    ],
)
def test_a_wrong_flag_or_choice_is_answered_with_the_one_that_was_probably_meant(
    words: tuple[str, ...], meant: str
) -> None:
    with pytest.raises(UsageError) as raised:
        parse_arguments([*words])
    assert ("Did you mean" in raised.value.hint, f"Did you mean {meant}?" in raised.value.hint) == (
        bool(meant),
        bool(meant),
    )


@for_each(
    "theirs, ours",
    [
        ([flag, value], words.split())
        for flag, values in FLAGS.items()
        if not isinstance(values, str)
        for value, words in values.items()
    ]
    + [([flag], ours.split()) for flag, ours in FLAGS.items() if isinstance(ours, str)],
)
def test_a_flag_of_another_program_is_ours_in_other_words(theirs: list[str], ours: list[str]) -> None:
    taken = next(one for one in build_parser("run")._actions if ours[0] in one.option_strings)
    value = (
        {"--max-steps": ["3"], "--max-cost": ["0.5"], "--thinking-budget": ["2000"], "--effort": ["high"]}.get(
            ours[0], ["x"]
        )
        if len(ours) == 1 and taken.nargs != 0
        else []
    )
    assert vars(read("run", *theirs, *value, "go")) == vars(read("run", *ours, *value, "go"))
    if len(theirs) == 2 or value:
        assert read("run", f"{theirs[0]}={[*theirs, *value][1]}", "go") == read("run", *ours, *value, "go")


@for_each("flag", HINTS)
def test_a_flag_that_is_none_of_ours_says_what_to_do_instead(flag: str) -> None:
    for words in ([flag, "go"], [f"{flag}=1", "go"]):
        with pytest.raises(UsageError) as raised:
            read("run", *words)
        assert raised.value.hint == HINTS[flag]
    named = re.findall(r"(?<!\S)--[a-z][a-z-]+", HINTS[flag])
    assert set(named) <= {*flags_of("run"), "--profile"}


def test_no_flag_of_ours_is_taken_for_one_of_another_program() -> None:
    ours = {flag for command in COMMANDS for flag in flags_of(command)}
    assert not ours & {*FLAGS, *HINTS}
    assert not FLAGS.keys() & HINTS.keys()


@for_each("word", FOREIGN_COMMANDS)
def test_a_command_of_another_program_starts_no_task(word: str) -> None:
    assert word not in OUR_COMMANDS
    for words in ([word], [word, "list"]):
        with pytest.raises(UsageError) as raised:
            read("", *words)
        assert f'To send it as a prompt: halo run "{" ".join(words)}"' in raised.value.hint
        assert FOREIGN_COMMANDS[word] in raised.value.hint
    if word != "exec":  # a prompt follows that command
        assert read("", word, "the", "readme").prompt == [word, "the", "readme"]
    assert read("run", word).prompt == [word]
