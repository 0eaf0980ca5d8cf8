"""A script or names that come through a program's input are judged, whatever stands between the text and the reader."""

import re
import shlex
import subprocess
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

AROUND = """
%s
eval %s
eval '%s'
eval eval %s
command %s
env %s
time %s
bash -c '%s'
bash -lc "%s"
{ %s; }
( %s )
if true; then %s; fi
while true; do %s; break; done
f() { %s; }; f
f() { eval %s; }; f
{ eval '%s'; }
""".strip().splitlines()
READERS = {
    "bash": "tail -n 2 src/../sub/c.txt",
    "sh": "cat sub/c.txt",
    "xargs cat": "sub/c.txt",
    "xargs -n 1 cat": "src/a.py sub/c.txt",
}
FEEDS = ["{} <<< '{}'", "{} << 'X'\n{}\nX", "echo '{1}' | {0}", "printf '%s\\n' '{1}' | {0}"]


@pytest.fixture(scope="module")
def posture(tmp_path_factory: pytest.TempPathFactory) -> PolicyContext:
    workspace = tmp_path_factory.mktemp("w")
    for folder in ("src", "sub", ".git"):
        (workspace / folder).mkdir()
    for file in ("src/a.py", "sub/c.txt"):
        (workspace / file).write_text("x\n")
    facts = LocalShellFacts({}, lambda paths, roots: ())
    book = RuleBook(ignored=("sub/c.txt",))
    return PolicyContext(workspace, Path("/nowhere"), Mode.ACT, ApprovalMode.YOLO, facts=facts, book=book)


@for_each("around, reader, feed", list(product(AROUND, READERS, FEEDS)))
def test_what_is_fed_to_a_program_is_judged_as_what_it_does(
    posture: PolicyContext, around: str, reader: str, feed: str
) -> None:
    if "f()" in around and "|" in feed:
        definition, call = around.split("; f", 1)[0], "f"
        command = f"{definition % reader}; {feed.format(call, READERS[reader])}"
    else:
        command = feed.format(around % reader, READERS[reader])
    assert verdict(command, posture) is not Verdict.ALLOW, command


DISGUISED = r"""
xargs rm -rf <<< '\.git'
xargs rm -rf <<< '".git"'
xargs -d: rm -rf <<< a:.git
xargs -d , rm -rf <<< a,.git
xargs --delimiter=x rm -rf <<< ax.git
xargs -I{} rm -rf .{} <<< git
xargs -I % rm -rf .% <<< git
echo git | xargs -i rm -rf .{}
{ echo git; } | xargs -I{} rm -rf .{}
echo '\.git' | xargs rm -rf
{ echo "'.git'"; } | xargs rm -rf
printf '.git\n' | xargs rm -rf
printf '%s\n' a b .git | xargs -n 1 rm -rf
printf '.%s' git | xargs rm -rf
printf '%.4s' .gitxxx | xargs rm -rf
printf '%b' '.gi\x74' | xargs rm -rf
echo -e '.gi\0164' | xargs rm -rf
echo a:.git | xargs -d: rm -rf
printf '%s -rf .git' rm | bash
echo -e 'rm -rf .gi\x74' | bash
while read x; do rm -rf "$x"; done <<< '\.git'
"""
HARMLESS = r"""
echo build dist | xargs rm -rf
printf 'build\ndist\n' | xargs rm -rf
printf '%s\n' a.txt b.txt | xargs -n 1 rm
xargs -d: rm -rf <<< build:dist
ls src | xargs -I{} rm -rf src/{}
echo a | xargs -I{} cp {} src/{}.bak
"""


def verdict(command: str, posture: PolicyContext) -> Verdict:
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command, in_sandbox=True), posture).verdict


@for_each("command", DISGUISED.strip().splitlines())
def test_names_are_parted_and_spelled_as_their_reader_does_it(posture: PolicyContext, command: str) -> None:
    assert verdict(command, posture) is not Verdict.ALLOW


