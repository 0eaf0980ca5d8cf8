import pytest
from msgspec.structs import replace
from tests.tables import for_each

from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.runner_options import HARMLESS, follows_harmlessly
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Grant, Mode, ToolKind
from halocline.protocol.permission_rules import Rest, Rule, RuleBook, Source, Verdict

BEGUN = (
    *(
        "make test",
        "npm test",
        "npm run test",
        "pytest",
        "cargo test",
        "go test",
        "ruff check",
        "eslint",
        "tox",
        "jest",
    ),
    *("gradle test", "mvn test", "just test"),
)
STEERED = [
    *("make test SHELL=./h", "make test --eval=x:;h", "make test -f h", "make test -C x", "make test deploy"),
    *("make test CC=./h", "make test --include-dir=x", "make test -I x", "make test .SHELLFLAGS=h", "make test a::=b"),
    *("npm test -- --x", "npm test --prefix x", "npm test --script-shell=./h", "npm run test -- --config=h"),
    *("pytest -p evil", "pytest -c evil.ini", "pytest --rootdir=x", "pytest -o x=y", "pytest @args", "pytest -pevil"),
    *("pytest --confcutdir=x", "pytest --pdbcls=a:b", "pytest --import-mode=x", "PYTHONPATH=x pytest", "A=1 make test"),
    *("cargo test --config x", "cargo test -Z x", "cargo test --manifest-path x", "cargo test --target-dir x"),
    *(
        "go test -exec ./h",
        "go test -exec=./h",
        "go test -toolexec ./h",
        "go test -vet=x",
        "go test -o x",
        "go test -C x",
    ),
    *("ruff check --config h", "ruff check --config=h", "eslint --rulesdir h", "eslint -c h", "eslint --plugin h"),
    *("eslint --resolve-plugins-relative-to h", "tox -c h", "tox --override x=y", "jest --config h", "jest --runner h"),
    *("jest --setupFiles h", "gradle test -I h", "gradle test -b h", "gradle test -Dx=y", "gradle test deploy"),
    *(
        "mvn test -f h",
        "mvn test -Dexec=h",
        "mvn test deploy",
        "just test deploy",
        "just test --shell ./h",
        "just test A=b",
    ),
    *(
        "make test && h",
        "make test; h",
        "make test > h",
        "just test A=b",
        "make test | sh",
        "make test $(h)",
        "make test $H",
    ),
]
MEANT = [
    *(
        "make test",
        "make test -j4",
        "make test -j 4",
        "make test -s",
        "npm test",
        "npm test src/a.test.js",
        "npm run test a",
    ),
    *(
        "pytest",
        "pytest -q",
        "pytest -q tests/a.py::test_b",
        "pytest -x -k name",
        "pytest --maxfail=1 --tb=short tests",
    ),
    *(
        "cargo test",
        "cargo test name --release",
        "cargo test -p x",
        "go test ./...",
        "go test -v -run X ./a",
        "mvn test -q",
    ),
    *("ruff check src", "ruff check --fix .", "eslint src --fix", "tox -e py312", "jest -t name src/a"),
    *(
        "gradle test --info",
        "mvn test -q",
        "npm run test a",
        "pytest --maxfail=1 --tb=short tests",
        "pytest | tail -5",
        "cd src && pytest",
        "pytest 2>&1 | head",
    ),
]


def context_in(tmp_path, **more):
    return PolicyContext(tmp_path, tmp_path.parent / "home", Mode.ACT, ApprovalMode.ASK, **more)


def verdict(command, where):
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), where).verdict


@pytest.fixture
def granted(tmp_path):
    (tmp_path / "src").mkdir()
    return context_in(tmp_path, grants=frozenset(Grant(ToolKind.EXECUTE, argv=tuple(one.split())) for one in BEGUN))


@pytest.fixture
def kept(tmp_path):
    rule = Rule(Verdict.ALLOW, kinds=(ToolKind.EXECUTE,), source=Source.GRANT)
    return context_in(tmp_path, book=RuleBook(tuple(replace(rule, argv=tuple(one.split())) for one in BEGUN)))


def test_a_wider_grant_is_none_for_options_and_assignments(granted, kept):
    assert [one for one in STEERED if Verdict.ALLOW in (verdict(one, granted), verdict(one, kept))] == []


def test_a_wider_grant_covers_what_the_command_works_on(granted, kept):
    assert [one for one in MEANT if {verdict(one, granted), verdict(one, kept)} != {Verdict.ALLOW}] == []


@for_each("program", HARMLESS)
def test_every_unlisted_option_of_a_runner_asks(program):
    for option in ("--evil", "--evil=x", "-Z", "-Zx", "A=b", "@x", "--", "+x"):
        assert not follows_harmlessly((program, "task", option), 2), option


def test_operands_of_a_rule_are_no_assignments(tmp_path):
    rule = Rule(Verdict.ALLOW, argv=("make", "test"), rest=Rest.OPERANDS)
    where = context_in(tmp_path, book=RuleBook((rule,)))
    assert verdict("make test a", where) is Verdict.ALLOW
    assert verdict("make test SHELL=./h", where) is Verdict.ASK
    free = replace(where, book=RuleBook((replace(rule, rest=Rest.ANY),)))
    assert verdict("make test SHELL=./h", free) is Verdict.ALLOW


def test_every_question_says_that_a_file_of_rules_cannot_be_read(tmp_path):
    where = context_in(tmp_path, book=RuleBook(problems=("policy.toml is no TOML",)))
    calls = (
        Summary("x", ToolKind.EXECUTE, command="make"),
        Summary("x", ToolKind.EXECUTE, command="ls"),
        Summary("x", ToolKind.EDIT, ("a",)),
        Summary("x", ToolKind.READ, ("a",)),
        Summary("x", ToolKind.FETCH, url="https://example.com"),
    )
    decisions = [decide_call(call, where) for call in calls]
    assert [one.verdict for one in decisions] == [Verdict.ASK] * len(calls)
    assert all("policy.toml is no TOML" in one.reason for one in decisions)
