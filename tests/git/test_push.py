"""Exactly what was shown is pushed, to where it was shown, and never by force."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from halocline.git.pull_request import INSTALL, TOKENS, find_place, open_pull_request, plan_pull_request
from halocline.git.push import hide_password, plan_push, push_branch
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

ENVIRONMENT = child_environment(os.environ)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(place: Path, subject: str) -> None:
    git(place, "commit", "--quiet", "--allow-empty", "-m", subject)


def add_hook(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", "remote.git")
    return tmp_path / "remote.git"


@pytest.fixture
def place(tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {"NAME": "A", "EMAIL": "a@example.org"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    git(tmp_path, "init", "--quiet", "-b", "main", "here")
    here = tmp_path / "here"
    commit(here, "Begin")
    git(here, "remote", "add", "origin", os.fspath(remote))
    return here


async def test_a_new_branch_is_pushed_and_followed(place: Path, remote: Path) -> None:
    commit(place, "More")
    plan = await plan_push(place)
    assert (plan.branch, plan.remote, plan.urls, plan.is_new) == ("main", "origin", (os.fspath(remote),), True)
    assert [subject for _, subject in plan.commits] == ["More", "Begin"]
    await push_branch(place, plan, ENVIRONMENT)
    assert git(remote, "log", "--format=%s", "main") == "More\nBegin\n"
    assert git(place, "rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main\n"
    assert (await plan_push(place)).commits == ()


async def test_only_what_the_remote_lacks_is_listed(place: Path) -> None:
    await push_branch(place, await plan_push(place), ENVIRONMENT)
    git(place, "checkout", "--quiet", "-b", "topic")
    commit(place, "Topic")
    plan = await plan_push(place)
    assert (plan.branch, plan.is_new, [subject for _, subject in plan.commits]) == ("topic", True, ["Topic"])


async def test_a_commit_that_came_after_what_was_shown_is_not_pushed(place: Path, remote: Path) -> None:
    shown = await plan_push(place)
    commit(place, "Later")
    with pytest.raises(UsageError, match="changed meanwhile"):
        await push_branch(place, shown, ENVIRONMENT)
    assert git(remote, "branch", "--list") == ""


async def test_a_push_to_another_place_than_shown_is_refused(place: Path, tmp_path: Path) -> None:
    shown = await plan_push(place)
    git(tmp_path, "init", "--quiet", "--bare", "other.git")
    git(place, "config", "remote.origin.pushurl", os.fspath(tmp_path / "other.git"))
    with pytest.raises(UsageError, match="changed meanwhile"):
        await push_branch(place, shown, ENVIRONMENT)
    assert git(tmp_path / "other.git", "branch", "--list") == ""


async def test_what_the_remote_has_besides_is_never_overwritten(place: Path, remote: Path, tmp_path: Path) -> None:
    await push_branch(place, await plan_push(place), ENVIRONMENT)
    git(tmp_path, "clone", "--quiet", os.fspath(remote), "theirs")
    commit(tmp_path / "theirs", "Theirs")
    git(tmp_path / "theirs", "push", "--quiet")
    commit(place, "Ours")
    with pytest.raises(UsageError, match=r"\[rejected\]") as refused:
        await push_branch(place, await plan_push(place), ENVIRONMENT)
    assert "has commits that this branch lacks" in refused.value.hint
    assert git(remote, "log", "-1", "--format=%s", "main") == "Theirs\n"
    git(place, "fetch", "--quiet")
    assert (await plan_push(place)).behind == 1


async def test_tags_and_other_branches_stay_here_whatever_the_settings_say(place: Path, remote: Path) -> None:
    git(place, "config", "push.followTags", "true")
    git(place, "config", "push.default", "matching")
    git(place, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
    git(place, "tag", "-a", "v1", "-m", "One")
    git(place, "branch", "private")
    await push_branch(place, await plan_push(place), ENVIRONMENT)
    assert git(remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"


async def test_programs_that_a_push_runs_are_listed_and_one_that_came_later_does_not_run(
    place: Path, remote: Path, tmp_path: Path
) -> None:
    add_hook(place / ".git/hooks/pre-push", "exit 0")
    add_hook(remote / "hooks/pre-receive", "exit 0")
    git(place, "config", "credential.helper", "!touch stolen")
    plan = await plan_push(place)
    assert plan.runs == (
        *(".git/hooks/pre-push", "credential.helper = !touch stolen"),
        os.fspath(remote / "hooks/pre-receive"),
    )
    git(place, "config", "core.sshCommand", "touch stolen")
    with pytest.raises(UsageError, match="changed meanwhile"):
        await push_branch(place, plan, ENVIRONMENT)


async def test_when_a_hook_refuses_its_words_are_told(place: Path, remote: Path) -> None:
    add_hook(place / ".git/hooks/pre-push", "echo 'The tests fail.' >&2; exit 1")
    with pytest.raises(UsageError, match=r"The tests fail\.") as refused:
        await push_branch(place, await plan_push(place), ENVIRONMENT)
    assert refused.value.hint == "Nothing was pushed."
    assert git(remote, "branch", "--list") == ""


@pytest.mark.parametrize("url", ["ext::sh -c touch% stolen", "--upload-pack=touch stolen", "evil::x"])
async def test_an_address_that_names_a_program_is_refused(place: Path, url: str) -> None:
    git(place, "config", "protocol.ext.allow", "always")
    git(place, "config", "remote.origin.url", url)
    with pytest.raises(UsageError):
        await plan_push(place)
    assert not (place / "stolen").exists()


async def test_without_a_remote_it_is_said_how_to_add_one(place: Path) -> None:
    git(place, "remote", "remove", "origin")
    with pytest.raises(UsageError, match="no remote to push to") as refused:
        await plan_push(place)
    assert "git remote add" in refused.value.hint


async def test_a_server_that_cannot_be_reached_is_told_in_the_words_of_git(place: Path) -> None:
    git(place, "config", "remote.origin.url", "http://me:secret@127.0.0.1:9/x.git")
    plan = await plan_push(place)
    assert plan.urls == ("http://127.0.0.1:9/x.git",)
    with pytest.raises(UsageError, match="git failed") as refused:
        await push_branch(place, plan, ENVIRONMENT)
    assert "secret" not in refused.value.text


def test_passwords_in_addresses_are_left_out() -> None:
    assert hide_password("to https://me:pw@host/x and git@host:x") == "to https://host/x and git@host:x"
    assert hide_password("to https://ghp_token@host/x and ssh://git@host/x") == "to https://host/x and ssh://git@host/x"


PLACES = {
    "git@github.com:o/n.git": "github.com/o/n",
    "https://github.com/o/n": "github.com/o/n",
    "https://me@github.com/o/n.git/": "github.com/o/n",
    "ssh://git@ssh.github.com:443/o/n.git": "github.com/o/n",
    "/srv/o/n.git": "",
    "https://host.org/a/b/c": "",
    "file:///srv/o/n.git": "",
}


@pytest.mark.parametrize("url", PLACES)
def test_the_repository_of_an_address_is_found(url: str) -> None:
    assert find_place(url) == PLACES[url]


@pytest.fixture
def topic(place: Path) -> Path:
    """A branch whose remote is at GitHub by name only."""
    git(place, "push", "--quiet", "origin", "main")
    git(place, "fetch", "--quiet")
    git(place, "checkout", "--quiet", "-b", "topic")
    commit(place, "One\n\nWhy it is.")
    git(place, "config", "remote.origin.url", "git@github.com:o/n.git")
    return place


async def test_a_pull_request_is_proposed_from_the_commits_of_the_branch(topic: Path) -> None:
    one = await plan_pull_request(topic)
    assert (one.repository, one.branch, one.base, one.title, one.body) == (
        *("github.com/o/n", "topic", "main"),
        *("One", "Why it is."),
    )
    commit(topic, "Two")
    two = await plan_pull_request(topic)
    assert (two.title, two.body) == ("One", "- One\n- Two")


async def test_without_gh_it_is_said_what_to_install(
    topic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_git = tmp_path / "bin"
    only_git.mkdir()
    found = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
    (only_git / "git").symlink_to(found)
    monkeypatch.setenv("PATH", os.fspath(only_git))
    plan = await plan_pull_request(topic)
    assert not plan.has_gh
    with pytest.raises(UsageError, match="gh was not found") as refused:
        await open_pull_request(topic, plan, ENVIRONMENT, draft=False)
    assert refused.value.hint == INSTALL


async def test_a_gh_that_the_project_brings_is_not_run(topic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_hook(topic / "gh", "touch stolen; echo https://github.com/o/n/pull/1")
    monkeypatch.setenv("PATH", f"{topic}:/usr/bin/nothing:{os.path.dirname('/usr/bin/git')}")
    plan = await plan_pull_request(topic)
    if plan.has_gh:  # a real one, which is not signed in
        monkeypatch.setenv("GH_CONFIG_DIR", os.fspath(topic / "none"))
    with pytest.raises(UsageError):
        await open_pull_request(topic, plan, child_environment(os.environ), draft=False)
    assert not (topic / "stolen").exists()


@pytest.mark.skipif(not os.access("/usr/bin/gh", os.X_OK), reason="gh is not installed: apt-get install gh")
@pytest.mark.parametrize("automation", [{}, {"CI": "true"}, {"GITHUB_ACTIONS": "true"}], ids=str)
async def test_a_gh_that_is_not_signed_in_says_so(topic: Path, tmp_path: Path, automation: dict[str, str]) -> None:
    # gh's words depend on where it believes to run
    others = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", *TOKENS)}
    environment = child_environment({**others, **automation, "GH_CONFIG_DIR": os.fspath(tmp_path / "none")})
    add_hook(topic / ".git/hooks/pre-push", "touch stolen")
    git(topic, "config", "core.fsmonitor", "touch stolen; true")
    with pytest.raises(UsageError, match="gh failed") as refused:
        await open_pull_request(topic, await plan_pull_request(topic), environment, draft=True)
    assert refused.value.hint == "Sign in once in a terminal: gh auth login"
    assert not (topic / "stolen").exists()


@pytest.mark.parametrize("wrong", [{"title": " "}, {"base": "--fill"}, {"repository": "github.com/other/x"}])
async def test_what_was_not_shown_or_is_no_text_is_refused(topic: Path, wrong: dict[str, str]) -> None:
    plan = replace(await plan_pull_request(topic), **wrong)
    with pytest.raises(UsageError):
        await open_pull_request(topic, plan, ENVIRONMENT, draft=False)