@for_each("command", HARMLESS.strip().splitlines())
def test_harmless_names_are_not_asked_about_in_yolo_mode(posture: PolicyContext, command: str) -> None:
    assert verdict(command, posture) is Verdict.ALLOW


GIVEN = ["sub/c.txt", "s*/c.txt", "cat sub/c.txt", "cat s*/c.txt"]
TO_A_SHELL = [
    "bash -c 'RUNS' _ 'GIVEN'",
    "bash -c 'RUNS' 'GIVEN'",
    "sh -ec 'RUNS' _ x 'GIVEN'",
    "bash -s -- 'GIVEN' <<< 'RUNS'",
    "X='GIVEN' bash -c 'RUNS'",
    "env X='GIVEN' bash -c 'RUNS'",
    "env -u Y X='GIVEN' sh -c 'RUNS'",
    "export X='GIVEN'; bash -c 'RUNS'",
]
PLACES = {"'GIVEN'": "$0", "_ 'GIVEN'": "$1", "_ x 'GIVEN'": "$2", "-- 'GIVEN'": "$1", "X='GIVEN'": "$X"}


@for_each("around, shell, given", list(product(("%s", "f() { %s; }; f", "{ %s; }"), TO_A_SHELL, GIVEN)))
def test_what_a_shell_is_given_is_judged_as_what_its_script_makes_of_it(
    posture: PolicyContext, around: str, shell: str, given: str
) -> None:
    place = max((one for one in PLACES if one in shell), key=len)
    runs = f'eval "{PLACES[place]}"' if given.startswith("cat") else f"cat {PLACES[place]}"
    assert verdict(around % shell.replace("RUNS", runs).replace("GIVEN", given), posture) is Verdict.DENY


UNREAD = r"""
{ echo ls; echo 'cat sub/c.txt'; } | sh
echo 'cat sub/c.txt' | cat | sh
echo 'cat sub/c.txt' | tee /dev/null | bash -e
echo x | { echo 'cat sub/c.txt'; } | sh
if true; then echo 'cat sub/c.txt'; fi | sh
f() { echo 'cat sub/c.txt'; }; f | sh
sh < <(echo 'cat sub/c.txt')
sh <(echo 'cat sub/c.txt')
. <(echo 'cat sub/c.txt')
cat <<< 'cat sub/c.txt' | sh
sed s/1/b/ <<< 'cat su1/c.txt' | zsh
python3 -c "print('cat sub/c.txt')" | sh
base64 -d < x | sh
base64 -d < x | sh -s a b
base64 -d < x | bash -x -
base64 -d < x | bash /dev/stdin
base64 -d < x | . /dev/stdin
base64 -d < x | nice env A=b sh
base64 -d < x | sudo sh
base64 -d < x | (sh)
base64 -d < x | parallel
base64 -d < x | xargs sh -c
base64 -d < x | xargs -0 bash -c
base64 -d < x | xargs -I% sh -c %
base64 -d < x | bash -euo pipefail
base64 -d < x | bash --rcfile y -o pipefail
base64 -d < x | bash -xs a
base64 -d < x | bash /dev//stdin
base64 -d < x | xargs echo ls | bash
eval "$(base64 -d < x)"
sh -c "$(base64 -d < x)"
sh -c "$X"
cat x > >(bash)
cat x | tee >(sh) >/dev/null
{ cat x; } > >(bash)
cat x > >(env A=b bash -s)
cat x | xargs -I% sh -c '% a'
cat x | xargs -I% sh -c 'echo a; %'
cat x | xargs -I% bash -c 'eval %'
cat x | xargs -I{} bash -c '{} a'
xargs -a x -I% sh -c %
xargs < x sh -c
find src -exec sh -c '{}' \;
find src -exec sh -c '{} a' \;
find src -execdir bash -ec {} ';'
fd . src -x sh -c
fd . src -x bash -c '{} a'
parallel < x
parallel -a x
parallel :::: x
parallel {} :::: x
parallel sh -c :::: x
base64 -d < x | parallel '{} a'
base64 -d < x | parallel sh -c
base64 -d < x | bash /proc/$$/fd/0
base64 -d < x | . /proc/self/fd/0
env -S "$(base64 -d < x)"
env --split-string="$(base64 -d < x)"
env -S "$X"
watch "$(base64 -d < x)"
watch -n1 "ls $X"
script -qc "$(base64 -d < x)" /dev/null
script -c "$X" /dev/null
flock x --command="$X"
base64 -d < x | while read l; do sh -c "wc -l $l"; done
read -r a < x; bash -c "ls $a"
exec 3< x; bash <&3
exec < x; sh
exec {fd}< x; bash <&$fd
coproc cat; bash <&${COPROC[0]}
bash 3<<< ls <&4
sh /dev/fd/3
x=$(base64 -d < x); sed "s/a/$x/" a.txt
cp /usr/bin/wc g; ./g push
ln -s $(which git) g; env ./g push
cat /usr/bin/git > g; chmod +x g; bash -c './g push'
echo ls > x.sh; . ./x.sh
tee x.sh <<< ls; bash x.sh
PATH=.:$PATH; cp /usr/bin/wc g; g push
""".strip().splitlines()


