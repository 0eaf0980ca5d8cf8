"""What is hidden stays hidden wherever the shell may be: after every way of moving, by every way of using a name.

`STAYS` are moves after which the shell may still be in the workspace, `ENTERS` those after which it may be in `sub`.
Where only `&&` joins the commands, a move leads there if it succeeds; after `;`, it may also have failed.
"""

import shutil
import subprocess
from itertools import product

import pytest
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import RuleBook

STAYS = r"""
cd $X
cd "$X"
cd "$(cmd)"
cd `cmd`
cd -
cd - && true
cd $X || true
cd $X && true
popd -n
popd
popd +0
popd -0
popd +1
pushd
pushd +1
pushd -0
pushd -n sub
pushd -n $X
pushd $X
pushd -
cd nowhere
cd nowhere $X
cd ""
cd --
cd -P
cd -Q sub
cd --bad
cd ~nobody
cd "$HOME"
cd
cd a b
cd s*
cd [
cd ${X:-docs}
cd ${X?no}
cd docs/$X
cd docs; cd -
cd docs; cd ..
cd docs; cd $X
pushd docs; popd
pushd docs; pushd
pushd docs; pushd +1
pushd docs; pushd -0
pushd docs; cd src; popd +1; popd
pushd docs; popd +1
pushd docs; popd -n
pushd docs; pushd src; popd; popd
pushd docs; pushd src; pushd +2
pushd docs; pushd src; pushd -0
pushd docs; pushd src; popd +1; popd
pushd docs; dirs -c; popd
cd docs && cd -
cd docs && cd "$OLDPWD"
cd docs && cd ~-
pushd docs; cd ~1
cd docs; cd $OLDPWD
cd docs | true
cd docs & wait
(cd docs)
(cd docs; cd $X)
{ cd $X; }
f() { cd $X; }; f
f() { cd "$1"; }; f "$X"
f() { cd "$1"; }; f docs; f ..
if cd $X; then true; fi
if true; then cd $X; fi
while cd $X; do break; done
until cd $X; do break; done
for d in $X; do cd $d; done
for d in docs src; do cd $d; cd ..; done
case $X in a) cd $X;; esac
! cd $X
time cd $X
command cd $X
builtin cd $X
command cd docs
command cd -
eval cd $X
eval "cd docs; cd .."
eval "$X"
source env.sh
. ./env.sh
trap 'cd docs' EXIT
CDPATH=docs cd src
CDPATH=docs; cd src
export CDPATH=docs; cd $X
cd link
cd link; cd ..
cd link/..
cd -P link/..
cd -P link; cd ..
cd deep/link2 && cd ..
cd deep/link2/..
set -P; cd deep/link2 && cd ..
cd () { true; }; cd docs
test -d docs && cd docs
[ -d $X ] && cd $X
cd docs || exit
cd docs || cd src
cd docs && make || cd src
read X && cd $X
X=$(pwd); cd docs; cd $X
X=$PWD; cd docs; cd "$X"
cd docs; X=$OLDPWD; cd $X
cd ..; cd w
cd "$(dirname "$0")"
cd "$(git rev-parse --show-toplevel)"
cd $PWD
cd .
cd ./$X
cd a; cd b; cd c; cd d; cd e; cd f; cd g; cd h; cd i
cd src; cd ..; cd docs; cd ..; cd build; cd ..; cd sub; cd ..
cd docs >/dev/null 2>&1
exec 3>&1; cd $X
shopt -s cdable_vars; X=docs; cd X
coproc cd docs
select d in $X; do cd $d; break; done
let x=1; cd $x
enable -n cd; cd docs
alias cd=true; cd docs
unset HOME; cd
HOME=docs; cd
HOME=nowhere cd
HOME=$X; cd
xargs cd
env cd docs
nice cd docs
sudo cd docs
bash -c "cd docs"
sh -c "cd $X"
""".strip().splitlines()
ENTERS = r"""
cd sub
cd sub && true
cd sub/
cd ./sub
cd "sub"
cd 'su'b
cd -- sub
cd -- -s
cd +s
cd -P sub
cd -L sub
cd -LP -- sub
cd $PWD/sub
cd "$(pwd)/sub"
cd "$(echo sub)"
cd ${X:-sub}
cd ${X:=sub}
cd "${X-sub}"
X=sub; cd $X
X=sub && cd "$X"
for d in sub; do cd $d; done
for d in docs sub; do cd $d; break; done
for d in *; do cd $d; done
pushd sub
pushd sub >/dev/null
pushd -n sub; popd
pushd -n sub; pushd
pushd -n sub; pushd +1
pushd -n sub; cd ~1
cd sub; cd ..; cd -
cd sub && cd .. && cd -
cd sub && cd .. && cd "$OLDPWD"
cd sub && cd .. && cd ~-
cd sub; cd $X
pushd sub; pushd docs; popd
pushd sub; pushd ../docs; popd
pushd sub; pushd ../docs; pushd
pushd sub; pushd ../docs; pushd +1
pushd sub; pushd ../docs; popd +0
pushd sub; pushd ../docs; popd -n
pushd sub; pushd ../docs; pushd ../src; pushd +1
pushd sub; pushd ../docs; pushd ../src; pushd +2
pushd sub; pushd ../docs; pushd ../src; popd +1; popd
pushd sub; cd ../docs; pushd
pushd sub; cd ../docs; popd; pushd
pushd sub; pushd $X; popd
pushd sub; pushd $X; pushd
cd s*
cd su?
cd {sub,}
cd [s]ub
cd link
cd deep/../sub
cd docs/../sub
cd -P link
command cd sub
builtin cd sub
command -p cd sub
builtin pushd sub
eval cd sub
eval "cd sub"
eval 'cd' 'sub'
eval "cd sub && true"
time cd sub
! cd sub
{ cd sub; }
f() { cd sub; }; f
f() { cd "$1"; }; f sub
function f { pushd sub; }; f
g() { cd sub; }; f() { g; }; f
a() { cd sub; }; b() { a; }; c() { b; }; d() { c; }; e() { d; }; h() { e; }; i() { h; }; i
if cd sub; then true; fi
if true; then cd sub; fi
if false; then true; else cd sub; fi
if false; then true; elif cd sub; then true; fi
while cd sub; do break; done
until cd sub; do true; done
while true; do cd sub; break; done
case x in x) cd sub;; esac
case $X in x) cd docs;; *) cd sub;; esac
true && cd sub
false || cd sub
true; cd sub
cd nowhere || cd sub
cd nowhere || cd sub && true
test -d sub && cd sub
[[ -d sub ]] && cd sub
cd sub || exit
cd sub || exit 1
cd docs && cd ../sub
cd docs; cd ../sub
CDPATH=. cd sub
CDPATH=$PWD; cd sub
CDPATH=outer cd inner
CDPATH=outer; cd inner
export CDPATH=outer; cd inner
declare CDPATH=outer; cd inner
CDPATH=outer && pushd inner
HOME=sub cd
HOME=sub; cd
HOME=$PWD/sub; cd
export HOME=$PWD/sub; cd
HOME=$PWD; cd ~/sub
shopt -s cdable_vars; X=sub; cd X
read X <<< sub; cd $X
printf -v X sub; cd $X
set -- sub; cd $1
set -- sub; cd "$@"
X=(sub); cd ${X[0]}
declare X=sub; cd $X
select X in sub; do cd $X; break; done
trap 'cd sub' DEBUG
trap 'cd sub' DEBUG; true
trap 'cd sub' ERR; false
trap -- 'cd sub' DEBUG
cd -- sub
cd sub/deep/a/b/c; for i in $(seq 4); do cd ..; done
cd sub/deep/a/b/c; for i in 1 2 3 4; do cd ..; done
cd sub/deep/a/b/c; while true; do cd ..; test -f c.txt && break; done
cd sub/deep/a/b/c; until test -f c.txt; do cd ..; done
cd sub > /dev/null
cd sub 2>&1
> /dev/null cd sub
shopt -s lastpipe; true | cd sub
X=1 cd sub
cd docs; cd src; cd sub; cd ../build; cd ../sub
cd docs; cd ..; cd src; cd ..; cd build; cd ..; cd sub
cd docs; cd ../src; cd ../build; cd ../x; cd ../y; cd ../z; cd ../sub
source env.sh; cd sub
. ./env.sh && cd sub
wait; cd sub
alias c=cd; cd sub
exec 3>&1; cd sub
set -e; cd sub
set -euo pipefail; cd sub
cd sub; ls
{ true; } && cd sub
(true) && cd sub
((1)) && cd sub
((x=1)); cd sub
let x=1 && cd sub
coproc true; cd sub
unset X; cd sub
cd "$PWD"/sub
cd ~+/sub
cd ${PWD}/sub
cd ${PWD%/*}/w/sub
cd ../w/sub
cd ..; cd w/sub
cd ..; cd w; cd sub
cd /; cd $OLDPWD/sub
cd /tmp && cd - && cd sub
cd /tmp; cd -; cd sub
cd $X; cd sub
cd - ; cd sub
popd; cd sub
popd -n; cd sub
pushd +1; cd sub
cd $X; pushd sub
cd $X && cd docs && cd ../sub
cd "$(cmd)" && cd sub
cd "$X" || cd sub
cd nest/link && cd ..
cd nest/link/..
cd -P nest/link && cd ..
cd sub/back && cd ..
cd sub/back/..
cd sub/back && pushd ..
""".strip().splitlines()
USES = """
cat {}
< {} cat
echo x > {}
sed -i s/a/b/ {}
rm {}
bash {}
[[ -f {} ]]
X={}; cat $X
x=$(< {})
for f in {}; do cat $f; done
cat sub/*
""".strip().splitlines()


