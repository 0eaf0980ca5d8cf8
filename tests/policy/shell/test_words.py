import os
import random
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.samples import choose

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.shell.expansion import expand_simple
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.policy.shell.syntax.tree import Simple
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.variables import Variables
from halocline.protocol.kinds import ApprovalMode, Mode

WORDS = int(os.environ.get("BASH_WORDS", choose(3000, 1000)))
"""How many random words are expanded by us and by bash."""
FOLDER = Path(__file__).parents[1] / "commands"
PIECES = (
    *("a", "b", "-", "1", "{", "}", ",", "..", "{a,b}", "{1..3}", "{c..a}", "{01..3}", "{a,b{c,d}}", "{a", "b}"),
    *("{}", "{,}", "'x y'", "''", '"x y"', '""', "'{a,b}'", '"{a,b}"', "\\{", "\\,", "\\'", '\\"', "\\\\", "\\ "),
    *("\\\n", '"\\\n"', "'\\\n'", "$'a\\tb'", "$'\\x41'", "$'\\101'", "$'\\u00e9'", "$'\\cA'", "$'\\''"),
    *("$'\\\\'", "$'\\q'", "$'a\\0b'", "$'\\xg'", '$"l"', "$x", '"$x"', "${x}", "$e", '"$e"', "${e:-d}"),
    *("${x:+p}", "${u-n}", '"${u:-a b}"', "${x%e}", "${x#o}", "${x##*o}", "${x%% *}", "~", "~/", ":", "=", "/"),
    *("#", "%", "+", "@", "!", "^", "$", '"\\$x"', '"\\a"', '"`"\'"', "é", "$(echo s)", "$(printf %s q)"),
    *("`echo t`", '"$(echo u v)"', "$(echo y z)", "${#x}", "\"${x}\"'s'", "$(pwd)", "$(dirname a/b)"),
    *("$(basename a/b)", "$(seq 3)"),
)


@pytest.fixture
def ground(tmp_path):
    variables = Variables({"x": ("one two",), "e": ("",), "u": ("",)})
    where = (tmp_path, tmp_path / "home", str(tmp_path), LocalShellFacts({}), Mode.ACT, ApprovalMode.ASK)
    return Ground(*where, starts=(str(tmp_path),), variables=variables)


def random_words(seed, count):
    chance = random.Random(seed)
    return ["".join(chance.choices(PIECES, k=chance.choice((1, 1, 2, 2, 3, 4, 5)))) for _ in range(count)]


def expanded(word, ground):
    """What a program would get for a word; None when that is not certain."""
    try:
        simple = parse_command(f"p {word}\n")
    except NotUnderstood:
        return None
    if not isinstance(simple, Simple) or simple.redirects:
        return None
    values = [one.value for one in expand_simple(simple, ground).words[1:]]
    return None if None in values else values


def of_bash(words, folder):
    """What bash makes of each; None of one that it does not understand."""
    lines = "".join(f"printf '%s\\0' {word}\nprintf '\\1'\n" for word in words)
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc"],
        input=f"x='one two' e= u=\n{lines}".encode(),
        cwd=folder,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    return [part.split("\0")[:-1] for part in ran.stdout.decode(errors="surrogateescape").split("\1")[:-1]]


@pytest.mark.process
def test_words_are_expanded_as_bash_expands_them(ground, tmp_path):
    words = random_words(os.environ.get("BASH_WORDS_SEED", "halocline"), WORDS)
    known = [(word, ours) for word in words if "\\cA" not in word and (ours := expanded(word, ground)) is not None]
    theirs = of_bash([word for word, _ in known], tmp_path)
    assert len(theirs) == len(known)
    pairs = zip(known, theirs, strict=True)
    wrong = [(word, ours, bash) for (word, ours), bash in pairs if (ours or [""]) != bash]
    assert wrong == []
    assert len(known) > WORDS / 2


def corpus():
    for path in sorted(FOLDER.glob("*.toml")):
        groups = tomllib.loads(path.read_text(encoding="utf-8"))
        yield from (command for group in groups.values() if isinstance(group, dict) for command in group["commands"])


def tree_of(text):
    try:
        return repr(parse_command(text))
    except NotUnderstood:
        return None


def test_every_character_of_a_command_is_in_its_tree():
    lost = []
    for text in sorted(set(corpus()))[::3]:
        whole = tree_of(text)
        for at, char in enumerate(text if whole else ""):
            other = "b" if char == "a" else "a"
            is_comment = text[:at].count(" #") or text.startswith("#")
            if char not in " \t\n\\" and not is_comment and tree_of(f"{text[:at]}{other}{text[at + 1 :]}") == whole:
                lost.append((text, at))
    assert lost == []
