from datetime import UTC, datetime

from msgspec.structs import replace

from halocline.context.environment import ACT, CUT_SHORT, PLAN, environment, listing
from halocline.context.system_prompt import system_prompt
from halocline.protocol import events as ev
from halocline.protocol.messages import Note, StopReason, Text, UserMessage
from halocline.protocol.state import State

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_the_first_note_lists_the_project(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    note = environment(State(), tmp_path, NOW)
    assert note.source == "environment"
    assert note.text.split("\n") == ["Time: 2026-05-04 12:30 (UTC+0000)", ACT, "Files:", "src/", "src/a.py"]


def test_later_notes_say_only_what_changed(tmp_path):
    state = State(messages=(UserMessage((Text("a"), environment(State(), tmp_path, NOW))),))
    assert environment(state, tmp_path, NOW).text == "Time: 2026-05-04 12:30 (UTC+0000)"
    planned = replace(state, mode=ev.Mode.PLAN)
    assert PLAN in environment(planned, tmp_path, NOW).text
    back = replace(state, messages=(*state.messages, UserMessage((Note(f"x\n{PLAN}", "environment"),))))
    assert ACT in environment(back, tmp_path, NOW).text


def test_a_turn_that_was_cut_short_is_told(tmp_path):
    state = State(messages=(UserMessage((Text("a"),)),), last_end=ev.TurnEnded(reason=StopReason.CANCELLED))
    assert CUT_SHORT[StopReason.CANCELLED] in environment(state, tmp_path, NOW).text


def test_the_branch_is_named(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    assert "Git branch: topic" in environment(State(), tmp_path, NOW).text


def test_a_listing_goes_near_to_far_and_does_not_enter_generated_or_hidden_folders(tmp_path):
    for path in ("b/c/d.txt", "a.txt", "node_modules/x/y.js", ".hidden/z", ".git/HEAD"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert listing(tmp_path) == ([".hidden/", "a.txt", "b/", "node_modules/", "b/c/", "b/c/d.txt"], False)


def test_a_listing_is_cut_at_its_limit(tmp_path):
    for n in range(5):
        (tmp_path / f"{n}").touch()
    assert listing(tmp_path, limit=3) == (["0", "1", "2"], True)


def test_a_folder_that_cannot_be_read_is_an_empty_one(tmp_path):
    assert listing(tmp_path / "gone") == ([], False)


def test_the_system_prompt_names_the_workspace_and_stays_small(tmp_path):
    text = system_prompt(tmp_path)
    assert str(tmp_path) in text
    assert len(text) / 4 < 1000