@for_each("command", UNREAD)
def test_a_denied_place_asks_before_a_shell_runs_what_nobody_read(posture, command):
    rules = [
        Rule(Verdict.DENY, name="guarded", paths=("sub/**",)),
        Rule(Verdict.DENY, name="push", argv=("git", "push")),
    ]
    for rule in rules:
        assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is not Verdict.ALLOW
    assert verdict(command, replace(posture, book=RuleBook())) is Verdict.ALLOW or re.search("sudo|execdir", command)


@for_each(
    "command",
    [
        "bash --rcfile /dev/null -c 'cat sub/c.txt'",
        "echo 'cat sub/c.txt' | bash -euo pipefail",
        "echo x | nice echo 'cat sub/c.txt' | sh",
        "true | printf 'cat sub/c.txt' | env bash",
    ],
)
def test_the_last_command_of_a_pipe_that_reads_nothing_says_what_is_fed(posture, command):
    assert verdict(command, posture) is not Verdict.ALLOW


RUNS_TEXT = r"""
git -c alias.p=push p
git config alias.p push
git -c core.fsmonitor='git push; true' status
git bisect run git push
git ls-remote --upload-pack='git push;' .
git rebase -x 'cat sub/c.txt' HEAD~1
git difftool -y -x 'cat sub/c.txt'
git grep -O'cat sub/c.txt' x
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p
make -f - <<< 'a:; git push'
make --eval='$(shell git push)'
sed '1e git push' a.txt
sed 's/.*/git push/e' a.txt
sed 's|x|git push|ge' a.txt
sed 's/x/git push/e;p' a.txt
sed --expression='1e git push' a.txt
sed '1~2e git push' a.txt
sed 'y/a/b/;1e git push' a.txt
gsed '1e git push' a.txt
awk '{print | s}' s=sh
tar cf x --to-comm='git push' src
git --exec-path=. log
awk 'BEGIN{system("git push")}'
awk 'BEGIN{print "x" | "sh"}'
split --filter='git push' a.txt
tar cf x.tar --checkpoint-action=exec='git push' src
tar -I 'git push; cat' -cf x src
zip x.zip -T -TT 'git push;'
npm exec -c 'git push'
ssh -oProxyCommand='git push' x
ed <<< '!git push'
vim -c ':!git push'
gdb -batch -ex 'shell git push'
sqlite3 :memory: '.shell git push'
tmux new -d 'git push'
/usr/bin/g[i]t push
man -P 'git push' ls
man --pager='git push' ls
less '+!git push' a.txt
socat - EXEC:'git push'
make -f <(echo 'a:; git push')
make -f /dev/stdin
sed -f- a.txt
sed --file=- a.txt
sed -nf /dev/stdin a.txt
awk -f - a.txt
awk -f <(echo x) a.txt
awk '{print "a;b" | "sh"}' a.txt
awk '/"/ {print "x" | "git push"; print "\""}' a.txt
awk 'BEGIN{c="git push"; print "a;b" | c}'
awk '{s="system"; @s("git push")}' a.txt
sed '/P/Ie git push' a.txt
sed '1egit push' a.txt
sed '0~3egit push' a.txt
sed -e p -e '1{e git push' -e '}' a.txt
sed 'sxaxgit pushxe' a.txt
sed 's/[/]e;e git push/x/' a.txt
git config core.fsmonitor 'git push'
git config set core.pager 'git push'
git config --global diff.x.textconv 'git push'
git config --add credential.helper '!git push'
git config alias.x push
git config include.path x
git -c diff.external='git push' diff
git -c remote.origin.uploadpack='git push' fetch
git clone -u 'git push' x y
git clone --upload-p='git push' x y
git clone --config core.fsmonitor='git push' x y
git ls-remote --exec='git push' .
zip -T --unzip-command 'git push' x a.txt
export GIT_EXTERNAL_DIFF='git push'; git diff
env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p
GIT_CONFIG_COUNT=1; export GIT_CONFIG_COUNT; git p
"""