HIDDEN, BESIDE = "what is hidden\n", "what is beside the workspace\n"
FILES = "src/main.py docs/x/guide.md build/out.o sub/c.txt sub/deep/d.txt sub/deep/a/b/c/e.txt"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moving") / "w"
    for name in (*FILES.split(), "README.md", "env.sh"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")
    (folder / "env.sh").write_text("")
    (folder / "sub" / "c.txt").write_text(HIDDEN)
    (folder.parent / "beside.txt").write_text(BESIDE)
    (folder.parent / "home").mkdir()
    links = {"link": "sub", "deep/link2": "../docs/x", "outer/inner": "../sub", "nest/link": "../sub/deep"}
    for name, target in (links | {"sub/back": "../docs", "-s": "sub", "+s": "sub"}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(target)
    return folder


def judged(workspace, command, mode=ApprovalMode.YOLO):
    facts, book = LocalShellFacts({}, lambda paths, roots: ()), RuleBook(ignored=("sub/c.txt",))
    posture = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, mode, facts=facts, book=book)
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture)


def run(folder, text):
    words = ["timeout", "5", "bash", "--noprofile", "--norc", "-c", text]
    ran = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return ran.stdout


def is_denied_or_hides(workspace, command):
    """Return True if a command is denied, or runs only in a form that does not show what is hidden."""
    decision = judged(workspace, command)
    return decision.verdict == "deny" or (decision.canonical and HIDDEN not in run(workspace, decision.canonical))


