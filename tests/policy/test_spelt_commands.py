import os

import pytest
from tests.policy.spelt_commands import MAY_ASK, OPTIONS, VERBS, WRAPPERS, list_options
from tests.samples import choose
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.shell.spellings import HARMLESS, is_begun_by
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

YOLO, ASK = ApprovalMode.YOLO, ApprovalMode.ASK
ALLOW, DENY = Verdict.ALLOW, Verdict.DENY
ASK_ALWAYS = {"systemctl": Verdict.ASK}
"""What runs later is covered only by a rule that names such places."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = (tmp_path_factory.mktemp("spelt") / "w").resolve()
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("x\n")
    (folder.parent / "home").mkdir()
    return folder


def verdict(workspace, command, mode, *rules):
    facts = LocalShellFacts({"PATH": os.environ["PATH"], "HOME": str(workspace.parent)})
    context = PolicyContext(
        workspace, workspace.parent / "home", Mode.ACT, mode, facts=facts, book=RuleBook(rules=rules)
    )
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command, tool="execute_command"), context).verdict


def deny(*words):
    return Rule(DENY, name="no", argv=words, tools=("execute_command",))


def allow(*words):
    return Rule(ALLOW, name="yes", argv=words, tools=("execute_command",))


def spell(program, wrapper):
    """A program's command with each of its options within a wrapper; in a sample, with one option in turn."""
    options = ("", *list_options(program))
    turn = list(WRAPPERS).index(wrapper) % len(options)
    options = options if choose(1, 0) or wrapper == "plain" else (options[turn],)
    return {option: WRAPPERS[wrapper].format(program, f"{option} {VERBS[program]} x".strip()) for option in options}


@pytest.mark.slow
@for_each("program", VERBS)
def test_a_denied_command_is_denied_in_every_spelling_in_yolo(workspace, program):
    rule = deny(program, VERBS[program])
    commands = [command for wrapper in WRAPPERS for command in spell(program, wrapper).values()]
    assert [one for one in commands if verdict(workspace, one, YOLO, rule) is not DENY] == []


@pytest.mark.slow
@pytest.mark.parametrize("program", VERBS)
def test_a_denied_command_is_denied_in_every_spelling_although_the_program_is_allowed(workspace, program):
    rules = (deny(program, VERBS[program]), allow(program))
    commands = [command for wrapper in WRAPPERS for command in spell(program, wrapper).values()]
    assert [one for one in commands if verdict(workspace, one, ASK, *rules) is not DENY] == []


@pytest.mark.slow
@for_each("program", VERBS)
def test_an_allowed_command_is_allowed_with_harmless_options_and_wrappers(workspace, program):
    rule = allow(program, VERBS[program])
    bare = verdict(workspace, f"{program} {VERBS[program]} x", ASK, rule)
    wrong = []
    for name in sorted(WRAPPERS.keys() - MAY_ASK):
        found = {option: verdict(workspace, command, ASK, rule) for option, command in spell(program, name).items()}
        wrong += [(name, option) for option in found if is_harmless(program, option) and found[option] is not bare]
    assert (bare, wrong) == (ASK_ALWAYS.get(program, ALLOW), [])


def is_harmless(program, option):
    """Tell by the table of the judge that an option changes nothing. No option is harmless too."""
    known = HARMLESS[program].split()
    flags = [word.partition("=")[0] for word in option.split() if word.startswith(("-", "+"))]
    return all(flag in known or f"{flag}=" in known for flag in flags)


@pytest.mark.slow
@for_each("program", VERBS)
def test_an_allowed_command_is_not_allowed_with_options_that_may_change_what_it_does(workspace, program):
    rule = allow(program, VERBS[program])
    commands = [c for name in ("plain", "env", "timeout", "sh", "behind", "subshell") for c in steering(program, name)]
    assert [one for one in commands if verdict(workspace, one, ASK, rule) is ALLOW] == []


