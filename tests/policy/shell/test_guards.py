import os
import subprocess

import pytest
from tests.tables import for_each

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.shell.guards import guard_arithmetic
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

NAMES = (
    *("plain.txt", "with blank.txt", "-n", "-rf", "a=b", "!", "(", "é.txt", "*", "src/main.py", "sub/x.txt", "quote'd"),
    *(".env", "id.pem", "ID.PEM", "src/.env.local", ".ssh/config", ".env\n"),
)
SHOWN = "SHOWN"
HIDDEN = "CANARY"
READS_EVERY_NAME = (
    'for f in $(cat names); do cat "$f"; done',
    'while IFS= read -r f; do cat "$f"; done < names',
    'cat names | while IFS= read -r f; do cat < "$f"; done',
    'while IFS= read -r f; do if [ -f "$f" ]; then grep -h . "$f"; fi; done < <(cat names)',
    'while IFS= read -r f; do head -n 3 "./$f"; done < names',
    'while IFS= read -r f; do case "$f" in *) sort $f;; esac; done < names',
    "cat names | xargs cat",
    "cat names | xargs -d '\\n' head -n 3",
    "cat names | xargs -I{} sed -n p {}",
    "tr '\\n' '\\0' < names | xargs -0 -r -n 2 grep -h .",
    "cat names | sort | uniq | xargs -d '\\n' awk '{print}'",
    "cat $(cat names)",
    "grep -h . $(cat names) 2>/dev/null",
    'x=$(tail -n 1 names); cat "$x"',
    "bash -c 'cat names | xargs cat'",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guards") / "w"
    outside = folder.parent / "out"
    (folder.parent / "home").mkdir()
    outside.mkdir()
    (outside / "o.txt").write_text(HIDDEN)
    (folder.parent / "w\n").mkdir()
    (folder.parent / "w\n" / "o.txt").write_text(HIDDEN)
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        secret = any(part in name.lower() for part in (".env", ".pem", ".ssh"))
        (folder / name).write_text(f"{HIDDEN}\n" if secret else f"{SHOWN} {name}\n")
    (folder / "link.txt").symlink_to(outside / "o.txt")
    (folder / "folder").symlink_to(outside)
    (folder / "line").symlink_to(folder.parent / "w\n")
    os.mkfifo(folder / "fifo")
    hostile = (
        *(str(outside / "o.txt"), "../out/o.txt", "link.txt", "folder/o.txt", "line/o.txt", "fifo", "/etc/passwd"),
        *("sub/../../out/o.txt", "nothing", "$(cat .env)", "`cat .env`", "--files-from=.env", "src", "~/.env", ""),
    )
    (folder / "names").write_text("\n".join((*hostile, *(name for name in NAMES if "\n" not in name), ".env")))
    return folder


def judged(workspace, command, mode=ApprovalMode.ASK):
    facts = LocalShellFacts({"PATH": os.environ["PATH"]})
    posture = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, mode, facts=facts)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture)


def run(workspace, form):
    environment = clean_environment(os.environ, str(workspace))
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", form],
        cwd=workspace,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
    )


@pytest.mark.process
@pytest.mark.parametrize("command", READS_EVERY_NAME)
def test_names_that_are_known_only_when_it_runs_lead_to_no_secret_and_nothing_outside(workspace, command):
    decision = judged(workspace, command)
    assert decision.verdict == "allow", decision.reason
    ran = run(workspace, decision.canonical)
    assert HIDDEN not in ran.stdout + ran.stderr
    assert "root:" not in ran.stdout


@pytest.mark.process
@pytest.mark.parametrize("command", READS_EVERY_NAME[:-2])
def test_files_of_the_workspace_are_read_by_such_names(workspace, command):
    name = "plain.txt" if "awk" in command else "sub/x.txt"  # mawk stops at the folder in between
    assert f"{SHOWN} {name}" in run(workspace, judged(workspace, command).canonical).stdout


@for_each("command", READS_EVERY_NAME)
def test_with_a_command_that_does_more_it_would_run_as_written_and_is_asked_about(workspace, command):
    assert judged(workspace, f"{command}; touch new", ApprovalMode.AUTO).verdict == "ask"


@pytest.mark.parametrize(
    "command", ["echo .env | xargs cat", "echo /etc/passwd | xargs cat", "printf '%s\\n' a .env | xargs head"]
)
def test_a_secret_that_is_written_out_in_front_of_xargs_is_asked_about(workspace, command):
    assert judged(workspace, command).verdict == "ask"


