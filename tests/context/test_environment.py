import os
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from halocline.context.system_prompt.environment import (
    ACT,
    CUT_SHORT,
    PLAN,
    STILL_PLAN,
    SWITCHED,
    TIME,
    Reported,
    environment_note as note_with_names_hidden,
    list_workspace,
    note_environment_changes,
)
from halocline.context.system_prompt.project_facts import NEEDED
from halocline.protocol import events as ev
from halocline.protocol.commands import EditorState
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Note, StopReason, Text, Usage, UserMessage
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.host import HostState
from halocline.protocol.state.plan import PlanState
from halocline.protocol.state.prompt import ModelState, PromptState
from halocline.protocol.state.state import State


def hides_nothing(path: str) -> bool:
    return False


environment_note = partial(note_with_names_hidden, hides=hides_nothing)
NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_the_first_note_lists_the_project(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    note = environment_note(State(), tmp_path, NOW)
    assert note.source == "environment"
    time, mode, home, *_, files, folder, file = note.text.split("\n")
    assert (time, mode, files, folder, file) == ("Time: 2026-05-04 12:30 (UTC+0000)", ACT, "Files:", "src/", "src/a.py")
    assert home == f"Home: {Path.home()}"


@pytest.mark.parametrize("file", NEEDED)
def test_the_programs_that_a_project_needs_are_told_and_those_that_are_missing(tmp_path, monkeypatch, file):
    (tmp_path / file).touch()
    bin = tmp_path / "bin"
    bin.mkdir()
    first, *others = NEEDED[file].split()
    (bin / first).write_text("")
    (bin / first).chmod(0o700)
    monkeypatch.setenv("PATH", str(bin))
    lines = environment_note(State(), tmp_path, NOW).text.split("\n")
    assert f"Programs: {first}" in lines
    assert (f"Not installed: {', '.join(others)}" in lines) is bool(others)


def test_a_small_window_is_spared_the_facts(tmp_path):
    note = environment_note(State(prompt=PromptState(compact=True)), tmp_path, NOW)
    assert "Home:" not in note.text


def after(note: Note | None, **known) -> State:
    return State(workspace="/w", messages=(UserMessage((Text("a"), note or Note("x", "y"))),), **known)


def changes_of(state: State) -> Note | None:
    return note_environment_changes(state, Reported().of(state))


def told(state: State, where, **more) -> list[str]:
    note = environment_note(state, where, more.pop("now", NOW), **more)
    return note.text.split("\n") if note else []


def test_with_nothing_new_nothing_is_said(tmp_path):
    assert environment_note(after(environment_note(State(), tmp_path, NOW)), tmp_path, NOW) is None


def test_the_time_is_told_again_once_it_is_stale(tmp_path):
    state = after(environment_note(State(), tmp_path, NOW))
    assert told(state, tmp_path, now=NOW + timedelta(minutes=9)) == []
    assert told(state, tmp_path, now=NOW + timedelta(minutes=10)) == ["Time: 2026-05-04 12:40 (UTC+0000)"]
    assert told(state, tmp_path, now=NOW.astimezone(timezone(timedelta(hours=2)))) == [
        "Time: 2026-05-04 14:30 (UTC+0200)"
    ]


def test_a_switched_mode_is_told_with_who_did_it_and_plan_mode_is_called_to_mind(tmp_path):
    state = after(environment_note(State(), tmp_path, NOW), plan=PlanState(Mode.PLAN))
    assert told(state, tmp_path) == [PLAN + SWITCHED]
    planned = after(Note(f"Time: {NOW:{TIME}}\n{PLAN}", "environment"), plan=PlanState(Mode.PLAN))
    assert told(planned, tmp_path) == [STILL_PLAN]
    assert told(replace(planned, plan=PlanState(Mode.ACT)), tmp_path) == [ACT + SWITCHED]


def test_what_a_compaction_took_out_of_sight_is_told_again(tmp_path):
    switched = UserMessage((Note(PLAN + SWITCHED, "environment"),))
    state = after(environment_note(State(), tmp_path, NOW))
    state = replace(state, plan=PlanState(Mode.PLAN), messages=(*state.messages, switched, UserMessage((Text("b"),))))
    compacted = ev.Compacted(cause=CompactionCause.ASKED, content=(), kept_from=2, until=3, before=9, after=1)
    assert changes_of(state) is None
    assert changes_of(replace(state, compaction=CompactionState((compacted,)))).text == PLAN + SWITCHED


def test_a_mode_that_changes_within_a_turn_is_news(tmp_path):
    state = after(environment_note(State(), tmp_path, NOW))
    assert changes_of(state) is None
    assert changes_of(replace(state, plan=PlanState(Mode.PLAN))).text == PLAN + SWITCHED
    assert changes_of(State(plan=PlanState(Mode.PLAN))) is None


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("", 49, ""),
        ("", 50, "Context: 50 % of 1,000 tokens used"),
        ("Context: 52 % of 1,000 tokens used", 59, ""),
        ("Context: 52 % of 1,000 tokens used", 60, "Context: 60 % of 1,000 tokens used"),
        ("Context: 81 % of 1,000 tokens used", 12, "Context: 12 % of 1,000 tokens used"),
        ("Context: 12 % of 1,000 tokens used", 33, ""),
    ],
)
def test_how_full_the_window_is_is_told_from_half_on_at_each_further_ten(before, now, said):
    note = Note(f"{ACT}\n{before}", "environment")
    state = after(
        note, model=ModelState(window=1_000), budget=BudgetState(last_usage=Usage(input=10 * now - 3, output=3))
    )
    news = changes_of(state)
    assert (news.text if news else "") == said


