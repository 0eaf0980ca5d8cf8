"""What stands between a command and its effect hides nothing: wrappers, other folders, switches, git's store."""

import pytest
from tests.policy.shell.promise import HELD, PromiseWorld
from tests.tables import for_each

from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

ASK, OFF, YOLO = "ask", "auto without a sandbox", "yolo with deny rules"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = PromiseWorld(tmp_path_factory.mktemp("behind").resolve())
    yield made
    made.close()


NEVER_IN_YOLO = """
ls -A | xargs nice rm -rf
ls -A | xargs env rm -rf
echo .git | xargs timeout 5 rm -rf
echo .git | xargs nohup nice rm -rf
ls -A | xargs -I{} nice rm -rf {}
find . -name HEAD | xargs nice rm
echo git push origin main | xargs env
echo git push origin main | xargs timeout 5
echo rm -rf .git | xargs nice
echo rm -rf .git | xargs env X=1
echo git push origin main | xargs -I{} sh -c '{}'
echo rm -rf .git | xargs -I{} sh -c '{}'
env -C .. rm -rf w
env -C .git rm HEAD
env -C.git rm HEAD
env --chdir=.git rm HEAD
nice env -C .git rm HEAD
env -C .git sh -c 'rm HEAD'
unshare -r --wd=.git rm HEAD
env -C sub cat c.txt
env -C src cat ../private/n.txt
env -C src rm -r ../sub
find . -name config -execdir rm HEAD ;
find src -execdir rm -rf ../.git ;
find private -name n.txt -execdir cat n.txt ;
find src -name a.py -execdir cat ../private/n.txt ;
find sub -name c.txt -execdir rm c.txt ;
shopt -s globstar; cat p/**/n.txt
shopt -s globstar; rm -f .git/**/HEAD
shopt -s nocaseglob; cat PRIV*/n.txt
shopt -s nocaseglob; mv PRIV* d
ln -s . y; rm -rf y/y/y/y/y/y/.g*
ln -s . y; rm y/y/y/y/y/y/sub/*
ln -s . y; cat y/y/y/y/y/y/y/y/private/n.txt
"$(git --exec-path)"/git-push origin main
/usr/lib/git-core/git-push origin main
echo xgit | tr x . | xargs rm -rf
echo x.git | cut -c2- | xargs rm -rf
echo .GIT | tr A-Z a-z | xargs rm -rf
rbash -c 'rm -rf .git'
cd $D && git clean -fdx
git -C "$D" clean -fdx
git -C "$(cat a.txt)" clean -fdx
git --git-dir=.git show HEAD:private/n.txt
cat /proc/$$/cwd/private/n.txt
echo $(</proc/$$/cwd/sub/c.txt)
cat /proc/$$/root$PWD/private/n.txt
exec 3<.; cat /dev/fd/3/private/n.txt
x=$RANDOM; cat < ${x}sub/c.txt
{ cat; } < /proc/$PPID/cwd/sub/c.txt
ln -sf a.txt .git/HEAD
mv a.txt .git/HEAD
rename x y .git/HEAD
echo 'git push origin main' > .git/hooks/post-checkout; git checkout -q .
printf '[alias] p = push' >> .git/config; git p origin main
printf 'all: ; git push origin main' > Makefile; make
"""


@for_each("command", NEVER_IN_YOLO.strip().splitlines())
def test_no_wrapper_and_no_other_folder_leads_by_floors_and_rules(world, command):
    assert world.decide(command, YOLO).verdict is not Verdict.ALLOW


FREE_IN_YOLO = """
ls src | cut -c1- | xargs wc -l
git branch | cut -c3- | xargs git branch -d
echo a.txt | xargs nice wc
echo a.txt | xargs -I{} sh -c 'wc {}'
find src -name '*.pyc' | xargs rm -f
env -C src ls
find src -name '*.py' -execdir wc -l {} ;
"""


@for_each("command", FREE_IN_YOLO.strip().splitlines())
def test_everyday_commands_behind_wrappers_ask_nothing_in_yolo(world, command):
    assert world.decide(command, YOLO).verdict is Verdict.ALLOW


ASKED = """
for o in .git/objects/*/*; do cat $o | zcat; done
cat .git/index
strings .git/index
cat .git/logs/HEAD
git log -p --follow a.txt
git show --follow HEAD -- a.txt
"""


