from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import RuleBook, Verdict
from halocline.runtime.rules.tool_patterns import read_patterns


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "w" / "src").mkdir(parents=True)
    return tmp_path / "w"


def decide(workspace: Path, call: Summary, allowed: str = "", disallowed: str = "", mode: Mode = Mode.ACT) -> Verdict:
    book = RuleBook(read_patterns([allowed], [disallowed]))
    context = PolicyContext(workspace, workspace.parent / "home", mode, ApprovalMode.ASK, frozenset(), book=book)
    return decide_call(call, context).verdict


def command(text: str) -> Summary:
    return Summary(text, ToolKind.EXECUTE, command=text, tool="execute_command")


def edit(path: str) -> Summary:
    return Summary("edit", ToolKind.EDIT, (path,), tool="apply_patch")


def read(path: str) -> Summary:
    return Summary("read", ToolKind.READ, (path,), tool="read_file")


def fetch(url: str) -> Summary:
    return Summary("fetch", ToolKind.FETCH, url=url, tool="web_fetch")


def mcp(tool: str) -> Summary:
    return Summary(tool, ToolKind.EXECUTE, tool=tool.replace("/", "__"), mcp=tool)


@pytest.mark.parametrize(
    ("pattern", "met", "not_met"),
    [
        ("Bash", command("make all"), edit("a")),
        ("Bash(*)", command("make all"), edit("a")),
        ("Bash(make:*)", command("make all"), command("makefile all")),
        ("Bash(make *)", command("make all"), command("cmake all")),
        ("Bash(make all)", command("make all"), command("make all install")),
        ("Bash(npm run test:*)", command("npm run test --all"), command("npm run build")),
        ("execute_command", command("make all"), edit("a")),
        ("Edit", edit("a"), command("touch a")),
        ("Write", edit("a"), command("touch a")),
        ("Edit(src/**)", edit("src/a.py"), edit("b.py")),
        ("Edit(*.md)", edit("src/a.md"), edit("b.py")),
        ("Edit(//tmp/x/**)", edit("/tmp/x/a"), edit("/tmp/y/a")),
        ("WebFetch", fetch("https://example.com/"), command("curl https://example.com/")),
        ("WebFetch(domain:example.com)", fetch("https://example.com/a"), fetch("https://example.com.evil.io/")),
        ("mcp__github", mcp("github/search"), mcp("other/search")),
        ("mcp__github__*", mcp("github/search"), mcp("other/search")),
        ("mcp__github__search", mcp("github/search"), mcp("github/delete")),
    ],
)
def test_a_pattern_allows_and_forbids_what_it_names_and_nothing_else(
    workspace: Path, pattern: str, met: Summary, not_met: Summary
) -> None:
    assert decide(workspace, met, allowed=pattern) is Verdict.ALLOW
    assert decide(workspace, not_met, allowed=pattern) is Verdict.ASK
    assert decide(workspace, met, disallowed=pattern) is Verdict.DENY
    assert decide(workspace, not_met, disallowed=pattern) is Verdict.ASK


def test_files_that_commands_could_read_are_not_said_to_be_hidden() -> None:
    with pytest.raises(UsageError, match="would leave the files to commands") as refused:
        read_patterns([], ["Read(secrets/**)"])
    assert ".haloclineignore" in refused.value.hint


def test_reading_elsewhere_can_be_allowed(workspace: Path) -> None:
    assert decide(workspace, read("/opt/docs/a"), allowed="Read(//opt/docs/**)") is Verdict.ALLOW
    assert decide(workspace, read("/opt/other"), allowed="Read(//opt/docs/**)") is Verdict.ASK


def test_a_denial_wins_over_what_is_allowed(workspace: Path) -> None:
    call = command("git push origin")
    assert decide(workspace, call, allowed="Bash(git:*)", disallowed="Bash(git push:*)") is Verdict.DENY
    assert decide(workspace, command("make; git push"), allowed="Bash", disallowed="Bash(git push:*)") is Verdict.DENY


def test_every_part_of_a_command_must_be_allowed(workspace: Path) -> None:
    assert decide(workspace, command("make && touch x"), allowed="Bash(make:*)") is Verdict.ASK
    assert decide(workspace, command("make $(touch x)"), allowed="Bash(make:*)") is not Verdict.ALLOW


def test_nothing_is_allowed_beyond_what_a_users_rule_may(workspace: Path) -> None:
    assert decide(workspace, command("rm -rf /"), allowed="Bash") is Verdict.DENY
    assert decide(workspace, edit("/etc/hosts"), allowed="Edit") is Verdict.ASK
    assert decide(workspace, edit(".git/hooks/pre-commit"), allowed="Edit") is not Verdict.ALLOW
    assert decide(workspace, edit("a"), allowed="Edit", mode=Mode.PLAN) is Verdict.DENY


def test_several_are_parted_by_commas_or_blanks(workspace: Path) -> None:
    rules = read_patterns(["Bash(npm run test:*), Edit WebFetch(domain:a.org)", "Read"], [])
    assert [rule.reason for rule in rules] == [
        "--allowed-tools names Bash(npm run test:*)",
        "--allowed-tools names Edit",
        "--allowed-tools names WebFetch(domain:a.org)",
        "--allowed-tools names Read",
    ]


@for_each(
    "pattern",
    [
        "Bash(git * main)",
        "Bash(git*)",
        "Bash(*:*)",
        "Bash(echo 'a b':*)",
        "Bash(X=1 make:*)",
        "Bash(a && b)",
        "Bash(a|b:*)",
        "Edit(/src/**)",
        "WebFetch(example.com)",
        "WebFetch(domain:*)",
        "Glob(src/**)",
        "Task(reviewer)",
        "mcp__github__search(x)",
        "mcp__",
        "Nope",
        "Bash(",
        "Bash()x",
    ],
)
def test_what_no_rule_can_express_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_patterns([], [pattern])
    assert pattern.split("(")[0] in str(refused.value)