def test_where_the_shell_is_and_another_branch_are_told_once(tmp_path):
    first = environment_note(State(), tmp_path, NOW)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    state = after(first, host=HostState(ev.ShellMoved(cwd="/w/sub")))
    note = environment_note(state, tmp_path, NOW)
    assert note.text.split("\n") == ["Git branch: topic", "Shell folder: /w/sub"]
    later = replace(state, messages=(*state.messages, UserMessage((note,))))
    assert told(later, tmp_path) == []
    assert told(replace(later, host=HostState(ev.ShellMoved())), tmp_path) == ["Shell folder: /w"]


def test_what_the_editor_shows_is_told_when_it_is_something_else(tmp_path):
    editor = EditorState(visible=("a.py",), open=("a.py", "b\n.py"))
    note = environment_note(State(), tmp_path, NOW, editor)
    assert note.text.split("\n")[2:4] == ["Visible in the editor: a.py", "Open in the editor: a.py, b .py"]
    state = after(note)
    assert told(state, tmp_path, editor=editor) == []
    assert told(state, tmp_path, editor=EditorState(open=editor.open)) == ["Visible in the editor: nothing"]
    assert told(state, tmp_path) == []


def test_names_of_files_are_not_taken_for_what_was_told(tmp_path):
    (tmp_path / "Mode: plan").touch()
    state = after(environment_note(State(), tmp_path, NOW))
    assert changes_of(state) is None


def test_a_turn_that_was_cut_short_is_told(tmp_path):
    state = State(messages=(UserMessage((Text("a"),)),), last_end=ev.TurnEnded(reason=StopReason.CANCELLED))
    assert CUT_SHORT[StopReason.CANCELLED] in environment_note(state, tmp_path, NOW).text


def test_the_branch_is_named(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    assert "Git branch: topic" in environment_note(State(), tmp_path, NOW).text


def test_a_listing_goes_near_to_far_and_does_not_enter_generated_or_hidden_folders(tmp_path):
    for path in ("b/c/d.txt", "a.txt", "node_modules/x/y.js", ".hidden/z", ".git/HEAD"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert list_workspace(tmp_path, hides_nothing) == (
        [".hidden/", "a.txt", "b/", "node_modules/", "b/c/", "b/c/d.txt"],
        False,
    )


def test_a_listing_is_cut_at_its_limit(tmp_path):
    for n in range(5):
        (tmp_path / f"{n}").touch()
    assert list_workspace(tmp_path, hides_nothing, limit=3) == (["0", "1", "2"], True)


def test_a_folder_that_cannot_be_read_is_an_empty_one(tmp_path):
    assert list_workspace(tmp_path / "gone", hides_nothing) == ([], False)


@pytest.mark.parametrize(
    "text", ["s3cret", "ref: s3cret", "-----BEGIN\ns3cret", "s3cret\nref: refs/heads/x", "\0s3cret"]
)
def test_of_a_head_that_is_none_nothing_is_told(tmp_path, text):
    (tmp_path / "w" / ".git").mkdir(parents=True)
    (tmp_path / "token").write_text(text)
    (tmp_path / "w/.git/HEAD").symlink_to(tmp_path / "token")
    assert "s3cret" not in environment_note(State(), tmp_path / "w", NOW).text


def test_a_head_that_never_ends_is_not_waited_for(tmp_path):
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    assert "branch" not in environment_note(State(), tmp_path, NOW).text


@pytest.mark.process
def test_the_branch_of_a_further_work_tree_is_known(tmp_path):
    main, beside = tmp_path / "main", tmp_path / "beside"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", main]
    subprocess.run(["git", "init", "-q", "-b", "trunk", main], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "-b", "feature", beside], check=True)
    assert "Git branch: feature" in environment_note(State(), beside, NOW).text


def test_a_head_that_is_none_names_no_branch(tmp_path):
    (tmp_path / "project" / ".git").mkdir(parents=True)
    head = tmp_path / "project" / ".git" / "HEAD"
    (tmp_path / "key").write_text("a secret\n")
    head.symlink_to(tmp_path / "key")
    assert "secret" not in environment_note(State(), tmp_path / "project", NOW).text
    head.unlink()
    os.mkfifo(head)
    assert "Git branch" not in environment_note(State(), tmp_path / "project", NOW).text


def test_names_that_are_hidden_from_the_model_are_in_no_line(tmp_path):
    (tmp_path / "secret").mkdir()
    for name in ("secret/one.txt", "a.txt", "b.txt"):
        (tmp_path / name).touch()
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    hidden = {str(tmp_path / name) for name in ("secret", "b.txt")}
    editor = EditorState(visible=("b.txt",), open=("a.txt", "b.txt", "link.txt"))
    note = note_with_names_hidden(State(), tmp_path, NOW, editor, hides=hidden.__contains__)
    assert "b.txt" not in note.text
    assert "secret" not in note.text
    assert "link" not in note.text.split("Files:")[1]
    assert "a.txt" in note.text
