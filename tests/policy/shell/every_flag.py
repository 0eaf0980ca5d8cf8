"""Every flag of every table with every kind of value, judged, and what is allowed run with the tools of this machine.

`python -m tests.policy.shell.every_flag [COUNT]` makes all forms, or COUNT of them, and prints how many were made,
allowed and run, and those that printed a canary, opened a file outside or changed something; it fails if there is one.
"""

import random
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from tests.policy.shell.canaries import Leak, Scratch

from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.policy.shell.programs.specs import Spec, Value, read_letters, read_long_flags
from halocline.policy.shell.programs.tables import READERS

SECRETS = (".env", "sub/.ENV", "id_rsa", "sub/server.pem", ".docker/config.json", ".ssh/config")
SPECS: dict[str, Spec] = {**READERS, **{f"git {name}": spec for name, spec in LOOKS.items()}}
UNTOOLED = ("sleep", "npm", "pip", "pip3", "go", "cd")
"""Programs that wait, take a second to start, or leave the folder."""
CANARIES = ("OUTSIDE", "../out/o.txt", ".env", "HOME/.ssh/id_rsa", "STATE/credentials", "link", "../out")
PLAIN = (
    "3",
    "1,2",
    "2,2n",
    "x",
    "KEY",
    "a.txt",
    "sub",
    "-",
    "--",
    "-1",
    "+2k",
    "*.txt",
    "always",
    "a=b",
    "pid,comm",
    "",
)
SHARP = ("z", "touch z", "../z", "HEAD", "HEAD:.env", ".e*", ":(icase).ENV", "-o", "-exec", "/", "~", "0777", "d")
VALUES = (*CANARIES, *PLAIN, *SHARP)
OPERANDS = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "git grep"), "KEY"),
    **dict.fromkeys(("fd", "fdfind"), "a"),
    **dict.fromkeys(("awk", "gawk", "mawk"), "'{print}' a.txt"),
    **dict.fromkeys(("comm", "join", "diff", "cmp", "paste"), "a.txt b.txt"),
    **dict.fromkeys(("git diff", "git log", "git show", "git rev-list", "git diff-tree", "git ls-tree"), "HEAD"),
    **dict.fromkeys(("basename", "dirname", "which", "type", "printf", "echo", "seq", "tr"), "3"),
    **dict.fromkeys(("uname", "whoami", "pwd", "nproc", "arch", "uptime", "free", "tty", "locale", "hostname"), ""),
    **dict.fromkeys(("lscpu", "ps", "date", "cal", "id", "groups", "true", "false", ":"), ""),
    **dict.fromkeys(("git status", "git stash", "git branch", "git tag", "git remote", "git config"), ""),
    "sed": "p a.txt",
    "jq": ". p.json",
    "find": ".",
    "git range-diff": "HEAD~1..HEAD HEAD~1..HEAD",
    "git diff-index": "HEAD",
    "git blame": "a.txt",
}


def _flags(name: str, spec: Spec) -> list[tuple[str, Value | None]]:
    """Each flag of a table, as it is written, with its value."""
    dash = "-" if spec.single else "--"
    letters = [(f"-{letter}", None) for letter in spec.flags]
    valued = [(f"-{letter}", value) for letter, value in read_letters(spec.valued).items()]
    return [*letters, *valued, *((f"{dash}{word}", value) for word, value in read_long_flags(spec.words).items())]


def _spellings(flag: str, value: str, spec: Spec) -> Iterator[str]:
    """A flag with its value in each way that people write it."""
    text = shlex.quote(value) if value and set(value) - set("*?[]~") == set(value) else (value or "''")
    yield f"{flag} {text}"
    if spec.single or flag.startswith("--"):
        yield f"{flag}={text}"
    else:
        yield f"{flag}{text}"


def make_forms(name: str, spec: Spec) -> Iterator[str]:
    """Every flag alone, with every value, and with every valued flag that is given a canary."""
    rest = OPERANDS.get(name, "a.txt")
    front, back = (f"{name} {rest}", "") if name == "find" else (name, f" {rest}")
    flags = _flags(name, spec)
    valued = [flag for flag, value in flags if value]
    for flag, value in flags:
        yield f"{front} {flag}{back}"
        for text in VALUES if value else CANARIES:
            yield from (f"{front} {one}{back}" for one in _spellings(flag, text, spec))
        if value:
            yield from (f"{front} {flag} {text} {other}{back}" for text, (other, _) in zip(VALUES, flags, strict=False))
    for (flag, _), other in product(flags, valued):
        yield f"{front} {flag} {other} OUTSIDE{back}"
    yield from (f"{front} {text}{back}" for text in VALUES)


def place(form: str, scratch: Scratch) -> str:
    """The form with the real places of the canaries."""
    for mark, folder in (("OUTSIDE", scratch.outside / "o.txt"), ("HOME", scratch.home), ("STATE", scratch.state)):
        form = form.replace(mark, str(folder))
    return form


def all_forms() -> list[str]:
    """The forms of every table whose tool is installed, each once."""
    specs = {name: spec for name, spec in SPECS.items() if name.split()[0] not in UNTOOLED}
    return list(dict.fromkeys(form for name, spec in specs.items() for form in make_forms(name, spec)))


def sample_forms(count: int, seed: str) -> list[str]:
    """Some of all forms, with some of two flags that both have values; the same for a seed."""
    chance = random.Random(seed)
    forms = chance.sample(all_forms(), count * 3 // 4)
    names = [name for name in SPECS if name.split()[0] not in UNTOOLED]
    while len(forms) < count:
        name = chance.choice(names)
        words = [_random_flag(chance, name, SPECS[name]) for _ in range(chance.choice((2, 2, 3)))]
        forms.append(" ".join((name, *words, chance.choice(VALUES[:-1]) or "''", OPERANDS.get(name, "a.txt"))))
    return forms


def _random_flag(chance: random.Random, name: str, spec: Spec) -> str:
    flags = _flags(name, spec)
    if not flags:
        return chance.choice(CANARIES)
    flag, value = chance.choice(flags)
    return chance.choice(list(_spellings(flag, chance.choice(VALUES), spec))) if value else flag


def run_forms(forms: list[str], scratch: Scratch) -> tuple[int, list[Leak]]:
    """How many forms are allowed unasked, and which of them leak when they are run."""
    canonical: dict[str, str] = {}
    for form in forms:
        decision = scratch.judge(place(form, scratch))
        if decision.verdict == "allow" and decision.canonical is not None:
            canonical[decision.canonical] = form
    return len(canonical), [
        Leak(canonical[leak.form], f"{leak.fault}: {leak.form}") for leak in _run(canonical, scratch)
    ]


def _run(canonical: dict[str, str], scratch: Scratch) -> list[Leak]:
    return scratch.leaks(list(canonical))


def main() -> int:
    forms = sample_forms(int(sys.argv[1]), "flags") if len(sys.argv) > 1 else all_forms()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(Path(folder).resolve() / "s", SECRETS)
        count, leaks = run_forms(forms, scratch)
    missing = sorted({name.split()[0] for name in SPECS if not shutil.which(name.split()[0])})
    sys.stdout.write(f"made {len(forms)}, allowed and run {count}, leaks {len(leaks)}\n")
    sys.stdout.write(f"not installed here: {' '.join(missing)}\n")
    sys.stdout.writelines(f"{leak.form}\n    {leak.fault[:300]}\n" for leak in leaks[:50])
    return 1 if leaks else 0


if __name__ == "__main__":
    raise SystemExit(main())
