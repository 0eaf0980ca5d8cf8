from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind

FILE = Path(__file__).with_name("constructs.txt")


def commands(section):
    text = FILE.read_text(encoding="utf-8").partition(f"# {section}\n")[2].partition("\n# ")[0]
    return [line.replace("⏎", "\n") for line in text.splitlines()]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constructs") / "w"
    for name in ("src/main.py", "a.py", "README.md", ".env", ".git/config", ".git/HEAD"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder.parent / "home").mkdir()
    return folder


OFF = SandboxChecked()


def judged(workspace, command, mode, box=OFF):
    home, facts = workspace.parent / "home", LocalShellFacts({}, lambda paths, roots: ())
    words = command.replace("HH", str(home))
    posture = PolicyContext(workspace, home, Mode.ACT, mode, facts=facts, sandbox=box)
    return decide_call(Summary(words, ToolKind.EXECUTE, command=words, in_sandbox=True), posture)


def verdicts(workspace, command):
    return " ".join(
        judged(workspace, command, mode).verdict for mode in (ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO)
    )


@pytest.mark.slow
@for_each("command", commands("denied"))
def test_no_construct_leads_by_the_floors_in_any_mode(workspace, command):
    assert verdicts(workspace, command) == "deny deny deny"


@pytest.mark.slow
@for_each("command", commands("unsure"))
def test_what_may_lead_by_the_floors_is_asked_about_even_in_yolo(workspace, command):
    assert verdicts(workspace, command) == "ask ask ask"


@pytest.mark.slow
@for_each("command", commands("asked"))
def test_what_is_known_only_when_it_runs_or_spelt_oddly_is_asked_about_in_auto(workspace, command):
    assert verdicts(workspace, command) == "ask ask allow"


@for_each("command", commands("ordinary"))
def test_ordinary_work_is_not_asked_about_in_auto(workspace, command):
    assert verdicts(workspace, command) == "ask allow allow"


@for_each("command", commands("code"))
def test_what_runs_code_of_the_project_is_asked_about_where_no_sandbox_holds_it(workspace, command):
    assert verdicts(workspace, command) == "ask ask allow"
    boxed = judged(workspace, command, ApprovalMode.AUTO, SandboxChecked(standing=SandboxStanding.FULL))
    assert boxed.verdict == "allow"


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("sort -t$'\\t' README.md", "sort -t'\t' -- README.md"),
        ("cat <<'EOF'\nhello $x\nEOF", "cat <<< 'hello $x'"),
        ("cat <<-EOF | wc -l\n\ta\n\tEOF", "cat <<< a | wc -l"),
        ("echo 'a\nb'", "echo 'a\nb'"),
        ('for f in *.py; do wc -l "$f"; done', "{ wc -l -- a.py; }"),
        ("if [ -f a.py ]; then cat a.py; fi", "if test -f a.py; then cat -- a.py; fi"),
        ("[[ -f a.py && $HOME == *x ]]", None),
        ("while read -r l; do echo $l; done < a.py", 'while read -r l; do echo "${l}"; done < a.py'),
        ('x=$(git rev-parse HEAD); echo "at $x"', 'x="$(git --no-pager rev-parse HEAD)"; echo "at ${x}"'),
        ("(cd src && ls); ! grep x a.py", "( cd -- src && ls ); ! grep -- x a.py"),
        ("echo {a,b}{1..2}", "echo a1 a2 b1 b2"),
        ("x=src; ls $x/main.py", "x=src; ls -- src/main.py"),
    ],
)
def test_blocks_and_texts_that_only_read_run_in_a_form_of_their_own(workspace, command, form):
    found = judged(workspace, command, ApprovalMode.ASK)
    assert found.verdict == "allow"
    assert form in (None, found.canonical)


def test_what_stands_behind_a_heredoc_is_shown_with_its_targets(workspace):
    parts = judged(workspace, "cat <<'EOF' > out.txt\nhi\nEOF", ApprovalMode.ASK).parts
    assert parts[0].targets == ("out.txt",)
    assert judged(workspace, "rm <<E -rf src/main.py\nE", ApprovalMode.ASK).parts[0].targets == ("src/main.py",)
