import os

import pytest

from halocline.protocol.kinds import Grant, ToolKind
from halocline.protocol.permission_rules import CommandPermissions, Source, Verdict
from halocline.store.paths import PROJECT_RULES
from halocline.store.permissions.rule_files import RuleFiles
from halocline.store.permissions.rules import Unreadable, read_rules

RULE = '[[rule]]\ndecision = "{}"\nkinds = ["edit"]\n'


@pytest.fixture
def project(tmp_path):
    (tmp_path / "w" / ".halocline").mkdir(parents=True)
    return tmp_path / "w"


def files(project, **options):
    home = project.parent
    return RuleFiles(home / "policy.toml", home / "grants.toml", project, managed=home / "managed.toml", **options)


def test_rules_come_from_every_file_and_say_from_which(project):
    (project.parent / "policy.toml").write_text(RULE.format("ask") + '[[rule]]\ndecision = "deny"\nname = "mine"\n')
    (project / PROJECT_RULES).write_text(RULE.format("deny"))
    (project.parent / "managed.toml").write_text(RULE.format("ask"))
    names = [(rule.name, rule.source) for rule in files(project).book().rules]
    assert names == [
        ("managed-1", Source.MANAGED),
        ("user-1", Source.USER),
        ("mine", Source.USER),
        ("project-1", Source.PROJECT),
    ]


def test_a_project_forbids_at_once_but_allows_only_when_it_is_trusted(project):
    (project / PROJECT_RULES).write_text(RULE.format("allow") + RULE.format("deny"))
    trusted = False
    rules = files(project, trusted=lambda: trusted)
    assert [rule.decision for rule in rules.book().rules] == [Verdict.DENY]
    trusted = True
    assert [rule.decision for rule in rules.book().rules] == [Verdict.ALLOW, Verdict.DENY]


def test_a_changed_file_holds_from_the_next_look_on(project):
    rules = files(project)
    assert rules.book().rules == ()
    path = project.parent / "policy.toml"
    path.write_text(RULE.format("ask"))
    assert len(rules.book().rules) == 1
    assert rules.book() is rules.book()
    path.unlink()
    assert rules.book().rules == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule", "Cannot read {}: Expected ']]'"),
        (
            '[[rule]]\ndecision = "perhaps"\n',
            "Rule 1 of {} is invalid: decision cannot be 'perhaps'. Choose one of: allow, ask, deny.",
        ),
        ('[[rule]]\nname = "x"\n', "Rule 1 of {} is invalid: Object missing required field `decision`."),
        ('[[rule]]\ndecision = "allow"\ncomand = "x"\n', "Rule 1 of {} has an unknown key 'comand'."),
        ('[[rule]]\ndecision = "allow"\nsource = "managed"\n', "Rule 1 of {} has an unknown key 'source'."),
        ("[rules]\n", "{} has an unknown key 'rules'; allowed are [[rule]] and [command_permissions]."),
        (
            '[[rule]]\ndecision = "allow"\nargv = ["make"]\nmatches = ["make all", "cmake"]\n',
            "Rule 1 of {} contradicts its examples: it should match 'cmake'.",
        ),
        (
            '[[rule]]\ndecision = "allow"\npaths = ["src/"]\nnot_matches = ["src/a"]\n',
            "Rule 1 of {} contradicts its examples: it should not match 'src/a'.",
        ),
    ],
)
def test_a_wrong_file_opens_nothing_and_says_what_is_wrong(project, text, said):
    path = project.parent / "policy.toml"
    path.write_text(text)
    book = files(project).book()
    assert book.rules == ()
    assert said.format(path) in book.problems[0]


def test_a_right_of_the_administrators_file_that_changes_is_seen(project):
    path = project.parent / "managed.toml"
    path.write_text(RULE.format("allow"))
    found = files(project)
    assert found.book().problems == ()
    path.chmod(0o666)
    assert "Users other than root can write to" in found.book().problems[0]


def test_an_expired_rule_speaks_of_nothing(project):
    (project.parent / "policy.toml").write_text(RULE.format("allow") + "expires = 2020-01-01\n")
    (rule,) = files(project).book().rules
    assert rule.decision is not Verdict.ALLOW


