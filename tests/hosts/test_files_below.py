from halocline.hosts.shell import policy_facts
from halocline.hosts.shell.policy_facts import LocalShellFacts


def test_files_below_are_named_from_the_folder_and_links_by_where_they_lead(tmp_path):
    folder = tmp_path.resolve() / "w"
    (folder / "sub" / ".git").mkdir(parents=True)
    (folder / "sub" / ".git" / "HEAD").write_text("")
    (folder / ".env").write_text("")
    (folder / "sub" / "out").symlink_to("../../elsewhere")
    found = LocalShellFacts({}).files_below(str(folder))
    assert sorted(found or ()) == sorted((".env", "sub/.git/HEAD", str(tmp_path.resolve() / "elsewhere")))


def test_more_files_than_anybody_looks_at_are_not_told(tmp_path):
    for number in range(policy_facts.MOST_FILES + 1):
        (tmp_path / str(number)).touch()
    assert LocalShellFacts({}).files_below(str(tmp_path)) is None


def test_what_is_no_folder_holds_no_files(tmp_path):
    (tmp_path / "a").write_text("")
    assert LocalShellFacts({}).files_below(str(tmp_path / "a")) == ()
