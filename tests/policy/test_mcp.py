import pytest

from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.mcp import is_one_of, rules_of, tool_name
from halocline.policy.presets import AutoApprove, rules_of as rules_of_switches
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Grant, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Source, Verdict
from halocline.store.permissions.rule_files import RuleFiles
from halocline.store.permissions.rules import Unreadable, read_rules

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
ISSUES, SEARCH = tool_name("github", "create_issue"), tool_name("github", "search")


def call(name, *, reads=False, definition="", agent="", kind=ToolKind.OTHER):
    tool = name.replace("/", "__")
    return Summary(name, kind, tool=tool, mcp=name, read_only=reads, definition=definition, agent=agent)


def judged(tmp_path, summary, *rules, mode=Mode.ACT, approval_mode=ApprovalMode.ASK, grants=(), **book):
    posture = PolicyContext(
        tmp_path / "w", tmp_path / "home", mode, approval_mode, frozenset(grants), book=RuleBook(rules)
    )
    return decide_call(summary, posture)


@pytest.mark.parametrize("approval_mode", [mode for mode in ApprovalMode if mode is not ApprovalMode.YOLO])
@pytest.mark.parametrize("kind", [ToolKind.OTHER, ToolKind.READ, ToolKind.EXECUTE])
def test_a_servers_tools_are_asked_about_whatever_they_say_of_themselves(tmp_path, approval_mode, kind):
    decision = judged(tmp_path, call(ISSUES, reads=True, kind=kind), approval_mode=approval_mode)
    assert (decision.verdict, decision.rule) == (ASK, "mcp")


def test_yolo_asks_about_none(tmp_path):
    assert judged(tmp_path, call(ISSUES), approval_mode=ApprovalMode.YOLO).verdict is ALLOW


def test_what_is_declared_to_only_read_runs_unasked_where_its_server_is_believed(tmp_path):
    believed = tuple(rules_of("github", believed=True))
    assert judged(tmp_path, call(SEARCH, reads=True), *believed).verdict is ALLOW
    assert judged(tmp_path, call(ISSUES), *believed).verdict is ASK
    assert judged(tmp_path, call(tool_name("gitlab", "search"), reads=True), *believed).verdict is ASK


def test_tools_that_a_servers_settings_name_run_unasked(tmp_path):
    rules = tuple(rules_of("github", ["create_issue"]))
    assert judged(tmp_path, call(ISSUES), *rules).verdict is ALLOW
    assert judged(tmp_path, call(SEARCH), *rules).verdict is ASK
    assert judged(tmp_path, call(SEARCH), *rules_of("github", ["*"])).verdict is ALLOW


def test_an_allowing_rule_that_names_no_tool_is_not_of_servers(tmp_path):
    for rule in (Rule(ALLOW), Rule(ALLOW, kinds=(ToolKind.OTHER,)), Rule(ALLOW, read_only=True)):
        assert judged(tmp_path, call(ISSUES, reads=True), rule).verdict is ASK
    assert judged(tmp_path, call(ISSUES), Rule(ALLOW, tools=("github__*",))).verdict is ALLOW


def test_a_denying_rule_that_names_no_tool_is_of_servers_as_well(tmp_path):
    assert judged(tmp_path, call(ISSUES), Rule(DENY, modes=(Mode.ACT,))).verdict is DENY
    assert judged(tmp_path, call(ISSUES), Rule(DENY, read_only=False)).verdict is DENY
    assert judged(tmp_path, Summary("edit", ToolKind.EDIT, ("a",)), Rule(DENY, read_only=False)).verdict is ASK


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("github/create_issue", ISSUES, True),
        ("github/create_*", ISSUES, True),
        ("github/*", ISSUES, True),
        ("github", ISSUES, True),
        ("*", ISSUES, True),
        ("git*/*", ISSUES, True),
        ("*/create_issue", ISSUES, True),
        ("github/search", ISSUES, False),
        ("git", ISSUES, False),
        ("github/*", tool_name("github/other", "x"), False),
        ("github.com/a/b/*", tool_name("github.com/a/b", "x"), True),
        ("a/b/c", tool_name("a", "b/c"), False),
        (r"\*/x", tool_name("*", "x"), True),
        (r"\*/x", tool_name("github", "x"), False),
    ],
)
def test_a_pattern_speaks_of_a_server_and_its_tools(pattern, name, fits):
    assert is_one_of(name, pattern) is fits


def test_a_server_cannot_name_a_tool_so_that_leave_for_it_is_leave_for_more(tmp_path):
    grant = judged(tmp_path, call(tool_name("github", "*"))).grant
    assert judged(tmp_path, call(ISSUES), grants=[grant]).verdict is ASK
    grant = judged(tmp_path, call(tool_name("*", "search"))).grant
    files = RuleFiles(tmp_path / "p.toml", tmp_path / "grants.toml", tmp_path)
    files.keep(grant, None)
    assert judged(tmp_path, call(SEARCH), *files.book().rules).verdict is ASK
    assert judged(tmp_path, call(tool_name("*", "search")), *files.book().rules).verdict is ALLOW