@for_each("command", RUNS_TEXT.strip().splitlines())
def test_a_deny_rule_asks_before_a_program_runs_text_that_is_not_followed(posture, command):
    rule = Rule(Verdict.DENY, name="push", argv=("git", "push"))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.ASK


OPENED = """
perf stat git push
dumb-init git push
tini -- git push
/lib64/ld-linux-x86-64.so.2 /usr/bin/git push
unheard-of --flag value git -C . push origin
set -- git push; "$@"
linux64 git push
setarch x86_64 -R git push
chrt -i 0 git push
choom -n 1 -- git push
ssh-agent git push
dbus-run-session git push
script -q -c'git push' /dev/null
sg root 'git push'
su <<< 'git push'
newgrp <<< 'git push'
unshare -r <<< 'git push'
script -q /dev/null <<< 'git push'
git pu${x}sh
git push$x
git push"$@"
git p$()ush
git pu$(true)sh
git push$IFS
git pu${x:-${y}}sh
git pu${x:+'}'}sh
git pus?
git pu*
git send-pack origin main
git-send-pack origin
git http-push x
git for-each-repo --config=x push
git subtree push -P src o b
git lfs push o b
git svn dcommit
git p4 submit
y=z; z=push; git ${!y}
x=pZush; git ${x/Z/}
x=PUSH; git ${x,,}
printf -v z %s%s pu sh; git $z
exec 3<<< push; read x <&3; git $x
exec 3<<< 'git push'; bash <&3
exec <<< 'git push'; sh
ls | xargs -I% sh -c 'git pu$1sh'
"""


@for_each("command", OPENED.strip().splitlines())
def test_a_deny_rule_holds_behind_every_wrapper_and_for_words_with_parts_that_may_be_nothing(posture, command):
    rule = Rule(Verdict.DENY, name="push", argv=("git", "push"))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.DENY


WORDS_ONLY = """
echo git push
printf '%s\\n' git push
man git push
which git push
git commit -m 'git push'
git stash push
less +G a.txt
less +/x a.txt
man ls
make -f other.mk
sed -f x.sed a.txt
awk -f x.awk a.txt
"""


@for_each("command", WORDS_ONLY.strip().splitlines())
def test_words_that_no_program_runs_are_no_commands_to_a_deny_rule(posture, command):
    rule = Rule(Verdict.DENY, name="push", argv=("git", "push"))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.ALLOW


