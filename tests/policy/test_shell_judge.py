import pytest
from hypothesis import given, settings, strategies as st
from tests.samples import choose
from tests.tables import for_each

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import CommandPermissions, Effect, RuleBook, Source

ASK, AUTO, YOLO = ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge") / "w"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("x\n")
    (folder / "server.pem").write_text("x\n")
    (folder.parent / "home").mkdir()
    return folder


def judged(workspace, command, mode=ASK, plan=False, env=None, place="", **more):
    posture = PolicyContext(
        workspace,
        workspace.parent / "home",
        Mode.PLAN if plan else Mode.ACT,
        mode,
        facts=LocalShellFacts(env or {}),
        **more,
    )
    paths = (place,) if place else ()
    return decide_call(Summary(command, ToolKind.EXECUTE, command=command, place=place, paths=paths), posture)


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("ls -la", "ls -l -a"),
        ("cat 'a b' *.md", "cat -- 'a b' *.md"),
        ("grep -n 'x' -- -f", "grep -n -- x -f"),
        ("head -5 a | wc -l 2>&1", "head -5 -- a | wc -l 2>&1"),
        (
            "git diff --stat HEAD~1 -- a",
            "git --no-pager diff --no-ext-diff --no-textconv --stat 'HEAD~1^{commit}' -- a",
        ),
        ("git branch --merged main", "git --no-pager branch --merged=main"),
        ("tail -n 5 a | cut -d : -f 1,2", "tail -n5 -- a | cut -d: -f1,2"),
        ("tree -L 2", "tree -L 2"),
        ("ls\npwd", "ls; pwd"),
        ("ls src/{a,b}", "ls -- src/a src/b"),
        ("bash -lc 'ls | wc -l'", "bash --noprofile --norc -c 'ls | wc -l'"),
        ("sort < a > /dev/null", "sort < a > /dev/null"),
        ("LC_ALL=C sort a", "LC_ALL=C sort -- a"),
    ],
)
def test_what_only_reads_runs_in_a_form_made_from_its_words(workspace, command, form):
    assert judged(workspace, command).canonical == form


def test_reading_whole_folders_leaves_out_what_may_hold_secrets(workspace):
    assert "--exclude=.[eE][nN][vV]" in (judged(workspace, "grep -rn x .").canonical or "")
    assert "--iglob=!{.env," in (judged(workspace, "rg x").canonical or "")
    assert "hand_on_names" in (judged(workspace, "find . -name '*.py' | xargs cat").canonical or "")
    assert ":(top,exclude,icase,glob)**/.env" in (judged(workspace, "git diff HEAD~1 -- a").canonical or "")


@pytest.mark.parametrize("command", ["ls", "rm x", "pytest", "ls; touch x"])
def test_a_command_that_was_allowed_otherwise_runs_as_it_was_written(workspace, command):
    assert judged(workspace, command, YOLO).canonical is None


def test_every_command_of_a_line_is_a_part_with_its_effect(workspace):
    parts = judged(workspace, "ls && rm -rf build; curl x > out | tee /etc/x; make").parts
    assert [(part.text, part.effect) for part in parts] == [
        ("ls", Effect.READ_ONLY),
        ("rm -rf build", Effect.DESTRUCTIVE),
        ("curl x > out", Effect.NETWORK),
        ("tee /etc/x", Effect.WRITES_OUTSIDE),
        ("make", Effect.UNKNOWN),
    ]
    assert parts[1].targets == ("build",)


def test_targets_of_a_deletion_are_shown_resolved(workspace):
    assert judged(workspace, "rm -rf src/*").parts[0].targets == ("src/main.py",)
    assert judged(workspace, "cd src && rm main.py").parts[-1].targets == ("src/main.py",)
    assert judged(workspace, 'rm -rf "$DIR"').parts[0].targets == ('"$DIR"',)


