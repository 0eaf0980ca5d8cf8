"""Says of a command line whether it tests or builds, and whether its exit code is that of the tests. Pure.

What must stay true: a command is only called a test, or called none, if the tables below know it; all others may have
tested. A doubtful exit code proves nothing.
"""

import re
import shlex
from collections.abc import Sequence
from enum import StrEnum

from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value


class Check(StrEnum):
    """A kind of check."""

    TEST = "test"
    BUILD = "build"


class Checked(Value, frozen=True):
    """The checks of a command; `may_check`: it may have checked more. `named` are the tests that it names.

    Its exit code 0 means that the checks in `decides` passed, and another one that those in `fails` did not.
    """

    checks: frozenset[Check] = frozenset()
    may_check: bool = True
    decides: frozenset[Check] = frozenset()
    fails: frozenset[Check] = frozenset()
    named: tuple[str, ...] = ()


TESTS = compile_later(
    r"(?:pytest|py\.test|unittest|nose2?|doctest|tox|nox|behave|ward|trial|stestr|jest|vitest|mocha|ava|tape|jasmine"
    r"|karma|cypress|playwright|phpunit|pest|rspec|cucumber|ctest|bats|prove|nextest|gotestsum|busted|codecept|wtr"
    r"|minitest)(?= |$)|(?:npm|pnpm|yarn|bun|composer|just|task|make|gmake|ninja|meson|hatch|pdm|mise|nx|turbo|ng"
    r"|invoke|ant|rake|rails|mvnw?|gradlew?)(?: [^ ]+)* (?:run-?)?[\w:.-]*(?:test|spec|verify)[\w:.-]*(?= |$)|(?:make"
    r"|gmake|gradlew?)(?: [^ ]+)* check(?= |$)|(?:cargo|go|swift|dotnet|flutter|dart|mix|zig|bazel|bazelisk|stack"
    r"|cabal|lein|sbt|deno)(?: -[^ ]+)* (?:test|nextest|build test)(?= |$)|(?:npm|pnpm|yarn) t(?= |$)"
    r"|node(?: -[^ ]+)* --test(?= |$)|python manage\.py test|php artisan test|gradlew?(?: -[^ ]+)* build(?= |$)"
    r"|(?:(?:python|node|ruby|perl|php|bash|sh|zsh|deno run|tsx"
    r"|ts-node)(?: -[^ ]+)* )?(?:[^ -][^ ]*/)?(?:[\w.-]*[_.-])?(?:tests?|specs?)(?:[_.-][\w.-]*)?(?= |$)"
)
"""The beginning of a command that runs tests, without what runs it (`uv run`, `npx`, `python -m`)."""
BUILDS = compile_later(
    r"(?:make|gmake)(?: -[^ ]+| \w+=[^ ]*)*(?: (?:all|build|release|debug))?$|ninja(?: -[^ ]+)*$|(?:npm|pnpm|yarn"
    r"|bun)(?: run)? [\w:.-]*(?:build|compile|bundle)[\w:.-]*(?= |$)|(?:vite|next|nuxt|astro|ng|parcel|turbo|nx|cargo"
    r"|go|swift|dotnet|zig|bazel|stack|cabal|uv|poetry|hatch|flutter|docker|gradlew?|mkdocs|hugo|mvnw?|mix|sbt"
    r"|lein)(?: -[^ ]+)* (?:build|check|compile|assemble|package|verify)(?= |$)|cmake --build|(?:tsc|webpack|rollup"
    r"|esbuild|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|javac|rustc|ghc|kotlinc|scalac|swiftc|xcodebuild|msbuild|latexmk"
    r"|pdflatex|compileall|py_compile|build)(?= |$)"
)
NEITHER = compile_later(
    r"(?:ls|cat|bat|head|tail|grep|egrep|fgrep|rg|wc|echo|printf|pwd|cd|pushd|popd|which|type|stat|file|tree|diff|cmp"
    r"|du|df|date|uname|whoami|printenv|ps|mkdir|cp|mv|rm|touch|chmod|ln|sed|awk|sort|uniq|cut|tr|sleep|export|set"
    r"|true|:|less|nl|jq|yq|basename|dirname|realpath|readlink|sha256sum|md5sum|test|\[|ruff|mypy|pyright|black|isort"
    r"|flake8|pylint|eslint|prettier|gofmt|rustfmt|shellcheck|stylelint|cargo (?:fmt|clippy)|go (?:fmt|vet)"
    r"|find(?! .*-exec| .*-ok)|git (?:-[^ ]+ )*(?:status|diff|log|show|add|branch|blame|rev-parse|ls-files|stash"
    r"|restore|checkout|switch|remote|fetch|init|config|tag|grep))(?= |$)"
)
"""Commands that neither test nor build. A commit is none of them: its hooks may test."""
_IDLE = compile_later(
    r"(?:npm|pnpm|yarn|bun|playwright|cypress|composer|pdm|hatch) (?:install|add|remove|i|ci|init|ls|view)\b"
)
_ASKS = frozenset(("--help", "-h", "--version", "--collect-only", "--co", "--list", "--listTests", "--dry-run"))
"""Options with which a program of `TESTS` runs no test."""
_RUNNER = compile_later(
    r"(?:[A-Za-z_]\w*=[^ ]*|(?:sudo|env|time|nice|nohup|command|exec|timeout|gtimeout|stdbuf|xvfb-run)(?: -[^ ]+"
    r"| [\d.]+[smh]?)*|(?:uv|poetry|pipenv|pdm|hatch|rye|bundle|coverage|conda|pnpm|npm|yarn)(?: -[^ ]+)* (?:run|exec"
    r"|dlx)(?: (?:-m|--|-[^m ][^ ]*))*|npx(?: -[^ ]+)*|bunx|yarn(?= (?:jest|vitest|mocha|ava)\b)|python -m) (?=[^ ])"
)
_KEYWORDS = frozenset(("if", "for", "while", "until", "case", "function", "select", "eval", "source", ".", "!"))


