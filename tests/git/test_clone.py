"""Clones of repositories that a person names."""

import os
import subprocess

import pytest
from tests.tables import for_each

from halocline.git.clone import check_address, clone_repository, is_address
from halocline.protocol.errors import UsageError

TAKEN = (
    "https://example.org/a/b.git",
    "https://example.org:8443/a",
    "ssh://git@example.org/a",
    "ssh://example.org:22/~/a",
    "git@example.org:a/b.git",
)
REFUSED = (
    "https://user:secret@example.org/a",
    "https://token@example.org/a",
    "ssh://user:secret@example.org/a",
    "http://example.org/a",
    "git://example.org/a",
    "file:///etc",
    "ext::sh -c touch% stolen",
    "fd::17",
    "https://-oProxyCommand=x/a",
    "ssh://-oProxyCommand=touch/a",
    "git@-oProxyCommand=x:a",
    "--upload-pack=touch",
    "-x",
    "a b://c",
    "",
)


@for_each("text", TAKEN)
def test_an_address_of_a_server_is_passed_on_as_it_is(text):
    assert (is_address(text), check_address(text)) == (True, text)


@for_each("text", REFUSED)
def test_what_is_no_plain_address_is_refused_and_no_secret_is_repeated(text):
    with pytest.raises(UsageError) as refused:
        check_address(text)
    assert "secret" not in f"{refused.value}{refused.value.text}{refused.value.hint}"


@pytest.mark.process
async def test_nothing_of_a_repository_runs(tmp_path, monkeypatch):
    made, home = tmp_path / "made", tmp_path / "home"

    def git(*words, **more):
        subprocess.run(("git", *words), cwd=made, check=True, capture_output=True, **more)

    (home / "hooks").mkdir(parents=True)
    (home / "templates/hooks").mkdir(parents=True)
    for hook in (home / "hooks/post-checkout", home / "templates/hooks/post-checkout"):
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath = {home}/hooks\n[init]\ntemplateDir = {home}/templates\n"
        f'[filter "evil"]\nsmudge = touch {tmp_path}/ran; cat\n[protocol "file"]\nallow = always\n'
    )
    monkeypatch.setenv("HOME", str(home))
    made.mkdir()
    quiet = {"env": {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}}
    git("init", "-q", **quiet)
    (made / ".gitattributes").write_text("*.txt filter=evil\n")
    (made / "a.txt").write_text("content\n")
    (made / ".gitmodules").write_text(f'[submodule "s"]\npath = s\nurl = {made}\n')
    git("add", ".", **quiet)
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a", **quiet)
    await clone_repository(str(made), tmp_path / "clone", os.environ)
    assert (tmp_path / "clone/a.txt").read_text() == "content\n"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "clone/s").exists()


@pytest.mark.process
async def test_what_git_says_before_its_advice_is_the_reason(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as error:
        await clone_repository(str(tmp_path / "empty"), tmp_path / "clone", os.environ)
    says = f"fatal: '{tmp_path}/empty' does not appear to be a git repository"
    assert error.value.text == f"git could not clone it: {says} fatal: Could not read from remote repository."