@pytest.mark.parametrize(
    ("command", "ask", "auto", "yolo", "plan"),
    [
        ("ls", "allow", "allow", "allow", "allow"),
        ("pytest -q", "ask", "ask", "allow", "deny"),
        ("npm test && npm run build", "ask", "ask", "allow", "deny"),
        ("echo hi > out.txt", "ask", "allow", "allow", "deny"),
        ("mkdir -p a/b", "ask", "allow", "allow", "deny"),
        ("npm install", "ask", "ask", "allow", "deny"),
        ("rm x", "ask", "ask", "allow", "deny"),
        ("touch /opt/x", "ask", "ask", "allow", "deny"),
        ("sudo make", "ask", "ask", "allow", "deny"),
        ("cat .env", "ask", "ask", "allow", "ask"),
        ("cat /etc/hosts", "ask", "ask", "allow", "ask"),
        ("cat .env; touch x", "ask", "ask", "allow", "deny"),
        ("ls 'x", "ask", "ask", "allow", "deny"),
        ("rm -rf ~", "deny", "deny", "deny", "deny"),
    ],
)
def test_the_table_of_the_modes(workspace, command, ask, auto, yolo, plan):
    assert [judged(workspace, command, mode).verdict for mode in (ASK, AUTO, YOLO)] == [ask, auto, yolo]
    assert judged(workspace, command, plan=True).verdict == plan


def test_plan_mode_runs_the_judged_form_whatever_the_approval_mode(workspace):
    assert judged(workspace, "cat src/main.py", YOLO, plan=True).canonical == "cat -- src/main.py"


def test_limits_of_the_analysis_ask_and_still_deny(workspace):
    many = "; ".join(["ls"] * 41)
    assert judged(workspace, many).verdict == "ask"
    assert judged(workspace, "; ".join(["ls"] * 40)).verdict == "allow"
    assert judged(workspace, f"{many}; rm -rf /", YOLO).verdict == "deny"
    assert judged(workspace, "echo " + "a" * 8_000).verdict == "ask"
    assert judged(workspace, "echo " + "a" * 8_000 + "; rm -rf ~", YOLO).verdict == "deny"


@pytest.mark.parametrize("text", ["{\U000f34be", "`{\U0005a7b0k{漢", "k`){\u2460{\U000cd56a&"])
def test_text_that_breaks_the_parser_does_not_reach_it(workspace, text):
    assert judged(workspace, text).verdict == "ask"


def test_a_folder_that_cd_may_not_have_reached_is_judged_too(workspace):
    assert judged(workspace, "cd src && cat ../README.md").verdict == "allow"
    assert judged(workspace, "cd gone; cat ../README.md").verdict == "ask"
    assert "|| exit; " in judged(workspace, "cd src; cat ../README.md").canonical
    assert judged(workspace, "cd src || cat ../x").verdict == "ask"
    assert judged(workspace, "cd src && ls || true && cat ../../x").verdict == "ask"


def test_paths_are_judged_from_the_folder_in_which_the_shell_was_left(workspace):
    assert judged(workspace, "cat ../README.md", place=str(workspace / "src")).verdict == "allow"
    assert judged(workspace, "cat ../../x", place=str(workspace / "src")).verdict == "ask"


def test_what_answers_by_path_asks_once_a_command_changed_it(workspace):
    assert judged(workspace, "which python").verdict == "allow"
    assert judged(workspace, "which python", exported=("PATH",)).verdict == "ask"


def test_what_is_typed_into_a_program_is_not_allowed_as_reading(workspace):
    typed = Summary("ls", ToolKind.EXECUTE, command="ls", place="job 1")
    assert decide_call(typed, PolicyContext(workspace, workspace.parent / "home", Mode.ACT, ASK)).verdict == "ask"


@for_each(
    "permissions, command, verdict",
    [
        ('{"allow": ["git *"]}', "git status", "allow"),
        ('{"allow": ["git *"]}', "git push", "allow"),
        ('{"allow": ["git *"]}', "npm test", "deny"),
        ('{"allow": ["git *"]}', "git status; npm test", "deny"),
        ('{"allow": ["git *"]}', "git status $(npm test)", "deny"),
        ('{"deny": ["rm *"]}', "ls && rm x", "deny"),
        ('{"deny": ["rm *"]}', "env rm x", "deny"),
        ('{"deny": ["rm *"]}', "sh -c 'rm x'", "deny"),
        ('{"deny": ["rm *"]}', "r''m x", "deny"),
        ('{"deny": ["rm *"]}', "make", "allow"),
        ('{"deny": ["rm ?"]}', "rm xy", "allow"),
        ('{"allow": ["*"], "deny": ["rm *"]}', "rm x", "deny"),
        ('{"allow": ["ls"]}', "ls > x", "deny"),
        ('{"allow": ["ls"], "allowRedirects": true}', "ls > x", "allow"),
        ('{"allow": ["*"]}', "ls\nls", "deny"),
        ('{"allow": ["*"]}', "echo `ls`", "deny"),
        ('{"allow": ["*"]}', "echo '`ls`'", "allow"),
        ('{"allow": ["*"]}', "ls 'x", "deny"),
        ("{}", "make", "allow"),
        ("{", "ls", "ask"),
        ('{"alow": []}', "ls", "ask"),
        ("", "ls", "ask"),
    ],
)
def test_the_permissions_of_the_environment_hold_in_yolo_too(workspace, permissions, command, verdict):
    decision = judged(workspace, command, YOLO, env={"CLINE_COMMAND_PERMISSIONS": permissions})
    assert decision.verdict == verdict
    if verdict != "allow":
        assert "CLINE_COMMAND_PERMISSIONS" in decision.reason


