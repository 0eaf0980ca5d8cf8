import json

import pytest

from halocline.protocol.errors import SettingsError
from halocline.protocol.hook_kinds import HookSource
from halocline.store.hook_files import Places, hooks_in
from halocline.store.trust import Standing, Trust


@pytest.fixture
def places(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "user").mkdir()
    return Places(tmp_path / "project", tmp_path / "user")


@pytest.fixture
def trust(tmp_path):
    return Trust(tmp_path / "trust.json")


def put(places, name, content="#!/bin/sh\n", mode=0o755):
    path = places.workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return path


def listed(places, hooks):
    put(places, ".claude/settings.json", json.dumps({"hooks": hooks}))
    return hooks_in(places, HookSource.PROJECT)


def entry(**fields):
    return [{"hooks": [{"type": "command", "command": "true", **fields}]}]


def test_a_folder_that_switches_nothing_on_needs_no_trust(places, trust):
    assert trust.standing(places) is Standing.NOTHING


def test_a_yes_and_a_no_hold_until_a_hook_changes(places, trust):
    hook = put(places, ".clinerules/hooks/PreToolUse")
    assert trust.standing(places) is Standing.UNKNOWN
    trust.say(places, trusted=True)
    assert trust.standing(places) is Standing.TRUSTED
    trust.say(places, trusted=False)
    assert trust.standing(places) is Standing.REFUSED
    hook.write_text("#!/bin/sh\nexit 2\n")
    assert trust.standing(places) is Standing.CHANGED


@pytest.mark.parametrize("name", [".clinerules/hooks/lib.sh", ".claude/hooks/check.py", "scripts/check.sh"])
def test_trust_ends_when_a_script_changes_that_a_hook_uses(places, trust, name):
    put(places, ".clinerules/hooks/PreToolUse")
    listed(places, {"PreToolUse": entry(command='"$CLAUDE_PROJECT_DIR"/scripts/check.sh --fast')})
    script = put(places, name)
    trust.say(places, trusted=True)
    script.write_text("#!/bin/sh\ncurl evil\n")
    assert trust.standing(places) is Standing.CHANGED


def test_trust_ends_when_a_hook_becomes_executable_or_is_added(places, trust):
    hook = put(places, ".clinerules/hooks/PreToolUse", mode=0o644)
    trust.say(places, trusted=True)
    hook.chmod(0o755)
    assert trust.standing(places) is Standing.CHANGED
    trust.say(places, trusted=True)
    put(places, ".cline/hooks/TaskStart")
    assert trust.standing(places) is Standing.CHANGED


def test_trust_is_for_one_real_path_and_not_for_folders_below(places, trust, tmp_path):
    put(places, ".clinerules/hooks/PreToolUse")
    put(places, "below/.clinerules/hooks/PreToolUse")
    trust.say(places, trusted=True)
    (tmp_path / "link").symlink_to(places.workspace)
    assert trust.standing(Places(tmp_path / "link", places.user)) is Standing.TRUSTED
    assert trust.standing(Places(places.workspace / "below", places.user)) is Standing.UNKNOWN


def test_what_was_said_can_be_forgotten(places, trust):
    put(places, ".clinerules/hooks/PreToolUse")
    trust.say(places, trusted=True)
    assert trust.forget(places.workspace) is True
    assert trust.forget(places.workspace) is False
    assert trust.standing(places) is Standing.UNKNOWN


def test_a_damaged_file_trusts_nobody_and_says_so(places, trust, tmp_path):
    put(places, ".clinerules/hooks/PreToolUse")
    (tmp_path / "trust.json").write_text("{")
    with pytest.raises(SettingsError, match=r"trust\.json"):
        trust.standing(places)


INERT = [
    (".clinerules/hooks/PreToolUse", 0o644, "chmod"),
    (".clinerules/hooks/pretooluse", 0o755, "has to be PreToolUse"),
    (".clinerules/hooks/PreToolUse.cmd", 0o644, ".cmd"),
]


@pytest.mark.parametrize(("name", "mode", "why"), INERT)
def test_a_file_that_looks_like_a_hook_and_cannot_run_says_why(places, name, mode, why):
    put(places, name, mode=mode)
    assert [why in hook.inert for hook in hooks_in(places, HookSource.PROJECT)] == [True]


def test_other_files_in_a_folder_of_hooks_are_no_hooks(places):
    put(places, ".clinerules/hooks/README.md")
    assert hooks_in(places, HookSource.PROJECT) == []


INERT_ENTRIES = [
    ("PreToolUse", {"type": "prompt"}, "type prompt"),
    ("PreToolUse", {"async": True}, "async"),
    ("PreToolUse", {"command": ""}, "no command"),
    ("PreToolUse", {"timeout": 0}, "timeout"),
    ("WorktreeCreate", {}, "no moment WorktreeCreate"),
]


@pytest.mark.parametrize(("event", "fields", "why"), INERT_ENTRIES)
def test_an_entry_that_is_not_run_says_why(places, event, fields, why):
    assert [why in hook.inert for hook in listed(places, {event: entry(**fields)})] == [True]


def test_a_settings_file_that_cannot_be_read_is_listed_with_the_reason(places):
    put(places, ".claude/settings.json", '{"hooks": {"PreToolUse": 7}}')
    assert ["cannot be read" in hook.inert for hook in hooks_in(places, HookSource.PROJECT)] == [True]


def test_a_session_that_starts_begins_or_resumes_a_task(places):
    hooks = listed(places, {"SessionStart": entry()})
    assert [hook.moment.value for hook in hooks] == ["TaskStart", "TaskResume"]


def test_somebody_who_works_in_their_home_folder_has_no_projects_hooks_there(places):
    (places.user / ".claude").mkdir()
    (places.user / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": entry()}}))
    at_home = Places(places.user, places.user)
    assert hooks_in(at_home, HookSource.PROJECT) == []
    assert len(hooks_in(at_home, HookSource.USER)) == 1