STEERS = (
    *(
        "-c ",
        "--git-dir",
        "--work-tree",
        "--exec-path",
        "--config",
        "--prefix",
        "--script-shell",
        "--registry",
        "--userconfig",
    ),
    *(
        "-H ",
        "--host",
        "--context",
        "--kubeconfig",
        "-s https",
        "--server",
        "--profile",
        "--endpoint-url",
        "--proxy",
        "--cert",
    ),
    *("-chdir", "--root", "--python", "--settings", "--init-script", "-I ", "-b ", "--file", "+nightly", "--cwd", "-Z"),
    *(
        "--use-yarnrc",
        "--runtime",
        "--url",
        "--repo=",
        "-R ",
        "--token",
        "--as ",
        "--index",
        "--attr-source",
        "--config-env",
    ),
)
"""Beginnings of options that choose other code, another folder, another machine or another account."""


def steering(program, wrapper):
    return [command for option, command in spell(program, wrapper).items() if f"{option} ".startswith(STEERS)]


def test_each_program_with_verbs_has_options_to_try():
    assert OPTIONS.keys() == VERBS.keys()
    assert HARMLESS.keys() - {"mamba"} <= VERBS.keys()


DENY_NEIGHBOURS = (
    *("git -C . -C sub push", "git -c a.b=c -c d.e=f push", "git -P -C sub --no-pager push origin", "git push --force"),
    *("cd sub && git -C .. push", "GIT_DIR=.git git push", "/usr/bin/env git push", "/usr/bin/git --no-pager push"),
    *("git \\\n  push", "g=git; $g push", 'p=push; git "$p"', "git 'push'", "git pu''sh", 'git "pu"sh', "git $'push'"),
    *(
        "nice -n 5 timeout 3 git -C . push",
        "busybox sh -c 'git push'",
        "find . -exec git -C . push {} +",
        "watch git push",
    ),
    *("echo push | xargs git", "xargs -a a.txt git -C . push", "git -p --bare push", "if git -C . push; then :; fi"),
)


@for_each("command", DENY_NEIGHBOURS)
def test_a_denied_push_is_never_done_unasked(workspace, command):
    assert verdict(workspace, command, YOLO, deny("git", "push")) is not ALLOW
    assert verdict(workspace, command, ASK, deny("git", "push"), allow("git")) is not ALLOW


FLAGS = (
    ("git reset --hard", "git reset HEAD --hard", True),
    ("git reset --hard", "git reset --har HEAD", True),
    ("git reset --hard", "git -C . reset -q $x", True),
    ("git reset --hard", "git reset --soft HEAD", False),
    ("rm -rf", "rm -r -f x", True),
    ("rm -rf", "rm -fr x", True),
    ("rm -rf", "rm x -Rvf", True),
    ("rm -rf", "rm --recursive --force x", True),
    ("rm -rf", "rm -r x", False),
    ("git push --force", "git push -f", True),
    ("git push --force", "git push origin x --force", True),
    ("git push --force", "git push -u origin x", False),
    ("git commit --amend", "git commit -am x", False),
    ("git clean -fdx", "git clean -d -x -f", True),
    ("find -delete", "find . -type f -maxdepth 2 -ls", False),
    ("find -delete", "find . -name x -delete", True),
    ("docker rm -f", "docker rm --force x", True),
)


@for_each("denied, command, is_denied", FLAGS)
def test_a_denied_option_is_denied_wherever_it_stands_and_however_it_is_cut_short_or_joined(denied, command, is_denied):
    assert is_begun_by(command.split(), denied.split()) is is_denied


UNKNOWN_GRAMMARS = (
    *(
        "mytool deploy",
        "mytool -x deploy",
        "mytool -x y deploy",
        "mytool a deploy",
        "mytool --a=b deploy now",
        "env mytool deploy",
    ),
    *(
        "/usr/bin/mytool -v deploy",
        "mytool -- deploy",
        "timeout 3 mytool --env prod deploy",
        "sh -c 'mytool a b deploy'",
    ),
)