NAMED_IF_EMPTY = """
cat <(echo sub/c.txt) | xargs cat
sort <(echo sub/c.txt) | xargs mytool
paste <(echo s[u]b/c.txt) a.txt | xargs cat
x=(a b c d e f g h i sub/c.txt); cat ${x[9]}
for x in {1..60} sub/c.txt; do cat $x; done
declare -A m=([a]=1 [b]=2 [c]=3 [d]=4 [e]=5 [f]=6 [g]=7 [h]=8 [i]=sub/c.txt); cat ${m[i]}
xargs sh -c 'cat ${10}' _ <<< 'a b c d e f g h i s[u]b/c.txt'
cat su${x}b/c.txt
cat < su${x}b/c.txt
cd su$(true)b && cat c.txt
grep -r . su${x}b
echo x > su${x}b/c.txt
rm -r su${x}b
mv su${x}b z
set --; cat su$1b/c.txt
cat sub/$x
cat s*/c.txt$x
cat s*${x}b/c.txt
dd if=su${x}b/c.txt
{ cat; } < su${x}b/c.txt
x=s${x:-u}b/c.txt; cat $x
x=suZb/c.txt; cat ${x/Z/}
x=Zsu${x}b/c.txt; cat ${x/Z/}
x=SU${y}B/C.TXT; cat ${x,,}
x=ZZsu${y}b/c.txt; cat ${x:2}
! x=suZb/c.txt; cat ${x/Z/}
x=SUB/C.TXT; rm ${x,,}
x=xsub/c.txt; cp ${x:1} z
cat ${x/abc/sub}/c.txt
y=z; z=sub/c.txt; cat ${!y}
declare -A m=([a]=sub/c.txt); cat ${m[a]}
printf -v z %s%s su b/c.txt; cat $z
read -d p x <<< subp; cat $x/c.txt
IFS=x read x y <<< subxc; cat $x/c.txt
readarray a < <(echo sub); cat ${a}/c.txt
exec 3<<< sub/c.txt; read x <&3; cat $x
cat $(echo sub/c.txt | sort)
printf '%s\\n' sub/c.txt | sort | while read x; do cat $x; done
printf '%s\\n' a b c d e f g h i sub/c.txt | while read x; do cat $x; done
echo sub/c.txt | cat $(cat)
{ cat $(head -1); } <<< s?b/c.txt
f() { echo sub/c.txt; }; cat $(f)
cat $(bash <<< 'echo sub/c.txt')
ls | while read -r f; do exec 3<<< sub/c.txt; read x <&3; cat $x; done
while read -r f; do exec 3<<< su${z}b/c.txt; read x <&3; cat $x; done < <(ls)
exec 3<<< sub/c.txt; ls | bash -c 'read x <&3; cat $x'
touch x; echo sub/c.txt | xargs cat
ls | xargs -I% sh -c 'cat "$@"su${x}b/c.txt'
git cat-file --batch <<< HEAD:sub/c.txt
echo sub/c.txt | cpio -o
tar cf x.tar -T - <<< sub/c.txt
"""


@for_each("command", NAMED_IF_EMPTY.strip().splitlines())
def test_a_name_with_unknown_parts_is_judged_as_if_they_were_nothing(posture, command):
    rule = Rule(Verdict.DENY, name="guarded", paths=("sub/**",))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.DENY
    assert verdict(command, replace(posture, book=RuleBook(ignored=("sub/",)))) is not Verdict.ALLOW


FED = r"""
bash -c 'SCRIPT'
bash <<< 'SCRIPT'
bash << 'X'\nSCRIPT\nX
x='SCRIPT'; bash <<< "$x"
bash -s a <<< 'SCRIPT'
bash /dev/fd/3 3<<< 'SCRIPT'
bash <&3 3<<< 'SCRIPT'
exec 3<<< 'SCRIPT'; bash <&3
exec <<< 'SCRIPT'; sh
echo 'SCRIPT' | bash
bash < <(echo 'SCRIPT')
bash <(echo 'SCRIPT')
. /dev/stdin <<< 'SCRIPT'
{ bash; } <<< 'SCRIPT'
f() { bash; }; f <<< 'SCRIPT'
bash <<< "$(echo 'SCRIPT')"
""".strip().splitlines()
NAMES_IN_SCRIPTS = """
cat NAME
x=NAME; cat $x
read x <<< NAME; cat $x
read x < <(echo NAME); cat $x
exec 3<<< NAME; read x <&3; cat $x
exec 3<<< NAME; read -u 3 x; cat $x
exec 3<<< NAME; cat $(cat <&3)
exec 3<<< NAME; x=$(</dev/fd/3); cat $x
exec <<< NAME; read x; cat $x
exec 3< <(echo NAME); read x <&3; cat $x
exec 3<<< NAME; while read x <&3; do cat $x; done
exec {q}<<< NAME; read x <&$q; cat $x
{ read x; cat $x; } <<< NAME
echo NAME | { read x; cat $x; }
cat $(sort <<< NAME)
cat $(echo NAME | sort)
x=$(env echo NAME); cat $x
exec 3< NAME; cat <&3
""".strip().splitlines()
NAMES = ["sub/c.txt", "s[u]b/c.txt", "s*/c.txt", "su${q}b/c.txt"]


