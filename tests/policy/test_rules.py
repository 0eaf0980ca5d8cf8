import pytest

from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Grant, Mode, ToolKind
from halocline.protocol.permission_rules import Place, Rest, Rule, RuleBook, Source, Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "w" / "src").mkdir(parents=True)
    return tmp_path / "w"


def judged(workspace, call, *rules, mode=Mode.ACT, approval_mode=ApprovalMode.ASK, grants=(), **book):
    home = workspace.parent / "home"
    posture = PolicyContext(workspace, home, mode, approval_mode, frozenset(grants), book=RuleBook(rules, **book))
    return decide_call(call, posture)


def edit(*paths):
    return Summary("edit", ToolKind.EDIT, paths, tool="write_to_file")


def read(*paths):
    return Summary("read", ToolKind.READ, paths, tool="read_file")


def fetch(url):
    return Summary("fetch", ToolKind.FETCH, url=url, tool="web_fetch")


def execute(command):
    return Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command")


@pytest.mark.parametrize(
    ("rule", "met", "not_met"),
    [
        (Rule(DENY, tools=("write_to_file",)), edit("a"), read("a")),
        (Rule(DENY, tools=("write_*",)), edit("a"), read("a")),
        (Rule(DENY, kinds=(ToolKind.EDIT,)), edit("a"), read("a")),
        (Rule(DENY, paths=("src/*.py",)), edit("src/a.py"), edit("src/a.md")),
        (Rule(DENY, paths=("src/",)), edit("src/b/a.py"), edit("a.py")),
        (Rule(DENY, paths=("*.lock", "!keep.lock")), edit("x.lock"), edit("x.py")),
        (Rule(DENY, paths=("/etc/",)), read("/etc/hosts"), read("/usr/x")),
        (Rule(DENY, places=(Place.SECRET,)), read(".env"), read("env")),
        (Rule(DENY, hosts=("*.example.com",)), fetch("https://a.example.com/x"), fetch("https://example.com/x")),
        (Rule(DENY, hosts=("example.com",)), fetch("https://EXAMPLE.com:8443/"), fetch("https://example.com.evil.io/")),
        (Rule(DENY, modes=(Mode.PLAN,), kinds=(ToolKind.READ,)), None, read("a")),
        (Rule(DENY, workspace="/elsewhere"), None, edit("a")),
    ],
)
def test_a_rule_speaks_only_of_what_meets_all_its_conditions(workspace, rule, met, not_met):
    assert met is None or judged(workspace, met, rule).verdict is DENY
    assert judged(workspace, not_met, rule).verdict is not DENY


def test_what_one_source_denies_none_allows(workspace):
    deny = Rule(DENY, "no-lock", "the lock file is made by a tool", paths=("*.lock",), source=Source.PROJECT)
    allow = Rule(ALLOW, paths=("*",), source=Source.MANAGED)
    decision = judged(
        workspace, edit("a.lock"), allow, deny, approval_mode=ApprovalMode.YOLO, grants=[Grant(ToolKind.EDIT)]
    )
    assert (decision.verdict, decision.rule, decision.reason) == (DENY, "no-lock", "the lock file is made by a tool")


@pytest.mark.parametrize(("source", "verdict"), [(Source.MANAGED, ASK), (Source.USER, ALLOW), (Source.PROJECT, ALLOW)])
def test_a_grant_lifts_a_question_but_not_the_administrators(workspace, source, verdict):
    asks = Rule(ASK, "look", kinds=(ToolKind.EDIT,), source=source)
    assert judged(workspace, edit("a"), asks, grants=[Grant(ToolKind.EDIT)]).verdict is verdict


def test_a_question_of_a_person_holds_against_their_own_leave_and_in_yolo(workspace):
    rules = (Rule(ALLOW, kinds=(ToolKind.EDIT,)), Rule(ASK, "care", paths=("src/",)))
    assert judged(workspace, edit("src/a"), *rules, approval_mode=ApprovalMode.YOLO).rule == "care"
    assert judged(workspace, edit("a"), *rules).verdict is ALLOW


@pytest.mark.parametrize("path", ["../x", ".env", ".git/hooks/pre-commit"])
def test_leave_without_paths_stays_out_of_places_that_need_care(workspace, path):
    assert judged(workspace, edit(path), Rule(ALLOW, kinds=(ToolKind.EDIT,))).verdict is ASK
    named = Rule(ALLOW, kinds=(ToolKind.EDIT,), paths=("*", "/**"))
    assert judged(workspace, edit(path), named).verdict is ALLOW


def test_no_rule_opens_own_state_or_lets_plan_mode_write(workspace):
    everything = Rule(ALLOW, paths=("/**", "*"), source=Source.MANAGED)
    assert judged(workspace, read(str(workspace.parent / "home" / "x")), everything).rule == "own-state"
    assert judged(workspace, edit("a"), everything, mode=Mode.PLAN).rule == "plan-mode"