@pytest.mark.parametrize("command", UNKNOWN_GRAMMARS)
def test_a_deny_on_an_unknown_program_matches_its_words_anywhere_behind_it(workspace, command):
    assert verdict(workspace, command, YOLO, deny("mytool", "deploy")) is DENY


@pytest.mark.parametrize("command", ["mytool", "mytool plan", "deploy mytool", "cat deploy", "git log"])
def test_a_deny_on_an_unknown_program_leaves_others_alone(workspace, command):
    assert verdict(workspace, command, YOLO, deny("mytool", "deploy")) is ALLOW


@pytest.mark.parametrize(
    "command", ["git log push", "git show HEAD", "git commit -m push", "git stash list", "npm push"]
)
def test_a_deny_of_a_verb_leaves_the_other_verbs_of_the_program_alone(workspace, command):
    assert verdict(workspace, command, YOLO, deny("git", "push")) is ALLOW


REDIRECTS = (
    *(
        "npm test > a.txt",
        "npm test >> a.txt",
        "npm test 2> a.txt",
        "npm test &> a.txt",
        "npm test >| a.txt",
        "npm test | tee a.txt",
    ),
    *(
        "(npm test) > a.txt",
        "{ npm test; } > a.txt",
        "npm test > new.txt",
        "npm test > ../out.txt",
        "npm test > .git/hooks/x",
    ),
    *(
        "sh -c 'npm test > a.txt'",
        'npm test > "$X"',
        "timeout 5 npm test > a.txt",
        "npm test 3> a.txt",
        "npm test > a.txt 2>&1",
    ),
    *(
        "npm test > .env",
        "for i in 1; do npm test; done > a.txt",
        "if true; then npm test; fi > a.txt",
        "exec > a.txt; npm test",
    ),
)


@for_each("command", REDIRECTS)
def test_an_allowed_command_does_not_cover_what_its_output_replaces(workspace, command):
    assert verdict(workspace, command, ASK, allow("npm", "test")) is Verdict.ASK


@pytest.mark.parametrize("command", ["npm test", "npm test > /dev/null", "npm test 2>&1 | tail -5", "npm test < a.txt"])
def test_an_allowed_command_covers_what_changes_nothing_else(workspace, command):
    assert verdict(workspace, command, ASK, allow("npm", "test")) is ALLOW


TAGS = (
    *(
        "git tag y",
        "timeout 5 git tag y2",
        "git -C . tag y",
        "git --no-pager tag y",
        "/usr/bin/git tag y",
        "(git tag y)",
    ),
    *(
        "ls && git tag y",
        "sh -c 'git tag y'",
        "env git tag y",
        "command git tag y",
        "nice git tag y",
        "git tag y | cat",
    ),
)


@pytest.mark.parametrize("command", TAGS)
def test_an_allowed_program_is_allowed_within_harmless_wrappers(workspace, command):
    assert verdict(workspace, command, ASK, allow("git")) is ALLOW


ALIASES = (
    *(
        "git -c alias.x=!y x",
        "git -c core.pager=y log",
        "git --exec-path=. x",
        "git --git-dir=../o/.git tag y",
        "git -C ~ tag y",
    ),
    *(
        "git -C .. tag y",
        "GIT_DIR=../o/.git git tag y",
        "sudo git tag y",
        "git tag y; npm x",
        "git tag $(npm x)",
        "./git tag y",
    ),
    *(
        "git --config-env=alias.x=X x",
        "GIT_SSH_COMMAND=x git tag y",
        "sub/git tag y",
        "/tmp/git tag y",
        "git --work-tree=/ tag y",
    ),
)


@for_each("command", ALIASES)
def test_an_allowed_program_is_not_allowed_to_run_other_code_or_reach_other_folders(workspace, command):
    rule = allow("git", ("tag", "x", "log"))
    assert verdict(workspace, command, ASK, rule) is not ALLOW