@for_each("fed, script, name", list(product(FED, NAMES_IN_SCRIPTS, NAMES)))
def test_a_script_is_followed_however_it_comes_and_however_it_names_a_file(posture, fed, script, name):
    rule = Rule(Verdict.DENY, name="guarded", paths=("sub/**",))
    command = fed.replace(r"\n", "\n").replace("SCRIPT", script.replace("NAME", name))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is not Verdict.ALLOW


IN_PROGRAMS = """
sed 'r sub/c.txt' a.txt
sed -n '/a/R sub/c.txt' a.txt
sed 'w sub/c.txt' a.txt
sed 's/a/b/w sub/c.txt' a.txt
awk 'BEGIN{while((getline x<"sub/c.txt")>0)print x}'
awk '{print > "sub/c.txt"}' a.txt
busybox sed 'r sub/c.txt' a.txt
timeout 5 sed 'r sub/c.txt' a.txt
sed 'rsub/c.txt' a.txt
sed 's/x/y/wsub/c.txt' a.txt
"""


@for_each("command", IN_PROGRAMS.strip().splitlines())
def test_a_file_that_a_program_of_sed_or_awk_names_is_judged(posture, command):
    rule = Rule(Verdict.DENY, name="guarded", paths=("sub/**",))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.DENY
    assert verdict(command, replace(posture, book=RuleBook(ignored=("sub/",)))) is Verdict.ASK


@for_each("text", ["$a" * 4000, "${" * 3000, "$(" * 2000])
def test_a_word_of_many_unknown_parts_stalls_no_judgement(posture, text):
    rule = Rule(Verdict.DENY, name="push", argv=("git", "push"))
    assert verdict(f"git {text}/z", replace(posture, book=RuleBook(rules=(rule,)))) in (Verdict.ASK, Verdict.DENY)


def test_loops_within_loops_stall_no_judgement(posture):
    loops = "".join(f"for x{number} in {{1..50}}; do " for number in range(6))
    assert verdict(f"{loops}echo $x0{'; done' * 6}", posture) is Verdict.ALLOW
    shells = (
        "bash -c 'for x in {1..50}; do bash -c \"for y in {1..50}; do for z in {1..50}; do echo; done; done\"; done'"
    )
    assert verdict(shells, posture) is Verdict.ALLOW


@for_each("wrapper", ["nice", "sudo", "command", "nohup", "timeout 5", "env", "xargs", "exec"])
def test_wrappers_without_end_ask_and_end_no_judgement(posture, wrapper):
    assert verdict(f"{wrapper} " * 400 + "git push", posture) is Verdict.ASK


PARALLEL = """
parallel ::: 'git push' pwd
parallel git ::: push
parallel git {} ::: push
parallel 'git {}' ::: push
parallel -j2 git {1} {2} ::: push ::: origin
parallel sh -c ::: 'git push'
echo push | parallel git
echo 'git push' | parallel
parallel cat ::: sub/c.txt
parallel 'cat {.}.txt' ::: s*/c.txt
echo sub/c.txt | parallel cat {}
"""


@for_each("command", PARALLEL.strip().splitlines())
def test_parallel_runs_its_words_with_what_stands_behind_its_colons(posture, command):
    rules = Rule(Verdict.DENY, name="guarded", paths=("sub/**",)), Rule(Verdict.DENY, name="push", argv=("git", "push"))
    assert verdict(command, replace(posture, book=RuleBook(rules=rules))) is Verdict.DENY


