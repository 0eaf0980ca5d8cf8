"""Leave for good is added to its file and taken out of it, and nothing else in it changes."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from halocline.protocol.kinds import Grant, ToolKind
from halocline.protocol.permission_rules import Source
from halocline.store.permissions.grants import keep_grant, take_out
from halocline.store.permissions.rules import Unreadable, read_rules, rule_for


def command(text):
    return rule_for(Grant(ToolKind.EXECUTE, text), None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "grants.toml"


def commands(path):
    return [rule.command for rule in read_rules(path, Source.GRANT)]


def test_what_was_kept_says_who_gave_it_and_is_kept_once(path):
    keep_grant(path, command("make"), "in task x")
    keep_grant(path, command("make"), "in task y")
    (rule,) = read_rules(path, Source.GRANT)
    assert rule.reason.startswith("you always allowed this on 20")
    assert rule.reason.endswith("(in task x)")


def test_one_is_taken_out_and_comments_and_the_others_stay(path):
    keep_grant(path, command("one"))
    with path.open("a") as file:
        file.write("\n# about the second\n")
    keep_grant(path, command("two"))
    keep_grant(path, command('three "[[rule]]"'))
    assert take_out(path, replace(command("two"), name="grant-9", reason="as it was shown"))
    assert commands(path) == ["one", 'three "[[rule]]"']
    assert "# about the second" in path.read_text()
    assert not take_out(path, command("two"))
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_bounds_behind_the_last_rule_stay(path):
    keep_grant(path, command("one"))
    with path.open("a") as file:
        file.write('\n[command_permissions]\ndeny = ["rm *"]\n')
    assert take_out(path, command("one"))
    assert path.read_text().strip() == '[command_permissions]\ndeny = ["rm *"]'


@pytest.mark.parametrize(
    "text",
    [
        'rule = [{decision = "allow", kinds = ["execute"], command = "make"}]\n',
        '[[rule]]\ndecision = "allow"\nkinds = [\n"execute"\n]\ncommand = """make"""\nreason = """\n[[rule]]\n"""\n',
    ],
)
def test_a_file_that_is_written_otherwise_is_left_alone(path, text):
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(OSError, match="remove the rule from it yourself"):
        take_out(path, command("make"))
    assert path.read_text() == text


def test_a_damaged_file_is_left_alone(path):
    path.parent.mkdir()
    path.write_text("[[rule\n")
    with pytest.raises(OSError, match="Cannot read"):
        take_out(path, command("make"))
    with pytest.raises(Unreadable):
        commands(path)


def test_those_who_add_and_take_out_at_once_undo_nothing(path):
    keep_grant(path, command("first"))

    def work(number):
        keep_grant(path, command(f"c{number}"))
        return take_out(path, command(f"c{number}")) if number % 2 else True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))
    assert sorted(commands(path)) == sorted(["first", *(f"c{number}" for number in range(0, 24, 2))])