def test_ignored_files_are_refused_with_advice(workspace):
    decision = judged(workspace, read("secret/a.txt"), ignored=("secret/", "!open"), approval_mode=ApprovalMode.YOLO)
    assert (decision.verdict, decision.rule) == (DENY, "ignored")
    assert decision.reason.startswith("secret/a.txt is hidden by an ignore file")
    assert judged(workspace, read("secret"), ignored=("secret/",)).verdict is DENY
    assert judged(workspace, read("src/a"), ignored=("secret/",)).verdict is ALLOW
    assert judged(workspace, read(".clineignore"), ignored=("secret/",)).verdict is DENY


def test_an_ignored_file_is_not_reached_through_a_link(workspace):
    (workspace / "secret").mkdir()
    (workspace / "way").symlink_to("secret")
    assert judged(workspace, read("way/a.txt"), ignored=("secret/",)).rule == "ignored"


def test_while_a_file_of_rules_cannot_be_read_nothing_is_allowed_unasked(workspace):
    problem = "policy.toml cannot be read: x."
    decision = judged(workspace, read("a"), approval_mode=ApprovalMode.YOLO, problems=(problem,))
    assert (decision.verdict, decision.reason) == (ASK, problem)
    assert judged(workspace, Summary("q", ToolKind.OTHER), problems=(problem,)).verdict is ALLOW


@pytest.mark.parametrize(
    ("rest", "words", "met"),
    [
        (Rest.ANY, "make test -j4", True),
        (Rest.OPERANDS, "make test -j4", False),
        (Rest.OPERANDS, "make test all", True),
        (Rest.NONE, "make test all", False),
        (Rest.NONE, "make lint", True),
        (Rest.ANY, "make", False),
        (Rest.ANY, "gmake test", False),
    ],
)
def test_the_words_of_a_command_are_compared_one_by_one(rest, words, met):
    from halocline.store.permissions.examples import failing_example

    rule = Rule(ALLOW, argv=("make", ("test", "lint")), rest=rest)
    assert (failing_example(rule, [words], []) == "") is met
    assert (failing_example(rule, [], [words]) == "") is not met


def allow(*words, rest=Rest.ANY):
    return Rule(ALLOW, argv=words, rest=rest, source=Source.USER)


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("npm run test", ALLOW),
        ("npm run test -- --watch", ALLOW),
        ("cat package.json && npm run test | tail -5", ALLOW),
        ("npm run test; npm publish", ASK),
        ("npm run test > ../elsewhere", ASK),
        ("npm run test $(npm publish)", ASK),
        ("env A=1 npm run test", ALLOW),
        ("npm", ASK),
        ("npm run test; rm -rf /", DENY),
    ],
)
def test_leave_for_a_command_is_for_every_part_or_for_none(workspace, command, verdict):
    assert judged(workspace, execute(command), allow("npm", "run", "test")).verdict is verdict
    grant = Grant(ToolKind.EXECUTE, argv=("npm", "run", "test"))
    exact = "--watch" in command or command.startswith("env")  # a grant is for these words, and what they work on
    granted = ASK if exact else verdict
    assert judged(workspace, execute(command), grants=[grant]).verdict is granted


def test_a_rule_for_a_command_covers_the_script_that_only_runs_it_and_a_grant_does_not(workspace):
    script = execute("sh -c 'npm run test'")
    assert judged(workspace, script, allow("npm", "run", "test")).verdict is ALLOW
    grant = Grant(ToolKind.EXECUTE, argv=("npm", "run", "test"))
    assert judged(workspace, script, grants=[grant]).verdict is ASK


@pytest.mark.parametrize(
    "command", ["npm publish", "ls; npm publish", "env A=1 npm publish", "sh -c 'npm publish'", "timeout 5 npm publish"]
)
def test_a_denied_command_is_denied_wherever_it_stands(workspace, command):
    deny = Rule(DENY, "no-publish", argv=("npm", "publish"))
    decision = judged(workspace, execute(command), deny, approval_mode=ApprovalMode.YOLO)
    assert (decision.verdict, decision.rule) == (DENY, "no-publish")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("pytest -q tests", ("pytest",)),
        ("npm run test -- -x", ("npm", "run", "test")),
        ("ls && make check", ("make", "check")),
        ("make -j4 check", None),
        ("bash run.sh", None),
        ("npx cowsay", None),
        ("make a; make b", None),
        ("pytest > ../out", None),
    ],
)
def test_more_is_offered_only_where_the_first_words_say_what_is_done(workspace, command, words):
    wider = judged(workspace, execute(command)).wider
    assert wider == (Grant(ToolKind.EXECUTE, argv=words) if words else None)


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("cat secret/a", DENY),
        ("python tool.py secret/a", DENY),
        ("echo x > secret/a", DENY),
        ("cat open/a", ALLOW),
        ("grep -r needle .", ASK),  # nothing is known of the files there
        ("rg needle", ASK),
        ("git show", ALLOW),
        ("git status", ALLOW),
        ("git show HEAD:secret/a", DENY),
        ("tar cf out.tar .", ASK),
        ("cp -r . ../copy", ASK),
    ],
)
def test_commands_do_not_show_what_ignore_files_hide(workspace, command, verdict):
    assert judged(workspace, execute(command), ignored=("secret/",)).verdict is verdict