def bounded(*given):
    return RuleBook(permissions=given)


@pytest.mark.parametrize(
    ("variable", "command", "verdict", "said"),
    [
        (None, "git status", "allow", ""),
        (None, "make", "deny", "your command_permissions: `make` is not allowed (allow: git *)"),
        (None, "git push", "deny", "the project's command_permissions: `git push` is forbidden (deny: git push*)"),
        ('{"allow": ["make"]}', "make", "allow", ""),
        ('{"allow": ["*"]}', "git push", "deny", "the project's"),
        ("{", "git status", "ask", "CLINE_COMMAND_PERMISSIONS"),
    ],
)
def test_the_permissions_of_files_hold_and_the_variable_goes_over_ones_own(workspace, variable, command, verdict, said):
    mine = (Source.USER, CommandPermissions(allow=("git *",)))
    theirs = (Source.PROJECT, CommandPermissions(deny=("git push*",)))
    env = {"CLINE_COMMAND_PERMISSIONS": variable} if variable else {}
    decision = judged(workspace, command, YOLO, env=env, book=bounded(mine, theirs))
    assert (decision.verdict, said in decision.reason) == (verdict, True)


WORDS = """ls cat git rm echo $( ) ` ' " \\ | && ; & > < << EOF { } ( (( )) [[ ]] if then fi for do done $x ${ * ~
-rf / -- = # ! case esac in ;; function find -exec xargs sh -c é"""
PIECES = st.sampled_from([*WORDS.split(), " ", " ", "\n", "\t", "\x00", "\u202e", "\U000e9921"])


@settings(max_examples=choose(400, 80), deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_gets_a_decision(workspace, text):
    assert judged(workspace, text, AUTO).verdict in ("allow", "ask", "deny")


LONG = (
    "ls;",
    "(",
    "$(",
    "a",
    "{ ",
    "`",
    "ls | ",
    "[[ ",
    "<<E ",
    "x=( ",
    "*",
    "{a,b}",
    "\\\n",
    "if ",
    "! ",
    '"',
    "ls\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("length", [7_990, 100_000])
def test_no_text_keeps_the_judge_busy(workspace, length, text):
    assert judged(workspace, text * (length // len(text))).verdict in ("ask", "deny", "allow")


@pytest.mark.parametrize("text", ["cat ~\0x", "rm ~\0", "> ~\0x", "make -C ~\0"])
def test_a_command_with_a_nul_character_is_asked_about(workspace, text):
    assert judged(workspace, text).verdict == "ask"


@pytest.mark.parametrize(
    ("permissions", "command", "verdict"),
    [
        ('{"allow": ["cat *"], "allowRedirects": true}', "cat < f", "allow"),
        ('{"allow": ["cat *"], "allowRedirects": true}', "cat", "deny"),
        ('{"allow": ["cat *"]}', "cat < f", "deny"),
        ('{"allow": ["cat *"], "allowRedirects": true}', "dog < f", "deny"),
        ('{"deny": ["cat *"], "allowRedirects": true}', "cat < f", "deny"),
    ],
)
def test_permissions_speak_of_a_program_that_has_only_a_redirection(workspace, permissions, command, verdict):
    (workspace / "f").write_text("x")
    assert judged(workspace, command, env={"CLINE_COMMAND_PERMISSIONS": permissions}).verdict == verdict


@pytest.mark.parametrize("before", ["popd", "nice pushd src; popd", "stdbuf -oL pushd src; popd", "popd; popd"])
@pytest.mark.parametrize("command", ["cat src/../server.pem", "tee < server.pem"])
def test_where_no_folder_is_on_the_stack_popd_leaves_the_shell_where_it_is(workspace, before, command):
    assert "server.pem may hold secrets" in judged(workspace, f"{before}; {command}", AUTO).reason
