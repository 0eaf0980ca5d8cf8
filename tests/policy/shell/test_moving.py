"""What is hidden stays hidden wherever the shell may be: after every way of moving, by every way of using a name.

`STAYS` are moves after which the shell may still be in the workspace, `ENTERS` those after which it may be in `sub`.
Where only `&&` joins the commands, a move leads there if it succeeds; after `;`, it may also have failed.
"""

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
""".strip().splitlines()


FILES = "src/main.py docs/x/guide.md build/out.o sub/c.txt sub/deep/d.txt sub/deep/a/b/c/e.txt"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moving") / "w"
    for name in (*FILES.split(), "README.md", "env.sh"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
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


@pytest.mark.slow
@for_each("move, use", [*product(STAYS, USES)])
def test_a_hidden_file_stays_hidden_where_the_shell_may_still_be(workspace, move, use):
    decision = judged(workspace, f"{move}; {use.format('sub/c.txt')}")
    assert decision.verdict == "deny" or "|| exit; " in decision.canonical


@pytest.mark.slow
@for_each("move, use", [*product(ENTERS, USES)])
def test_a_hidden_file_stays_hidden_in_a_folder_that_the_shell_may_have_gone_to(workspace, move, use):
    assert judged(workspace, f"{move}; {use.format('c.txt')}").verdict == "deny"


@for_each(
    "move", ["cd sub", "cd nest/link && cd ..", "cd sub/back/..", "cd -P nest/link/..", "eval cd sub", "cd -; cd sub"]
)
def test_a_move_that_succeeds_leads_to_a_hidden_file(workspace, move):
    assert judged(workspace, f"{move} && cat c.txt").verdict == "deny"


THERE_AND_BACK = """
cd src; ls; cd ..; ls
cd docs; cat x/guide.md; cd ../src; cat main.py; cd ..; ls
cd docs 2>/dev/null; ls; cd ..; ls
for d in src docs; do cd $d; ls; cd ..; done
if true; then cd src; ls; cd ..; fi; ls
bash -c 'cd src; ls; cd ..; ls'
cd docs; (cd x; ls; cd ..; ls); cd ..; ls
cd src; pushd ../docs; ls; popd; cd ..; ls
"""
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
@for_each("command", THERE_AND_BACK.strip().splitlines())
def test_reading_in_folders_and_back_is_not_asked_about_and_ends_where_a_move_fails(workspace, tmp_path, command):
    form = judged(workspace, command, ApprovalMode.ASK).canonical
    assert judged(workspace, command).canonical == form
    (tmp_path / "beside.txt").touch()
    (tmp_path / "w").mkdir(exist_ok=True)
    words = ["bash", "--noprofile", "--norc", "-c", form]
    ran = subprocess.run(words, cwd=tmp_path / "w", capture_output=True, text=True, check=False)
    assert "beside" not in ran.stdout


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
