"""However a line makes patterns match names with a leading dot, the floors hold for what they match then."""

import re
import subprocess
from itertools import product

import pytest
from tests.policy.shell.test_constructs import judged, workspace  # noqa: F401
from tests.policy.test_shell_judge import judged as decided
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import MOST_NAMES
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

SETS = [
    "GLOBIGNORE=x",
    "GLOBIGNORE+=x",
    "GLOBIGNORE=$y",
    "GLOBIGNORE=(x)",
    "GLOBIGNORE[0]=x",
    "export GLOBIGNORE=x",
    "declare GLOBIGNORE=x",
    "typeset -x GLOBIGNORE=x",
    "readonly GLOBIGNORE=x",
    "read GLOBIGNORE <<< x",
    "read -r a GLOBIGNORE < a.py",
    "mapfile GLOBIGNORE < a.py",
    "printf -v GLOBIGNORE x",
    "getopts a GLOBIGNORE -a",
    "let GLOBIGNORE=1",
    "((GLOBIGNORE=1))",
    "echo $((GLOBIGNORE=1))",
    "x=$((GLOBIGNORE=1))",
    ": ${GLOBIGNORE:=x}",
    "echo ${GLOBIGNORE=x}",
    "for GLOBIGNORE in x; do :; done",
    "for ((GLOBIGNORE=1; GLOBIGNORE<2; GLOBIGNORE++)); do :; done",
    "select GLOBIGNORE in x; do break; done <<< 1",
    "eval GLOBIGNORE=x",
    "eval 'shopt -s dotglob'",
    "source a.py",
    ". ./a.py",
    "shopt -s dotglob",
    "shopt -s nullglob dotglob",
    "command shopt -s dotglob",
    "builtin shopt -s dotglob",
    "command export GLOBIGNORE=x",
    "declare -n y=GLOBIGNORE; y=x",
    "coproc true; GLOBIGNORE=x",
]
AROUND = [
    "{}; rm -f */*",
    "{} && rm -f */*",
    "{} || rm -f */*",
    "true && {}; rm -f */*",
    "{{ {}; }}; rm -f */*",
    "f() {{ {}; }}; f; rm -f */*",
    "f() {{ {}; }}; g() {{ f; }}; g; rm -f */*",
    "f() {{ {}; }}; f && ls; rm -f */*",
    "f() {{ {}; }}; ls | f; f; rm -f */*",
    "if true; then {}; fi; rm -f */*",
    "if {}; then ls; fi; rm -f */*",
    "while true; do {}; break; done; rm -f */*",
    "while {}; do break; done; rm -f */*",
    "for x in 1; do {}; done; rm -f */*",
    "for x in 1 2; do rm -f */*; {}; done",
    "while true; do rm -f */*; {}; done",
    "case x in x) {};; esac; rm -f */*",
    "{} > out; rm -f */*",
    "! {}; rm -f */*",
    "time {}; rm -f */*",
    "{}; (rm -f */*)",
    "{}; bash -c 'echo' && rm -f */*",
    "trap '{}' EXIT DEBUG; rm -f */*",
]


@pytest.mark.slow
@for_each("sets, around", [*product(SETS, AROUND)])
def test_a_pattern_that_may_match_hidden_names_is_never_let_by_the_floors(workspace, sets, around):  # noqa: F811
    assert judged(workspace, around.format(sets), ApprovalMode.YOLO).verdict in ("ask", "deny")


@pytest.mark.parametrize("before", ["ls", "cd src; ls", "x=1", "export x=1", "for x in a b; do ls; done"])
def test_other_commands_do_not_make_a_pattern_doubtful(workspace, before):  # noqa: F811
    assert judged(workspace, f"{before}; rm -f */*", ApprovalMode.YOLO).verdict == "allow"


@for_each("sets", ["export x=.git", "read x <<< .git", "printf -v x .git", "declare x=.git", "x=.git"])
@for_each("time", ["time", "time -p", "time --"])
def test_what_a_timed_command_sets_is_known_after_it(workspace, time, sets):  # noqa: F811
    assert judged(workspace, f"x=a; {time} {sets}; rm -rf $x", ApprovalMode.YOLO).verdict != "allow"


@pytest.mark.parametrize(
    "command", ["rm -f .*/*", "rm -rf ./.g*/*", "mv .g*/* /tmp", "truncate -s 0 .g*/*", "shopt -s dotglob; rm -f */*"]
)
def test_a_pattern_that_matches_more_than_is_looked_at_is_not_let_by_the_floors(tmp_path, command):
    (tmp_path / "home").mkdir()
    history = tmp_path / "w" / ".git"
    history.mkdir(parents=True)
    for number in range(MOST_NAMES + 1):
        (history / f"o{number}").touch()
    assert judged(tmp_path / "w", command, ApprovalMode.YOLO).verdict == "ask"


PATTERNS = """
shopt -s nocaseglob; rm -f .GI*/HEA*
shopt -s nocaseglob; rm -rf .[G]IT
shopt -s 'nocase'glob; rm -rf .GI*
bash -O nocaseglob -c 'rm -rf .GI*'
shopt -s extglob⏎rm -f .@(git)/HEAD
shopt -s extglob⏎rm -rf !(src)
shopt -s globstar; rm -rf .git/**
shopt -s globstar dotglob; rm -f **/HEAD
shopt -s dotglob; rm -rf ?git
shopt -s dotglob; rm -rf [!a]git
shopt -s dotglob; rm -rf [[:punct:]]git
bash -O dotglob -c 'rm -f */*'
env GLOBIGNORE=x bash -c 'rm -f */*'
zsh -c 'rm -rf *(D)'
ksh -c 'rm -rf .@(git)'
fish -c 'rm -rf .g*'
rm -f .[[:alpha:]]it/HEAD
rm -rf .[[.g.]]it
rm -rf .[[=g=]]it
rm -rf .[]g]it
rm -rf .[!]x]it
rm -rf .g[[:lower:]]t
rm -rf .[a[:digit:]g]it
rm -rf .[^[:digit:]]it
rm -rf .[\\g]it
rm -rf .['g']it
"""