@pytest.mark.parametrize("mode", [ASK, OFF])
@for_each("command", ASKED.strip().splitlines())
def test_what_git_keeps_of_hidden_files_is_not_read_as_plain_files(world, command, mode):
    assert world.decide(command, mode).verdict is Verdict.ASK


@pytest.mark.parametrize(
    "command",
    ["shopt -s globstar; cat k/**/x", "ln -s . y; cat y/y/y/y/y/y/../out/o.txt", "ln -s . y; cat y/y/y/y/y/y/.e*"],
)
def test_patterns_and_links_that_lead_far_ask_in_auto(world, command):
    assert world.decide(command, OFF).verdict is Verdict.ASK


@pytest.mark.parametrize("command", ["ln -s src .github", "ln -s src venv"])
def test_a_link_to_a_folder_asks_where_others_run_files_of_its_name(world, command):
    assert world.decide(command, OFF).verdict is Verdict.ASK


@pytest.mark.parametrize(
    "command", ["cat .git/HEAD", "git log --follow --oneline a.txt", "cat .git/config", "git -P diff"]
)
def test_other_files_of_git_are_read_without_a_question(world, command):
    assert world.decide(command, ASK).verdict is Verdict.ALLOW


NAMED_IN_FULL = """
LANG=C git show TAG; touch x
LC_ALL=C git cat-file -p TAG && touch x
TZ=UTC git log -p; touch x
env LANG=C git show TAG; touch x
A=1 git show TAG > x
xargs -a id.pem echo
xargs --arg-file=id.pem -n1 echo
uv run --env-file id.pem x.py
dd if=id.pem of=x
sed -n 'R id.pem' a.txt
awk 'BEGIN { ARGV[1] = "id.pem"; ARGC = 2 } 1'
"""


@for_each("command", NAMED_IN_FULL.strip().splitlines())
def test_what_a_full_sandbox_does_not_hide_asks_behind_variables_and_in_words_of_wrappers(world, command):
    assert world.decide(command, HELD).verdict is Verdict.ASK


OUTPUTS = """
git config core.hooksPath sub
git config alias.x '!touch y'
git archive -o ~/.bashrc HEAD
git archive --output=.git/hooks/pre-commit HEAD
git bundle create ../x HEAD
git format-patch -o ~ -1
git worktree add ~/x
git clone x ~/y
git fast-export --export-marks=../x HEAD
"""


@for_each("command", OUTPUTS.strip().splitlines())
def test_an_allow_of_a_program_covers_no_output_that_its_options_put_elsewhere(world, command):
    rule = Rule(Verdict.ALLOW, name="git", argv=("git",))
    context = PolicyContext(
        world.workspace, world.state, Mode.ACT, ApprovalMode.AUTO, book=RuleBook(rules=(rule,)), facts=world.facts
    )
    for text, verdict in ((command, Verdict.ASK), ("git archive -o x.tar HEAD", Verdict.ALLOW)):
        call = Summary(text, ToolKind.EXECUTE, command=text, tool="execute_command")
        assert decide_call(call, context).verdict is verdict


TURNS = """
declare -n r=z; r=sub/c.txt; cat $z
f() { local -n r=$1; cat $r; }; z=sub/c.txt; f z
declare -l x=SUB; cat $x/c.txt
mkdir -p n/m; ln -s ../sub n/m/k; mv n/m x; cat x/k/c.txt
mkdir -p n/m; ln -s ../sub n/m/k; cp -a n/m x; cat x/k/c.txt
for d in ../*; do cat $d/private/n.txt; done
"""


@for_each("command", TURNS.strip().splitlines())
def test_names_that_stand_for_others_and_links_that_move_are_not_taken_for_what_they_were(world, command):
    assert world.decide(command, YOLO).verdict is not Verdict.ALLOW


def test_a_folder_with_links_in_it_asks_before_it_is_moved_or_copied_with_them(world):
    (world.workspace / "linked").mkdir()
    (world.workspace / "linked" / "k").symlink_to("../a.txt")
    for command in ("mv linked src/linked", "cp -a linked src/linked"):
        assert world.decide(command, OFF).verdict is Verdict.ASK
    assert world.decide("cp -a src lib", OFF).verdict is Verdict.ALLOW
