"""Neighbours of the cases that were reported: the same fault in other words."""

import os
import subprocess
from functools import partial

import pytest
from tests.tables import for_each

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.unkept import find_unkept
from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

ASK, AUTO, YOLO = ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO
OFF, FULL = SandboxChecked(), SandboxChecked(standing=SandboxStanding.FULL)
HIDDEN, GUARDED, PLAIN = "zq7hidden7qz", "zq7guarded7qz", "zq7plain7qz"
BOOK = RuleBook(ignored=("private/", "*.hid"), rules=(Rule(Verdict.DENY, name="guarded", paths=("guarded/**",)),))
FILES = {
    "private/key.txt": f"foo {HIDDEN}\n",
    "docs/private/deep.txt": f"foo {HIDDEN}\n",
    "docs/x.hid": f"foo {HIDDEN}\n",
    "guarded/plan.md": f"foo {GUARDED}\n",
    "docs/open/a.md": f"foo {PLAIN}\n",
    "docs/research/b.md": f"foo p {PLAIN}\n",
    "a.txt": f"foo {PLAIN}\n",
    "src/main.py": f"foo = 1  # {PLAIN}\n",
    ".gitignore": "build/\n*.log\n",
    "build/out.bin": "x\n",
    "app.log": "x\n",
}


@pytest.fixture
def workspace(tmp_path):
    folder = (tmp_path / "w").resolve()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder.parent / "home").mkdir()
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    tracked = [name for name in FILES if not name.startswith("build") and not name.endswith(".log")]
    for words in (["init", "-q", "-b", "main"], ["add", *tracked], ["commit", "-qm", "one"], ["branch", "side"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | who)
    for name in ("a.txt", "private/key.txt", "guarded/plan.md"):
        (folder / name).write_text(FILES[name] + FILES[name])
    return folder


def judge(workspace, command, mode=ASK, box=OFF, book=BOOK):
    unkept = partial(find_unkept, largest=Limits().largest)
    facts = LocalShellFacts({"PATH": os.environ["PATH"], "HOME": str(workspace.parent)}, unkept)
    home = workspace.parent / "home"
    context = PolicyContext(workspace, home, Mode.ACT, mode, book=book, facts=facts, sandbox=box)
    call = Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command", in_sandbox=True)
    return decide_call(call, context)


LEFT_OUT = (
    *(
        'cd docs && grep -rniI "p" open/*.md research/*.md 2>/dev/null | grep -i foo',
        "grep -r foo docs",
        "grep -rn foo .",
    ),
    *(
        "rg foo",
        "git diff",
        "git log -p",
        "git show",
        "git grep foo",
        "ls -R",
        "find . -type f",
        "grep -rl foo . | head",
    ),
    *(
        "rg -uu foo",
        "rg --hidden foo docs",
        "grep -rc foo docs | sort",
        "find . -name '*.txt'",
        "git diff HEAD",
        "egrep -r foo .",
    ),
    *(
        "find . -type f -exec grep -H foo {} +",
        "find . -type f | xargs grep -H foo",
        "rg --files | head -50",
        "git log -p -1 --stat",
    ),
    *(
        "git grep -n foo HEAD",
        "ls -R docs",
        "find docs -type f | sort",
        "cd docs && rg foo",
        "cd docs && grep -r foo .",
        "tree",
    ),
)


@pytest.mark.process
@pytest.mark.parametrize("mode", [ASK, AUTO])
@pytest.mark.parametrize("command", LEFT_OUT)
def test_what_is_hidden_is_left_out_and_the_rest_is_shown_without_a_question(workspace, command, mode):
    decision = judge(workspace, command, mode)
    assert decision.verdict is Verdict.ALLOW, decision.reason
    form = decision.canonical or command
    environment = clean_environment({"PATH": os.environ["PATH"], "HOME": str(workspace.parent)}, str(workspace))
    words = ["bash", "--noprofile", "--norc", "-c", form]
    ran = subprocess.run(words, cwd=workspace, env=environment, capture_output=True, text=True, check=False)
    assert (HIDDEN in ran.stdout, GUARDED in ran.stdout) == (False, False)


HAS_NO_FORM = ("tar cf - .", "tar czf x.tgz docs", "cp -r docs x", "cp -a . ../x", "zip -r x.zip .", "git archive HEAD")


@pytest.mark.parametrize("box", [OFF, FULL], ids=["off", "full"])
@pytest.mark.parametrize("command", HAS_NO_FORM)
def test_what_takes_hidden_files_along_is_asked_about(workspace, command, box):
    assert judge(workspace, command, AUTO, box).verdict is not Verdict.ALLOW


NAMED = (
    *(
        "git show HEAD:private/key.txt",
        "git show HEAD:./private/key.txt",
        "git show main:private/key.txt",
        "cat private/key.txt",
    ),
    *(
        "git cat-file -p HEAD:private/key.txt",
        "git show :private/key.txt",
        "git show :0:private/key.txt",
        "git show side:docs/x.hid",
    ),
    *(
        "git -C . show HEAD:private/key.txt",
        "cd docs && git show HEAD:docs/x.hid",
        "git show HEAD^0:private/key.txt",
        "cat docs/*.hid",
    ),
    *(
        "git --no-pager show HEAD:private/key.txt | head",
        "sh -c 'git show HEAD:private/key.txt'",
        "head -1 pri*/key.txt",
    ),
    *(
        "git cat-file blob HEAD:private/key.txt",
        "git diff HEAD:private/key.txt HEAD:a.txt",
        "git blame private/key.txt",
        "sort < private/key.txt",
    ),
    *(
        "cat /proc/self/cwd/private/key.txt",
        "cd /proc/self/cwd; cat private/key.txt",
        "curl file://localhost$PWD/private/key.txt",
    ),
    *('curl "file://$PWD/priv%61te/key.txt"', "PYTHONSTARTUP=private/key.txt python3 -i", "tool --x=@private/key.txt"),
    *("cc @private/key.txt", "java -cp a:private/key.txt X", "tool -xfprivate/key.txt", "tool 'a;private/key.txt#b'"),
)


@for_each("command", NAMED)
def test_a_hidden_file_that_is_named_is_refused_in_every_mode(workspace, command):
    assert judge(workspace, command, YOLO).verdict is Verdict.DENY
    assert judge(workspace, command, AUTO, FULL).verdict is Verdict.DENY


@pytest.mark.process
@for_each("command", ["git grep foo -- 'pri*'", "git log -p -- 'private*'", "git diff -- ':(icase)PRIVATE' a.txt"])
def test_a_pattern_of_git_names_no_hidden_file_in_yolo_either(workspace, command):
    decision = judge(workspace, command, YOLO)
    assert decision.verdict is Verdict.ALLOW
    words = ["bash", "--noprofile", "--norc", "-c", decision.canonical or command]
    ran = subprocess.run(words, cwd=workspace, capture_output=True, text=True, check=False)
    assert (HIDDEN in ran.stdout, ran.stderr) == (False, "")


COMMITS = (
    *(
        "git commit -F - <<'EOF'\nmessage\nEOF",
        "git commit -F- <<EOF\nmessage\nEOF",
        "git commit -m 'a' -F - <<'E'\nx\nE",
        "git commit -qF - <<'E'\nx\nE",
    ),
    *(
        "git add -A && git commit -F - <<'EOF'\nmessage\n\nbody $x `y`\nEOF",
        "git commit --amend -F - <<'EOF'\nm\nEOF",
        "git commit -F - <<< message",
    ),
    *(
        "git -C . commit -F - <<'EOF'\nm\nEOF",
        "cat <<'EOF' | git commit -F -\nm\nEOF",
        "git tag -a v1 -F - <<'EOF'\nm\nEOF",
        "git commit --file=- <<'E'\nm\nE",
    ),
)


@pytest.mark.parametrize("command", COMMITS)
def test_a_message_on_standard_input_is_not_asked_about_in_a_full_sandbox(workspace, command):
    assert judge(workspace, command, AUTO, FULL).verdict is Verdict.ALLOW


REACHES_FAR = (
    *(
        "git -C ~ clean -fdx",
        "git -C $HOME clean -fdx",
        "git -C / clean -fdx",
        "cd ~ && git clean -fdx",
        "git -C .. clean -fdx",
        "git clean -fdx ~",
    ),
    *(
        "git --work-tree=$HOME clean -fdx",
        "GIT_WORK_TREE=~ git clean -fdx",
        "(cd ~; git clean -fd)",
    ),
    *(
        "pushd ~ && git clean -fdx",
        "git -C ~/. clean -fdx",
        "sh -c 'git -C ~ clean -fdx'",
        "env git -C ~ clean -fdx",
    ),
    *(
        "find ~ -delete",
        "rm -rf ~/*",
        "find / -name x -delete",
        "rm -rf $HOME/.",
        "git -C ~ rm -rf .",
        "rsync -a --delete empty/ ~/",
    ),
    *('for d in ~/*; do rm -rf "$d"; done', "ls -d ~/* | xargs rm -rf", 'a=(~/*); rm -rf "${a[@]}"'),
    *('set -- ~/*; rm -rf "$@"', "rm -rf $(echo ~/*)", "tar --remove-files -cf ../x.tar ~", "zip -rm ../x.zip ~"),
    *(
        "cd ~; ls | xargs rm -rf",
        "ls ~ | while read f; do rm -rf ~/$f; done",
        "rm -r ~/?*",
        "for f in /*; do rm -rf $f; done",
    ),
    *("git rebase -x 'rm -rf ~' --root", "git bisect run rm -rf ~", "git submodule foreach 'rm -rf ~'"),
    *("git filter-branch --tree-filter 'rm -rf ~'", "awk 'BEGIN { system(\"rm -rf ~\") }'", "vim -c ':!rm -rf ~'"),
)


CHANGES_FAR = ("git -C ~ reset --hard", "git -C ~ checkout -f", "git -C ~ stash -u", "git -C ~ restore .")


@for_each("mode", [AUTO, YOLO])
@for_each("command", REACHES_FAR)
def test_a_deletion_that_reaches_the_home_is_never_done_unasked(workspace, command, mode):
    assert judge(workspace, command, mode).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("command", CHANGES_FAR)
def test_changes_of_the_home_are_asked_about_in_auto_mode(workspace, command):
    assert judge(workspace, command, AUTO).verdict is not Verdict.ALLOW


LOSES = (
    *(
        "rm app.log",
        "rm -rf build",
        "rm *.log",
        "> app.log",
        ": > app.log",
        "truncate -s 0 app.log",
        "cp a.txt app.log",
        "mv a.txt app.log",
    ),
    *(
        "sed -i d app.log",
        "git clean -fdx",
        "git clean -fX",
        "rm -rf build a.txt",
        "find build -delete",
        "tee app.log < a.txt",
        "sort -o app.log a.txt",
    ),
    *(
        "ln -sf a.txt app.log",
        "install a.txt app.log",
        "git branch -D side",
        "git stash drop",
        "git stash clear",
        "git update-ref -d refs/heads/side",
    ),
    *(
        "git reflog expire --expire=now --all",
        "git gc --prune=now",
        "git tag -d v1",
        "git push --force",
        "git worktree remove x",
        "dd of=app.log if=a.txt",
    ),
)


@pytest.mark.parametrize("box", [OFF, FULL], ids=["off", "full"])
@pytest.mark.parametrize("command", LOSES)
def test_what_no_checkpoint_holds_is_not_lost_unasked(workspace, command, box):
    if command == "git push --force" and box is FULL:
        pytest.skip("the sandbox has no network")
    assert judge(workspace, command, AUTO, box).verdict is Verdict.ASK


KEPT = (
    "rm a.txt",
    "rm -rf docs",
    "git checkout -- a.txt",
    "git reset --hard",
    "git restore .",
    "mv a.txt b.txt",
    "sed -i d a.txt",
    "> a.txt",
)


@pytest.mark.parametrize("command", KEPT)
def test_what_a_checkpoint_holds_is_changed_unasked_in_a_full_sandbox(workspace, command):
    assert judge(workspace, command, AUTO, FULL, RuleBook()).verdict is Verdict.ALLOW