@pytest.mark.slow
@pytest.mark.process
@for_each("move, use", [*product(STAYS, USES)])
def test_a_hidden_file_stays_hidden_where_the_shell_may_still_be(workspace, move, use):
    assert is_denied_or_hides(workspace, f"{move}; {use.format('sub/c.txt')}")


@pytest.mark.slow
@for_each("move, use", [*product(ENTERS, USES[:-1])])
def test_a_hidden_file_stays_hidden_in_a_folder_that_the_shell_may_have_gone_to(workspace, move, use):
    assert judged(workspace, f"{move}; {use.format('c.txt')}").verdict == "deny"


@pytest.mark.slow
@pytest.mark.process
@for_each("move", ENTERS)
def test_a_pattern_leaves_out_a_hidden_file_in_a_folder_that_the_shell_may_have_gone_to(workspace, move):
    assert is_denied_or_hides(workspace, f"{move}; cat *")


EARLY = r"""
for i in 1 2; do cat c.txt; cd sub{}continue{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}if true; then continue; fi{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}eval continue{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}eval "true; continue"{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}command continue{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}builtin continue{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}$X{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}eval "$X"{}cd ..; done
for i in 1 2; do cat c.txt; cd sub{}. ./env.sh{}cd ..; done
for i in 1 2; do for j in 1; do cat c.txt; cd sub{}continue 2{}cd ..; done; done
for i in 1 2; do cat c.txt; {{ cd sub{}for j in 1; do continue 2; done{}cd ..; }}; done
for i in $(seq 2); do cat c.txt; cd sub{}continue{}cd ..; done
for f in *; do cat c.txt; cd sub{}continue{}cd ..; done
for ((i = 0; i < 2; i++)); do cat c.txt; cd sub{}continue{}cd ..; done
while true; do cat c.txt; cd sub{}continue{}cd ..; done
until false; do cat c.txt; cd sub{}continue{}cd ..; done
ls | while read f; do cat c.txt; cd sub{}continue{}cd ..; done
select x in a; do cat c.txt; cd sub{}continue{}cd ..; done
for i in 1 2; do cd sub{}break{}cd ..; done; cat c.txt
while true; do cd sub{}break{}cd ..; done; cat c.txt
while true; do cd sub{}break{}cd ..; done && cat c.txt
cd sub; for X in c.txt d.txt; do true{}break{}true; done; cat $X
while cd sub{}false; do cd ..; true{}true; done; cat c.txt
until cd sub; do true{}true{}cd ..; done; cat c.txt
f() {{ cd sub{}return{}cd ..; }}; f; cat c.txt
f() {{ while cd sub{}return; do true{}cd ..; done; }}; f; cat c.txt
f() {{ continue; }}; for i in 1 2; do cat c.txt; cd sub{}f{}cd ..; done
trap "cat c.txt" EXIT; {{ cd sub{}exit{}cd ..; }}
trap "cat c.txt" EXIT; {{ cd sub{}: ${{X?no}}{}cd ..; }}
trap "cat c.txt" DEBUG; {{ cd sub{}true{}cd ..; }}
trap continue DEBUG; for i in 1 2; do cat c.txt; cd sub{}true{}cd ..; done
(trap "cat c.txt" EXIT; cd sub{}exit{}cd ..)
"""