@pytest.mark.parametrize(
    "grant",
    [
        Grant(ToolKind.EXECUTE, 'echo "a\tb" \\ ü'),
        Grant(ToolKind.EXECUTE, argv=("npm", "run", "test")),
        Grant(ToolKind.FETCH, "example.com"),
        Grant(ToolKind.EDIT, "/tmp/[a] *.txt"),
        Grant(ToolKind.EDIT),
    ],
)
def test_what_was_granted_for_good_is_a_rule_from_then_on(project, grant):
    path = project.parent / "grants.toml"
    path.write_text("# mine\n")
    rules = files(project)
    rules.keep(grant, project)
    rules.keep(grant, project)
    rules.keep(grant, None)
    here, everywhere = rules.book().rules
    assert (here.source, here.workspace, everywhere.workspace) == (Source.GRANT, str(project), "")
    assert path.read_text().startswith("# mine\n")
    assert path.stat().st_mode & 0o777 in (0o600, 0o644)


def test_leave_is_not_kept_in_a_file_that_cannot_be_read(project):
    path = project.parent / "grants.toml"
    path.write_text("[[rule")
    with pytest.raises(OSError, match="Cannot read"):
        files(project).keep(Grant(ToolKind.EDIT), None)
    assert path.read_text() == "[[rule"


def test_ignore_files_are_read_with_what_they_include(project):
    (project / ".clineignore").write_text("# c\nsecret/\n!include more/list\n\n!open.txt\n")
    (project / "more").mkdir()
    (project / "more" / "list").write_text("*.pem\n!include ../.clineignore\n")
    (project / ".haloclineignore").write_text("last\n")
    assert files(project).book().ignored == ("last", "secret/", "*.pem", "secret/", "!open.txt", "!open.txt")


def test_an_ignore_file_that_includes_something_outside_is_a_problem(project):
    (project / ".clineignore").write_text("!include ../../etc/passwd\n")
    assert "outside the workspace" in files(project).book().problems[0]


def test_an_included_file_is_watched_too(project):
    (project / ".clineignore").write_text("!include list\n")
    (project / "list").write_text("a\n")
    rules = files(project)
    assert rules.book().ignored == ("a",)
    (project / "list").write_text("a\nb\n")
    assert rules.book().ignored == ("a", "b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_problem(project):
    path = project.parent / "policy.toml"
    path.write_text("")
    path.chmod(0)
    with pytest.raises(Unreadable):
        read_rules(path, Source.USER)


def test_files_bound_all_commands_and_say_whose_bounds_they_are(project):
    (project.parent / "policy.toml").write_text('[command_permissions]\nallow = ["git *"]\nallowRedirects = true\n')
    (project / PROJECT_RULES).write_text('[command_permissions]\ndeny = ["git push*"]\n')
    assert files(project).book().permissions == (
        (Source.USER, CommandPermissions(allow=("git *",), allow_redirects=True)),
        (Source.PROJECT, CommandPermissions(deny=("git push*",))),
    )


def test_bounds_in_a_wrong_form_open_nothing_and_say_so(project):
    (project / PROJECT_RULES).write_text('[command_permissions]\nalow = ["*"]\n')
    (problem,) = files(project).book().problems
    assert "alow" in problem
    assert str(project / PROJECT_RULES) in problem


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ('argv = ["git push"]', '["git", "push"]'),
        ('argv = [["npm", "git push"], "x"]', '["git", "push"]'),
        ('hosts = ["https://evil.example/x"]', '"evil.example"'),
    ],
)
def test_a_rule_that_can_never_match_is_refused_and_shows_how_it_is_written(project, condition, right):
    path = project.parent / "policy.toml"
    path.write_text(f'[[rule]]\ndecision = "deny"\n{condition}\n')
    with pytest.raises(Unreadable, match="can never match") as found:
        read_rules(path, Source.USER)
    assert right in str(found.value)


@pytest.mark.parametrize("argv", ['["npm", "run test"]', '["/opt/my tool/run"]', '[["npm", "pnpm"], "test"]'])
def test_a_rule_may_have_words_with_spaces_behind_the_program(project, argv):
    path = project.parent / "policy.toml"
    path.write_text(f'[[rule]]\ndecision = "deny"\nargv = {argv}\n')
    assert len(read_rules(path, Source.USER)) == 1


def test_a_grant_is_read_whatever_its_words_are(project):
    path = project.parent / "grants.toml"
    path.write_text('[[rule]]\ndecision = "allow"\nargv = ["my tool", "a b"]\n')
    assert len(read_rules(path, Source.GRANT)) == 1