def read_command(command: str) -> Checked:
    """Say what a command line checks."""
    parts = _split(command)
    if parts is None:
        return Checked()
    kinds = [_classify(_strip(words), words) for words, _ in parts]
    checks = frozenset(kind for one in kinds if one for kind in one)
    joints, has_pipefail = [joint for _, joint in parts], "pipefail" in command
    if re.search(r"\bset -\w*e", command):
        joints = ["&&" if joint == ";" else joint for joint in joints]
    decides, fails = set[Check](), set[Check]()
    for check in checks:
        at = max(index for index, one in enumerate(kinds) if one and check in one)
        before, after = joints[:at], joints[at:-1]
        if "&" in joints:
            continue
        if "||" not in before and all(joint == "&&" or (joint == "|" and has_pipefail) for joint in after):
            decides.add(check)
        if not after or (has_pipefail and all(joint == "|" for joint in after)):
            fails.add(check)
    named = tuple(word for words, _ in parts for word in _named(words)) if Check.TEST in checks else ()
    return Checked(checks, any(one is None for one in kinds), frozenset(decides), frozenset(fails), named)


def _split(command: str) -> list[tuple[list[str], str]] | None:
    """Return the simple commands of a line, each with what joins it to the next; None for what is more than a list."""
    if "<<" in command or "$(" in command or "`" in command or len(command) >= 1000:
        return None
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=";|&()<>\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    parts: list[tuple[list[str], str]] = []
    words: list[str] = []
    skips = False
    try:
        for token in lexer:
            if skips:
                skips = False
            elif re.fullmatch(r"[<>&|]*[<>][<>&|]*", token):
                skips, words = True, words[:-1] if words and words[-1].isdigit() else words
            elif re.fullmatch(r"[;|&()\n]+", token):
                joint = re.sub(r"[()]", "", token).strip("\n") or (";" if "\n" in token else "")
                if joint and words:
                    parts.append((words, "|" if joint == "|&" else joint.rstrip("\n")))
                    words = []
            else:
                words.append(token)
    except ValueError:
        return None
    parts = [*parts, *([(words, "")] if words else [])]
    heads = {words[0] for words, _ in parts}
    return None if not parts or heads & _KEYWORDS else parts


def _strip(words: Sequence[str]) -> str:
    """Return a command as one line that begins with its program, without folders and what runs it."""
    line = " ".join(word for word in words if word not in ("{", "}"))
    while True:
        program, space, rest = line.partition(" ")
        if "=" not in program and not re.search(r"(?:^|[/_.-])(?:tests?|specs?)(?:$|[/_.-])", program):
            program = re.sub(r"^(python|pypy)[\d.]*$", "python", program.rpartition("/")[2])
        line = f"{program}{space}{rest}"
        found = _RUNNER.match(line)
        if not found or re.match(r"(?:npm|pnpm|yarn) run (?!(?:jest|vitest|mocha)\b)", line):
            return line
        line = line[found.end() :]


def _classify(line: str, words: Sequence[str]) -> frozenset[Check] | None:
    """Return what a simple command checks: nothing if it is known not to, None if it is unknown."""
    tests = bool(TESTS.match(line))
    if _IDLE.match(line) or NEITHER.match(line) or (tests and _ASKS & set(words)) or line.startswith("#"):
        return frozenset()
    checks = [Check.TEST] if tests and not re.search(r"skipTests|maven\.test\.skip", line) else []
    checks += [Check.BUILD] if BUILDS.match(line) else []
    return frozenset(checks) or None


def _named(words: Sequence[str]) -> list[str]:
    """Return the words that name tests: files, and single tests of them."""
    return [
        word for word in words if re.search(r"::|(?:^|[/_.-])(?:tests?|specs?)[/_.-]|[_.-](?:test|spec)\.\w+$", word)
    ]
