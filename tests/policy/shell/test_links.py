"""What removes a link is about the link; what goes through a link is about the place to which it leads."""

import pytest
from tests.policy.test_shell_judge import YOLO, judged
from tests.tables import for_each

from halocline.policy.shell.values.links import Links
from halocline.protocol.permission_rules import Effect, RuleBook


@pytest.fixture
def workspace(tmp_path):
    folder, outside = tmp_path / "w", tmp_path / "outside"
    for one in (folder / ".git" / "hooks", folder / "d", outside / "d", tmp_path / "home"):
        one.mkdir(parents=True)
    (outside / "f").write_text("x\n")
    for name, target in {"to_file": outside / "f", "to_folder": outside / "d", "broken": "/nonexistent"}.items():
        (folder / name).symlink_to(target)
    (folder / "to_hooks").symlink_to(".git/hooks")
    (folder / "to_git").symlink_to(".git")
    return folder


@for_each("link", ["to_file", "to_folder", "broken", "to_hooks", "to_git"])
@for_each("command", ["rm {}", "rm -rf {}", "unlink {}", "rm -- ./{}", "rm d/../{}"])
def test_removing_a_link_deletes_the_link_whatever_it_leads_to(workspace, command, link):
    decision = judged(workspace, command.format(link), YOLO)
    assert decision.verdict == "allow"
    (part,) = judged(workspace, command.format(link)).parts
    assert (part.effect, part.targets) == (Effect.DESTRUCTIVE, (link,))
    assert decision.changes == (str(workspace / link),)


@pytest.mark.parametrize("command", ["rm -rf {}/", "rm -rf {}/.", "rm -rf {}/*", "rm -rf {}/../.git", "mv {}/ x"])
def test_what_goes_through_a_link_is_judged_where_it_leads(workspace, command):
    assert judged(workspace, command.format("to_git"), YOLO).verdict == "deny"


@pytest.mark.parametrize("command", ["shred to_file", "truncate -s 0 to_file", "rm to_folder/x"])
def test_what_changes_the_target_of_a_link_is_outside_with_it(workspace, command):
    assert "outside" in judged(workspace, command).reason


@pytest.mark.parametrize(
    "command",
    [
        "ln -s . y; cat y/hid/f",
        "ln -s . y && cd y && cat hid/f",
        "ln -s hid k; cp k/f z",
        "ln -s . y; echo x > y/hid/f",
        "mkdir n; ln -s ../hid n/k; head n/k/f",
        "ln -s hid x; ln -s x y; cat y/f",
        "ln -s . y; cat y/y/hid/f",
        "mkdir hid/deep; ln -s hid/deep y; cat y/../f",
        "ln -s .git z; rm -rf z/*",
        "ln -s .. z; rm -rf z/w",
    ],
)
def test_a_link_that_the_command_itself_makes_is_followed(workspace, command):
    (workspace / "hid").mkdir()
    (workspace / "hid" / "f").write_text("x\n")
    assert judged(workspace, command, YOLO, book=RuleBook(ignored=("hid/",))).verdict == "deny"
    assert judged(workspace, "ln -s d y; cat y/f", YOLO, book=RuleBook(ignored=("hid/",))).verdict == "allow"


@pytest.mark.parametrize("command", ["tar cf x.tar --remove-files .git", "tar --remove-files -cf x.tar .git d"])
def test_packing_that_removes_a_history_is_a_deletion(workspace, command):
    (workspace / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert judged(workspace, command, YOLO).verdict == "deny"
    assert judged(workspace, "tar cf x.tar --remove-files d", YOLO).verdict == "allow"


def test_links_without_end_stall_no_judgement_and_too_many_ask(workspace):
    many = "; ".join(f"ln -s d{n} e{n}" for n in range(30))
    assert judged(workspace, f"{many}; ln -s a b; ln -s b a; cat a/b/c e*/e*/x", YOLO).verdict in ("allow", "ask")
    more = " ".join(f"e{n}" for n in range(70))
    assert judged(workspace, f"ln -s {more} d", YOLO).verdict == "ask"


def test_more_links_than_can_be_followed_are_asked_about(workspace):
    rounds = " ".join(map(str, range(40)))
    decision = judged(workspace, f"for n in {rounds}; do ln -s d x$n; ln -s d y$n; done; cat y1/f", YOLO)
    assert (decision.verdict, "too many links" in decision.reason) == ("ask", True)


def test_only_so_many_links_and_paths_through_them_are_kept():
    links = Links()
    links.add((f"/w/link{number}", "/w/d") for number in range(10_000))
    assert links.are_lost
    assert len(links.pairs) < 100
    links = Links()
    links.add([("/w/link", "/w/d")])
    assert links.follow("/w/link/a") == ("/w/link/a", "/w/d/a")
    for number in range(10_000):
        links.follow(f"/w/link/{number}")
    assert links.are_lost