@for_each(
    "command",
    [
        *('cd "$(cat names)" && cat o.txt', 'sed "$(cat names)" src/main.py', 'grep "$(cat names)" -f "$x"'),
        *("cat names | xargs sed", "cat names | xargs uniq", "cat names | xargs sort -o new", "cat names | xargs rm"),
        *("cat names | xargs sed -i s/a/b/", "cat names | xargs -P2 -a x cat", "uniq $(cat names)", "tee $(cat names)"),
        *('f() { cat names; }; cat "$(f)"', "PWD=/etc; cat $(cat names)", "for PWD in $(cat names); do cat x; done"),
        *("LAST_PLACE=x; cat $(cat names)", 'printf -v x %s y; cat "$x"', "cat names | xargs touch"),
        *("cat names | sudo xargs cat", "cat names | xargs env cat", "cat names | xargs sh -c", "git $(cat names)"),
    ],
)
def test_programs_that_may_do_more_with_such_names_are_asked_about(workspace, command):
    assert judged(workspace, command).verdict == "ask"


@pytest.mark.process
@pytest.mark.parametrize(
    "value", ["HEAD", "no such", "--output=new", "-p", ":src/main.py", "HEAD:.env", "$(touch new)"]
)
def test_revisions_that_are_known_only_when_it_runs_are_commits_or_nothing(workspace, tmp_path, value):
    repository = tmp_path / "w"
    subprocess.run(["git", "init", "-q", repository], check=True)
    (repository / "value").write_text(value)
    (repository / ".env").write_text(HIDDEN)
    (tmp_path / "home").mkdir()
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", repository, "add", "-A"], check=True)
    subprocess.run(["git", "-C", repository, *author, "commit", "-qm", "subject"], check=True)
    for command in ('x=$(cat value); git log -p "$x"', "git show $(cat value)", "x=$(cat value); git diff $x..HEAD"):
        decision = judged(repository, command)
        assert decision.verdict == "allow", decision.reason
        ran = run(repository, decision.canonical)
        assert HIDDEN not in ran.stdout
        assert sorted(os.listdir(repository)) == [".env", ".git", "value"]
        assert ("subject" in ran.stdout) == (value == "HEAD" and "diff" not in command)


@pytest.mark.process
@pytest.mark.parametrize(
    ("expression", "result"),
    [("i+1", 6), ("i++", 5), ("++i * 2", 12), ("i += 3", 8), ("i<10 && i>2", 1), ("(i%2)?7:9", 7), ("$i-${i}", 0)],
)
def test_arithmetic_of_plain_numbers_is_what_bash_makes_of_it(expression, result):
    ran = subprocess.run(
        ["bash", "-c", f"i=5; echo $(({guard_arithmetic(expression)}))"], capture_output=True, text=True, check=True
    )
    assert int(ran.stdout) == result


@pytest.mark.process
@pytest.mark.parametrize("text", ["a[$(touch new)]", "a[`touch new`]", "x=1,y", "a[0$(touch new)]", "b", "1-", ""])
@pytest.mark.parametrize("expression", ["i+1", "i++", "i+=2", "++i", "j=i,j", "i>2?i:3"])
def test_arithmetic_never_evaluates_the_text_of_a_variable(tmp_path, text, expression):
    script = f"b='a[$(touch new)]'; i=$1; echo $(({guard_arithmetic(expression)}))"
    subprocess.run(["bash", "-c", script, "bash", text], cwd=tmp_path, capture_output=True, check=False)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "expression", ["a[i]", "$(x)", "`x`", "i+=j?1:2", "PATH", "RANDOM=3", "i=", "'1'", "2#1", "a.b"]
)
def test_arithmetic_of_anything_else_has_no_form(expression):
    form = guard_arithmetic(expression)
    assert form is None or expression == "i="


@for_each("code", ["print(1)", "import sys; sys.path.insert(0, '.'); import platform", "1"])
@for_each("program", ["python", "python3", "python3 -I", "node -e", "perl -e", "ruby -e"])
def test_no_code_is_known_to_only_read(workspace, program, code):
    words = program if program.endswith("-e") else f"{program} -c"
    assert judged(workspace, f'{words} "{code}"').verdict == "ask"
    assert judged(workspace, f'{words} "{code}"', ApprovalMode.AUTO).verdict == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *('x=$(cat names); rg "$x" src', 'x=$(cat names); sed -n "${x}p" a', 'x=$(cat names); git log "$x"'),
        *("find . -type f | xargs grep -n KEY", "cat names | xargs cat"),
    ],
)
def test_what_only_its_form_makes_harmless_is_asked_about_where_it_does_not_run_in_it(workspace, command):
    assert judged(workspace, command).verdict == "allow"
    assert judged(workspace, f"{command}; touch new", ApprovalMode.AUTO).verdict == "ask"


@pytest.mark.parametrize(
    "command",
    [
        *("trap 'cat names | xargs cat' EXIT", "trap 'while read -r f; do cat \"$f\"; done < names' EXIT"),
        *("cat names | timeout 5 xargs cat", "cat names | stdbuf -oL xargs cat", "cat names | nohup xargs cat"),
        *("bash -ec 'cat names | xargs cat'", "bash -c 'cat names | xargs cat'; touch new"),
    ],
)
def test_a_text_or_a_wrapper_that_cannot_run_the_form_is_asked_about(workspace, command):
    assert judged(workspace, command, ApprovalMode.AUTO).verdict == "ask"