@for_each("command, joint", [*product(EARLY.strip().splitlines(), ("; ", " && "))])
def test_a_hidden_file_stays_hidden_where_a_loop_or_a_function_may_end_early(workspace, command, joint):
    assert judged(workspace, command.format(joint, joint)).verdict == "deny"


@pytest.mark.process
@for_each("end", ["continue", "break", "continue && true", "eval continue", "if true; then continue; fi"])
def test_a_loop_that_may_end_early_does_not_read_beside_the_workspace_unasked(workspace, end):
    command = f"cd src; for i in 1 2 3; do cd ..; cat beside.txt; {end}; cd src; done"
    assert BESIDE not in run(workspace, command) or judged(workspace, command, ApprovalMode.ASK).verdict == "ask"


@pytest.mark.process
@for_each(
    "command",
    [
        "for d in src docs; do [ -d $d ] || continue; cd $d; ls; cd ..; done",
        "for d in src docs; do if true; then ls $d; continue; fi; ls; done",
        "cd src; for i in 1 2; do ls; continue; done; cd ..; ls",
    ],
)
def test_a_loop_that_ends_early_where_it_began_is_not_asked_about_and_does_the_same(workspace, command):
    decision = judged(workspace, command, ApprovalMode.ASK)
    assert decision.verdict == "allow"
    assert run(workspace, decision.canonical) == run(workspace, command)


@for_each(
    "move", ["cd sub", "cd nest/link && cd ..", "cd sub/back/..", "cd -P nest/link/..", "eval cd sub", "cd -; cd sub"]
)
def test_a_move_that_succeeds_leads_to_a_hidden_file(workspace, move):
    assert judged(workspace, f"{move} && cat c.txt").verdict == "deny"