def test_always_is_for_the_tool_as_it_is_defined(tmp_path):
    asked = judged(tmp_path, call(ISSUES, definition="one"))
    assert asked.grant == Grant(ToolKind.OTHER, mcp=ISSUES, scripts=(f"{ISSUES}=one",))
    assert judged(tmp_path, call(ISSUES, definition="one"), grants=[asked.grant]).verdict is ALLOW
    again = judged(tmp_path, call(ISSUES, definition="two"), grants=[asked.grant])
    assert (again.verdict, again.reason.startswith(f"{ISSUES} changed since you allowed this; ")) == (ASK, True)


def test_always_is_kept_for_the_tool_as_it_is_defined_or_for_all_of_a_server(tmp_path):
    files = RuleFiles(tmp_path / "p.toml", tmp_path / "grants.toml", tmp_path)
    asked = judged(tmp_path, call(ISSUES, definition="one"))
    files.keep(asked.grant, None)
    assert judged(tmp_path, call(ISSUES, definition="one"), *files.book().rules).verdict is ALLOW
    again = judged(tmp_path, call(ISSUES, definition="two"), *files.book().rules)
    assert (again.verdict, "changed since" in again.reason) == (ASK, True)
    assert judged(tmp_path, call(SEARCH, definition="x"), *files.book().rules).verdict is ASK
    files.keep(asked.wider, None)
    assert judged(tmp_path, call(SEARCH, definition="x"), *files.book().rules).verdict is ALLOW
    assert [rule.mcp for rule in read_rules(tmp_path / "grants.toml", Source.GRANT)] == [ISSUES, "github/*"]


def test_more_of_a_server_is_leave_for_all_of_its_tools(tmp_path):
    wider = judged(tmp_path, call(ISSUES, definition="one")).wider
    assert judged(tmp_path, call(SEARCH, kind=ToolKind.EXECUTE, definition="x"), grants=[wider]).verdict is ALLOW
    assert judged(tmp_path, call(tool_name("gitlab", "search")), grants=[wider]).verdict is ASK


def test_plan_mode_asks_about_what_is_declared_to_only_read_and_refuses_the_rest(tmp_path):
    allow = Rule(ALLOW, mcp="github/*")
    assert judged(tmp_path, call(SEARCH, reads=True), mode=Mode.PLAN).verdict is ASK
    assert judged(tmp_path, call(SEARCH, reads=True), allow, mode=Mode.PLAN).verdict is ALLOW
    assert judged(tmp_path, call(SEARCH), allow, mode=Mode.PLAN).verdict is DENY
    assert judged(tmp_path, call(SEARCH), mode=Mode.PLAN, approval_mode=ApprovalMode.YOLO).verdict is DENY
    named_mode = Rule(ALLOW, mcp="github/*", modes=(Mode.PLAN,))
    assert judged(tmp_path, call(SEARCH), named_mode, mode=Mode.PLAN).verdict is ALLOW


def test_a_file_of_rules_that_cannot_be_read_opens_no_server(tmp_path):
    book = RuleBook(tuple(rules_of("github", ["*"])), problems=("policy.toml cannot be read",))
    posture = PolicyContext(tmp_path, tmp_path / "home", Mode.ACT, ApprovalMode.ASK, book=book)
    assert decide_call(call(ISSUES), posture).verdict is ASK


@pytest.mark.parametrize(
    ("switch", "reads", "other"), [(None, ASK, ALLOW), (False, ASK, ASK), (True, ALLOW, ALLOW)], ids=str
)
def test_the_switch_for_servers(tmp_path, switch, reads, other):
    rules = (*rules_of_switches(AutoApprove(mcp=switch)), *rules_of("github", ["create_issue"]))
    assert judged(tmp_path, call(SEARCH, reads=True), *rules).verdict is reads
    assert judged(tmp_path, call(SEARCH), *rules).verdict is ASK
    assert judged(tmp_path, call(ISSUES), *rules).verdict is other


def test_a_rule_may_be_for_one_agent_and_the_tasks_own_has_no_name(tmp_path):
    rule = Rule(DENY, agent="review*", kinds=(ToolKind.EDIT,))
    edit = Summary("edit", ToolKind.EDIT, ("a.py",), agent="reviewer")
    assert judged(tmp_path, edit, rule).verdict is DENY
    assert judged(tmp_path, Summary("edit", ToolKind.EDIT, ("a.py",), agent="builder"), rule).verdict is ASK
    assert judged(tmp_path, Summary("edit", ToolKind.EDIT, ("a.py",)), rule, Rule(DENY, agent="*")).verdict is ASK
    command = Summary("make", ToolKind.EXECUTE, command="make && pytest", agent="builder")
    assert judged(tmp_path, command, Rule(ALLOW, agent=("builder",), argv=(("make", "pytest"),))).verdict is ALLOW


def test_examples_are_tried_of_rules_for_servers_and_agents(tmp_path):
    file = tmp_path / "policy.toml"
    text = '[[rule]]\ndecision = "allow"\nmcp = "github/*"\nread_only = true\nagent = "scout"\n'
    text += 'matches = ["github/search"]\n'
    file.write_text(text + 'not_matches = ["gitlab/search"]\n')
    assert [rule.mcp for rule in read_rules(file, Source.USER)] == ["github/*"]
    file.write_text(text + 'not_matches = ["github/x"]\n')
    with pytest.raises(Unreadable, match="should not match 'github/x'"):
        read_rules(file, Source.USER)