READ = """
bash x.sh
cat a.txt | grep x
echo 'ls src' | sh
echo hi | tee a.txt
ls | xargs -n1 sh -c 'wc -l "$0"'
ls | xargs -I{} sh -c 'wc -l {}'
ls | xargs -I% sh -c 'wc -l %'
git log $x
git commit -m "$msg"
git branch -d "$x-old"
git -c core.pager=cat log -1
git -c user.name=x commit -m y
git rebase main
make -j4 test
sed 's/a/be/g' a.txt
sed -e 's/the/e/' a.txt
awk -F'|' '{print $1 "|" $2}' a.txt
tar -czf x.tgz src
sqlite3 db 'select 1'
tmux ls
cat src/$x
sed 's/sub/x/' a.txt
awk '{print $1, "x"}' a.txt
awk '{print $1 " | " $2}' a.txt
awk '/foo|bar/' a.txt
git add *.py
git commit -m 'a * b'
[ -f a.txt ] && echo y
rsync -a src/ dst/
source venv/bin/activate
git log | sh -c cat
parallel 'wc -l {}' ::: a b
ls src | parallel wc -l
parallel ::: 'ls src' pwd
watch -n1 ls
env -S 'FOO=1 ls'
script -c 'ls src' /dev/null
cat x > >(grep a)
cat x | tee >(wc -l)
timeout 5 bash -c 'ls "$X"'
bash -c "cd $PWD && ls src"
sed 's/a;e b/c/; s/[^:]*:/=e y/g' a.txt
sed -n '/{ e }/,/;e /p' a.txt
sed -i '1i import e' a.txt
sed -e ':a' -e '$!{N;ba' -e '}' a.txt
awk '{ if ($1 || $2) print "x|y" }' a.txt
awk '/a|b/ && !/c|d/ {print $1 / 2}' a.txt
git config user.name x
git config core.pager cat
git -c color.ui=never diff
bash < a.txt
bash --version
chmod +x build.sh && ./build.sh
touch x.sh; ./x.sh
cp a.txt b.txt; ./run.sh
bash run.sh > out.txt
exec 3>&1; ls >&3
""".strip().splitlines()


@for_each("command", READ)
def test_what_was_read_needs_no_question(posture, command):
    rule = Rule(Verdict.DENY, name="guarded", paths=("sub/**",))
    assert verdict(command, replace(posture, book=RuleBook(rules=(rule,)))) is Verdict.ALLOW


BY_NAMES = r"""
find . -name 'c*' -exec cat {} \;
find . -name 'c*' -type f | xargs cat
ls -d sub/* | grep c | xargs cat
cat "$(ls -d sub/* | grep c)"
for f in $(find . -name 'c*'); do cat $f; done
"""


@pytest.mark.process
@for_each("command", BY_NAMES.strip().splitlines())
def test_in_yolo_mode_names_known_only_then_pass_no_hidden_file(posture, command):
    (posture.workspace / "sub" / "c.txt").write_text("canary\n")
    decision = decide_call(Summary(command, ToolKind.EXECUTE, command=command), posture)
    assert "canary" in run_bash(command, posture)
    assert decision.verdict is not Verdict.ALLOW or "canary" not in run_bash(decision.canonical or command, posture)


def run_bash(command: str, posture: PolicyContext) -> str:
    words = ["bash", "--noprofile", "--norc", "-c", command]
    return subprocess.run(words, cwd=posture.workspace, capture_output=True, text=True, check=False).stdout


def test_a_text_that_feeds_itself_again_is_read_once(posture: PolicyContext) -> None:
    """It was read by each reader in it, sixteen deep, which took minutes."""
    inner = "scp a.txt h:"
    for _ in range(3):
        inner = f"exec 3<<< {shlex.quote(inner)}; bash <&3"
    asked = Summary(inner, ToolKind.EXECUTE, command=inner, in_sandbox=True)
    assert decide_call(asked, replace(posture, approval_mode=ApprovalMode.AUTO)).verdict is Verdict.ASK
