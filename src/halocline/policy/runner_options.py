"""What may follow the words of a wider grant: names of files and tests, and options that are known to be harmless.

An option or an assignment of a runner may make it run another program (`make SHELL=…`, `pytest -p …`, `npm test -- …`),
so those that are not listed are asked about.
"""

import re
from collections.abc import Sequence

HARMLESS = {
    "pytest": "-q -qq -v -vv -vvv -x -s -l --lf --ff --sw --co --last-failed --failed-first --exitfirst --no-header "
    "--maxfail --tb -k -m -n --durations -ra -rA -rf -rs --collect-only --no-summary --showlocals --stepwise",
    "make": "-s -k -n -j -B -i -q --silent --keep-going --dry-run --jobs --always-make --no-print-directory",
    "cargo": "-q -v -vv -j -p --release --all --workspace --lib --bins --bin --test --tests --example --examples "
    "--all-targets --all-features --no-default-features --features --no-run --no-fail-fast --quiet --verbose "
    "--locked --offline --package --check",
    "go": "-v -race -count -run -short -cover -failfast -bench -benchmem -timeout -parallel -tags",
    "npm": "-s --silent --if-present",
    "pnpm": "-s --silent --if-present -r --recursive",
    "yarn": "-s --silent",
    "ruff": "--fix --diff --quiet -q -v --check --select --ignore --statistics --no-cache",
    "mypy": "--strict -v --pretty --no-error-summary --show-error-codes",
    "eslint": "--fix --quiet --max-warnings --ext --cache",
    "prettier": "--write --check -w -c -l --list-different",
    "tsc": "--noEmit --watch -w --pretty -b --build",
    "jest": "-t -i --watch --coverage --verbose --runInBand --silent --ci -u --testNamePattern --bail",
    "vitest": "-t --run --coverage --watch --reporter --bail --ui --silent",
    "gradle": "-q -i --info --offline --tests --parallel --no-daemon --stacktrace --continue",
    "mvn": "-q -o -B -e --offline --batch-mode --no-transfer-progress -ntp",
    "tox": "-e -p -q -v -r",
    "cmake": "--build --parallel -j --target --config --verbose",
    "pyright": "--stats --verbose --warnings",
    "just": "-q -n --dry-run --quiet",
}
"""By program; their values, glued on or behind, are names."""
ONE_TASK = frozenset({"make", "gmake", "gradle", "mvn", "just"})
"""Programs of which further operands are other tasks."""
_ASSIGNS = re.compile(r"[A-Za-z_][\w.]*[:+?!]*=")
_GLUED = re.compile(r"(-[a-zA-Z])\w+")


def is_operand(word: str) -> bool:
    """Whether a word names something: it is no option, no assignment, and no file of further words."""
    return not (word.startswith(("-", "+", "@")) or _ASSIGNS.match(word))


def follows_harmlessly(words: Sequence[str], begun: int) -> bool:
    """Whether what stands behind the first words of a command only says what they work on."""
    program, rest = words[0].rpartition("/")[2], list(words[begun:])
    harmless, takes_tasks = HARMLESS.get(program, "").split(), program not in ONE_TASK
    while rest:
        word = rest.pop(0)
        if is_operand(word):
            if not takes_tasks:
                return False
            continue
        flag = word.partition("=")[0]
        glued = _GLUED.fullmatch(word)
        if flag not in harmless and not (glued and glued[1] in harmless and glued[1] in ("-j", "-n", "-k")):
            return False
        if not takes_tasks and rest and rest[0].isdecimal():
            rest.pop(0)  # `-j 4`
    return True
