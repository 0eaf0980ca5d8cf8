import os
from pathlib import Path

import pytest

from halocline.hosts.files.local import LocalFiles
from halocline.hosts.ripgrep import Ripgrep
from halocline.policy.paths import Classifier, identity_of
from halocline.policy.read_scope import ReadScope
from halocline.ports.host import SearchQuery


def nowhere(place: str) -> bool:
    return False


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("a.txt", "b.txt", "hidden/c.txt", "deep/d.ign", "credentials"):
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("hit\n" * 3)
    (folder / "way").symlink_to("hidden")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mcp.json").write_text("hit\n")
    return folder


@pytest.fixture
def kinds(workspace: Path, tmp_path: Path) -> Classifier:
    return Classifier(workspace, tmp_path / "home", ignored=("hidden/", "*.ign"))


@pytest.fixture
def scope(workspace: Path, kinds: Classifier) -> ReadScope:
    return ReadScope(kinds, {str(workspace): ""})


async def test_hidden_files_look_as_if_they_were_not_there(workspace: Path, scope: ReadScope):
    files = LocalFiles().only(nowhere, scope)
    for name in ("hidden/c.txt", "way/c.txt", "deep/d.ign"):
        assert await files.info(workspace / name) is None
        with pytest.raises(OSError, match="hidden by an ignore file"):
            await files.read(workspace / name, 10)
    assert [name for name, _ in await files.list(workspace)] == ["a.txt", "b.txt", "credentials", "deep"]
    assert await files.list(workspace / "deep") == []
    assert await files.read(workspace / "a.txt", 3) == b"hit"


async def test_search_finds_nothing_in_hidden_and_secret_files_and_as_much_as_was_asked_for_elsewhere(
    workspace: Path, scope: ReadScope
):
    search = Ripgrep().only(scope)
    found = await search.search(SearchQuery(str(workspace), "hit", limit=4, context=0))
    places = [(match.path.removeprefix(f"{workspace}/"), match.line) for match in found.matches]
    # Files are searched side by side: which four of the six are found first is not promised, their order is.
    assert len(places) == 4
    assert places == sorted(set(places))
    assert set(places) <= {(name, line) for name in ("a.txt", "b.txt") for line in (1, 2, 3)}
    assert found.cut
    assert await search.files(workspace, 10) == (["a.txt", "b.txt", "credentials"], False)


@pytest.mark.parametrize("regex", ["nothing like this", "hit", "hi."])
async def test_secrets_are_left_out_by_name_whether_they_match_or_not(workspace: Path, scope: ReadScope, regex: str):
    found = await Ripgrep().only(scope).search(SearchQuery(str(workspace), regex))
    assert found.left_out.secrets == ("credentials",)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.txt", ""),
        ("hidden/c.txt", "hidden by an ignore file"),
        ("credentials", "may hold secrets"),
        ("../outside", "leads elsewhere"),
        ("../home/mcp.json", "leads elsewhere"),
    ],
)
def test_below_a_judged_folder_all_is_read_but_what_is_guarded(workspace: Path, scope: ReadScope, name: str, why: str):
    found = os.lstat(workspace / "a.txt")
    assert why in scope.refusal(os.path.normpath(workspace / name), found)
    assert bool(scope.refusal(os.path.normpath(workspace / name), found)) == bool(why)


def test_a_secret_that_was_judged_itself_is_read(workspace: Path, kinds: Classifier):
    place = str(workspace / "credentials")
    assert ReadScope(kinds, {place: ""}).refusal(place, os.lstat(place)) == ""
    assert "leads elsewhere" in ReadScope(kinds, {place: ""}).refusal(str(workspace / "a.txt"), os.lstat(place))


def test_what_a_person_approved_is_that_very_file(workspace: Path, kinds: Classifier):
    place = str(workspace / "a.txt")
    scope = ReadScope(kinds, {place: identity_of(os.lstat(place))}, exact=True)
    assert scope.refusal(place, os.lstat(place)) == ""
    os.replace(workspace / "b.txt", place)
    assert "leads elsewhere" in scope.refusal(place, os.lstat(place))


@pytest.mark.parametrize(
    ("other", "why"),
    [("hidden/c.txt", "hidden"), ("credentials", "secrets"), ("../home/mcp.json", "own files"), ("b.txt", "")],
)
def test_a_hard_link_is_what_its_other_names_are(workspace: Path, scope: ReadScope, other: str, why: str):
    os.link(workspace / other, workspace / "innocent.txt")
    said = scope.refusal(str(workspace / "innocent.txt"), os.lstat(workspace / "innocent.txt"))
    assert why in said
    assert bool(said) == bool(why)


@pytest.mark.parametrize("name", ["HIDDEN/c.txt", "Hidden/C.txt", "deep/x.IGN"])
def test_where_the_disk_folds_letters_ignore_files_hide_every_spelling(workspace: Path, tmp_path: Path, name: str):
    def kind() -> str:
        return Classifier(workspace, tmp_path / "home", ignored=("hidden/", "*.ign")).kind(str(workspace / name))

    assert kind() == "project"
    (workspace / ".haloclineignore").touch()
    os.link(workspace / ".haloclineignore", workspace / ".HALOCLINEIGNORE")  # as such a disk finds it
    assert kind() == "ignored"


def test_secrets_are_known_in_every_spelling(workspace: Path, kinds: Classifier):
    names = (".ENV", ".Env.local", "Credentials", "Server.PEM", "ID_RSA")
    assert {kinds.kind(str(workspace / name)) for name in names} == {"secret"}
