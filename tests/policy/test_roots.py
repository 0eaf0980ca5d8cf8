"""Paths in a task with several folders."""

from pathlib import Path

import pytest

from halocline.policy.acts import Act
from halocline.policy.paths import Classifier
from halocline.policy.rules import rule_covers
from halocline.protocol.kinds import Mode, ToolKind
from halocline.protocol.permission_rules import OtherRoot, Place, Rule, Verdict


@pytest.fixture
def folders(tmp_path):
    for name in ("work", "library/.git", "library-two"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def judged(folders, text, ignored=()):
    roots = (OtherRoot(str(folders / "library"), ignored),)
    return Classifier(folders / "work", folders / "home", roots=roots).resolve(text)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a.py", Place.PROJECT),
        ("../library/a.py", Place.PROJECT),
        ("../library", Place.PROJECT),
        ("../library/.git/hooks/x", Place.RUNS_LATER),
        ("../library/.env", Place.SECRET),
        ("../library/secret/a", Place.IGNORED),
        ("../library-two/a.py", Place.OUTSIDE),
        ("../a.py", Place.OUTSIDE),
    ],
)
def test_what_lies_in_any_folder_of_the_task_is_inside(folders, path, place):
    assert judged(folders, path, ("secret/",)).place is place


def test_a_path_in_a_further_folder_is_shown_whole(folders):
    assert judged(folders, "../library/a.py").shown == str(folders / "library" / "a.py")
    assert judged(folders, str(folders / "work" / "a.py")).shown == "a.py"


def test_a_link_out_of_a_further_folder_leads_outside(folders):
    (folders / "library" / "out").symlink_to(folders / "library-two")
    assert judged(folders, "../library/out/a.py").place is Place.OUTSIDE


@pytest.mark.parametrize(("decision", "holds"), [(Verdict.DENY, True), (Verdict.ASK, True), (Verdict.ALLOW, False)])
def test_what_forbids_holds_in_every_folder_and_leave_only_where_it_was_given(folders, decision, holds):
    act = Act(ToolKind.EDIT, "write_to_file", path=judged(folders, "../library/a.lock"))
    assert rule_covers(Rule(decision, paths=("*.lock",)), act, Path(folders / "work"), Mode.ACT) is holds