THERE_AND_BACK = {
    "cd src; ls; cd ..; ls": "src",
    "cd docs; cat x/guide.md; cd ../src; cat main.py; cd ..; ls": "src",
    "cd docs 2>/dev/null; ls; cd ..; ls": "docs",
    "for d in src docs; do cd $d; ls; cd ..; done": "docs",
    "if true; then cd src; ls; cd ..; fi; ls": "src",
    "bash -c 'cd src; ls; cd ..; ls'": "src",
    "cd docs; (cd x; ls; cd ..; ls); cd ..; ls": "docs/x",
    "cd src; pushd ../docs; ls; popd; cd ..; ls": "docs",
}
"""Commands, each with the last folder that it goes to."""
FURTHER = """
cd nowhere; ls; cd ..; ls
cd src; ls; cd ../..; ls
true || cd src; cd ..; ls
rm -r src; cd src; cd ..; ls
cd src & cd ..; ls
cd src | cat; cd ..; ls
(cd src; ls); cd ..; ls
shopt -s cdable_vars; cd src; cd ..; ls
cd() { true; }; cd src; cd ..; ls
"""


@pytest.mark.process
@for_each("command, last", [*THERE_AND_BACK.items()])
def test_reading_in_folders_and_back_is_not_asked_about_and_ends_where_a_move_fails(
    workspace, tmp_path_factory, command, last
):
    form = judged(workspace, command, ApprovalMode.ASK).canonical
    assert judged(workspace, command).canonical == form
    assert run(workspace, form) == run(workspace, command)
    lacking = tmp_path_factory.mktemp("lacking") / "w"
    shutil.copytree(workspace, lacking, symlinks=True)
    shutil.rmtree(lacking / last)
    (lacking.parent / "beside.txt").touch()
    assert "beside" not in run(lacking, form)


@for_each("command", FURTHER.strip().splitlines())
def test_moves_that_may_fail_or_lead_out_are_asked_about(workspace, command):
    assert judged(workspace, command, ApprovalMode.ASK).verdict == "ask"


@for_each("move", [move for move in STAYS if "$X" in move and "X=$" not in move])
def test_what_runs_in_an_unknown_folder_is_asked_about_in_auto(workspace, move):
    assert judged(workspace, f"{move}; cat README.md", ApprovalMode.AUTO).verdict == "ask"


@for_each(
    "move", ["cd docs", "cd sub", "pushd docs", "(cd $X)", "cd docs | cat", "cd sub &", "(cd sub)", "bash -c 'cd sub'"]
)
def test_a_name_elsewhere_is_not_taken_for_a_hidden_one(workspace, move):
    assert judged(workspace, f"{move} && cat d.txt").verdict == "allow"


def test_a_search_leaves_out_what_is_hidden_where_the_shell_may_still_be(workspace):
    assert "--exclude=c.txt" in judged(workspace, "cd $X; grep -r x sub").mixed


def nested(body, depth):
    calls = "; ".join(f"f{number}() {{ f{number - 1}; }}" for number in range(1, depth))
    return f"f0() {{ {body}; }}; {calls}; f{depth - 1}"


@for_each("depth", [2, 5, 6, 7, 8, 12, 16])
def test_what_functions_do_is_judged_however_deep_they_are_nested(workspace, depth):
    assert judged(workspace, nested("rm -rf /", depth)).verdict == "deny"
    assert judged(workspace, nested("cd sub", depth) + "; cat c.txt").verdict == "deny"


@for_each(
    "command",
    [nested("rm -rf /", 30), "f() { g; g; g; }; g() { h; h; h; h; }; h() { " + "i; " * 50 + "}; i() { :; }; f"],
)
def test_functions_that_call_each_other_too_often_to_follow_are_asked_about(workspace, command):
    assert judged(workspace, command).verdict in ("ask", "deny")


@pytest.mark.parametrize("command", ["trap -- 'cat sub/c.txt' EXIT", "trap 'cat sub/c.txt' EXIT"])
def test_a_hidden_file_is_denied_in_a_text_that_runs_later(workspace, command):
    assert judged(workspace, command).verdict == "deny"


@pytest.mark.parametrize("mode", [ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO])
@pytest.mark.parametrize("command", ["trap -- 'rm -rf /' EXIT", "trap 'rm -rf /' EXIT"])
def test_what_is_never_done_is_not_done_later_either(workspace, command, mode):
    assert judged(workspace, command, mode).verdict == "deny"


def test_a_function_named_like_a_loop_is_judged(workspace):
    command = "loop() { cat sub/c.txt; }; cd docs; while true; do cd ..; done; $X"
    assert judged(workspace, command).verdict in ("ask", "deny")
