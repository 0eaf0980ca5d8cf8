"""Real bash is the judge of what `echo` and `printf` print; all texts of a run go through one bash."""

import random
import shlex
import subprocess

import pytest

from halocline.policy.shell.values.printed_texts import print_text

pytestmark = pytest.mark.process
PIECES = [*"a/ '\"é-", ".git", r"\n", r"\x41", r"\101", r"\0101", r"\\", r"\t", "%s", "%b", "%.2s", "%%"]
END = "\x01"


def made_texts(seed: int) -> list[list[str]]:
    chance = random.Random(seed)

    def make_word() -> str:
        return "".join(chance.choices(PIECES, k=chance.randint(1, 4)))

    words = [[make_word() for _ in range(chance.randint(1, 4))] for _ in range(400)]
    names = (["echo"], ["echo", "-e"], ["echo", "-n"], ["printf", "--"])
    return [[*chance.choice(names), *one] for one in words if not one[0].startswith("-")]


def print_by_bash(commands: list[list[str]]) -> list[str]:
    script = "\n".join(f"{shlex.join(one)}; printf '{END}'" for one in commands)
    printed = subprocess.run(["bash", "-c", script], env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=False).stdout
    return printed.decode("utf-8", "replace").split(END)[:-1]


@pytest.mark.parametrize("seed", range(3))
def test_the_text_is_the_one_that_bash_prints(seed: int) -> None:
    commands = made_texts(seed)
    found = zip(commands, print_by_bash(commands), strict=True)
    assert [(one, printed) for one, printed in found if not tells(print_text(one), printed)] == []


def tells(found: str, printed: str) -> bool:
    """`echo` without flags may print either text, as shells differ about backslashes."""
    return printed.strip("\n") in (found.strip("\n"), found[: len(printed.rstrip("\n"))].strip("\n"))


def test_a_format_that_needs_no_argument_ends() -> None:
    assert print_text(["printf", "x", "a", "b"]) == "x"
    assert len(print_text(["printf", "%s" * 10, *("y" * 30_000,) * 1000])) < 500_000