@pytest.mark.parametrize("command", [line.replace("⏎", "\n") for line in PATTERNS.strip().splitlines()])
def test_no_way_to_write_a_pattern_leads_by_the_floors(workspace, command):  # noqa: F811
    assert judged(workspace, command, ApprovalMode.YOLO).verdict in ("ask", "deny")


@pytest.mark.parametrize("command", ["cat hid*", "cat *.py > all", "rm *.py", "python3 *.py", "cat < *.py"])
def test_a_pattern_that_matches_a_hidden_name_is_denied_and_the_name_is_said(tmp_path, command):
    for name in ("a.py", "hidden.py"):
        (tmp_path / name).write_text("x\n")
    decision = decided(tmp_path, command, ApprovalMode.YOLO, book=RuleBook(ignored=("hidden.py",)))
    assert decision.verdict is Verdict.DENY
    assert "hidden.py" in decision.reason


LOOPS = (
    'for f in *.py; do wc -l "$f"; done',
    "for f in *.py; do cat $f; done | sort",
    'for f in *; do [ -f "$f" ] && head -1 "$f"; done',
    'for f in *.py; do for g in *.py; do diff "$f" "$g"; done; echo "$f"; done',
)
MATCHING = ("wc -l *.py", "head -1 *.py | cat", "cat *.py 2> /dev/null", "grep x [a-z]*.py", "ls *.py", "ls -l *")
MATCHING += ("grep -rn x *", "time wc -l *.py", "ls -d *", "du -a *", *LOOPS)


@pytest.mark.parametrize("mode", [*ApprovalMode])
@pytest.mark.parametrize("command", MATCHING)
def test_a_pattern_leaves_out_the_hidden_names_that_it_matches_when_it_runs(tmp_path, command, mode):
    for name in ("b c.py", "it's.py", "hidden.py", "a.py"):
        (tmp_path / name).write_text(f"x {name}\n")
    book = RuleBook(ignored=("hidden.py",), rules=(Rule(Verdict.DENY, name="guarded", paths=("a.py",)),))
    decision = decided(tmp_path, command, mode, book=book)
    assert decision.verdict is Verdict.ALLOW
    assert re.search(r"printf '%s\\0' \S*\*", decision.canonical)
    assert "it's" not in decision.canonical
    words = ["bash", "--noprofile", "--norc", "-c", decision.canonical]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "c.py" in said
    assert "hidden" not in said
    assert "a.py" not in said


FOLDER_GIVEN = (
    'for d in $(ls); do grep -r x "$d"; done',
    'ls | while read -r d; do grep -r x "$d"; done',
    'd=$(git rev-parse --show-toplevel); grep -rn x "$d"',
    "ls | xargs grep -r x",
    'for d in $(ls); do ls -R "$d"; done',
    'for d in $(ls); do find "$d" -type f; done',
    'for d in $(ls); do du -a "$d"; done',
    'for d in */; do ls "$d"; done',
    "ls -R */",
    "grep -rn x */",
    "cd nowhere && for f in $(git ls-files | head -1); do cat *; ls; done",
    "! for f in $(git ls-files | head -1); do grep -r x .; done",
)


@pytest.mark.process
@pytest.mark.parametrize("plan", [False, True])
@pytest.mark.parametrize("command", FOLDER_GIVEN)
def test_hidden_names_are_left_out_below_a_folder_that_is_known_only_when_it_runs(tmp_path, command, plan):
    for name in ("docs/a.md", "docs/zqhid/b.md", "src/zqhid.md", "zqhid/c.md", "zqguard/d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"x {name}\n")
    subprocess.run(["git", "init", "-q", "--template=", tmp_path], check=True)
    subprocess.run(["git", "add", "docs/a.md"], cwd=tmp_path, check=True)
    guarded = Rule(Verdict.DENY, name="guarded", paths=("zqguard/**",))
    book = RuleBook(ignored=("zqhid", "zqhid.md"), rules=(guarded,))
    decision = decided(tmp_path, command, plan=plan, book=book)
    assert decision.verdict is Verdict.ALLOW, decision.reason
    words = ["bash", "--noprofile", "--norc", "-c", decision.canonical]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ("zqhid" in ran.stdout, "zqguard" in ran.stdout) == (False, False)
    assert "a.md" in ran.stdout or command.startswith(("cd nowhere", "for d in */"))


@pytest.mark.parametrize("body", ['rm "$f"', 'echo "$f" > x', 'touch "$f"', "cat hidden.py", "eval $f"])
def test_a_loop_that_does_more_than_read_gets_no_hidden_name(tmp_path, body):
    for name in ("a.py", "hidden.py"):
        (tmp_path / name).write_text("x\n")
    book = RuleBook(ignored=("hidden.py",))
    assert decided(tmp_path, f"for f in *.py; do {body}; done", ApprovalMode.YOLO, book=book).verdict is Verdict.DENY


def test_a_line_that_does_more_than_read_runs_no_pattern_that_matches_hidden_names(tmp_path):
    for name in ("a.py", "hidden.py"):
        (tmp_path / name).write_text("x\n")
    decision = decided(tmp_path, "wc -l *.py; touch x", ApprovalMode.YOLO, book=RuleBook(ignored=("hidden.py",)))
    assert decision.verdict is Verdict.DENY
    assert "run it on its own" in decision.reason
