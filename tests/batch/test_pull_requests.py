"""Results as pull requests. The remote is a real bare repository, reached by a stand-in of `ssh`. `gh` and `glab`
need the code hosts themselves, so they are stand-ins, too: they keep what they are given, and answer as the real ones.
"""

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.batch.conftest import EDIT, PASSES, git, play

from halocline.batch.places import LocalPlaces
from halocline.batch.pull_requests import PullRequests
from halocline.batch.queue import Queue, Standing, read_queue
from halocline.batch.work import Manner
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode
from halocline.testing import Call, Turn

pytestmark = pytest.mark.process
SSH = """#!/bin/sh
for last; do :; done
cd REMOTES && exec sh -c "$last"
"""
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
from pathlib import Path
name, words, kept = Path(sys.argv[0]).name, sys.argv[1:], Path("REMOTES/requests.jsonl")
made = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
find = lambda flag: next((word.partition("=")[2] for word in words if word.startswith(f"--{flag}=")), "")
if words[:2] == ["auth", "status"]:
    sys.exit("not logged in" if os.environ.get("SIGNED_OUT") else 0)
if os.environ.get("FAILS"):
    sys.exit("HTTP 502: the server has a bad day")
if name == "gh" and words[:2] == ["pr", "list"]:
    print(json.dumps([{"url": one["url"], "isCrossRepository": False} for one in made if one["head"] == find("head")]))
elif name == "gh":
    url = f"https://github.com/team/shop/pull/{len(made) + 1}"
    new = {"url": url, "head": find("head"), "base": find("base"), "title": find("title"), "body": sys.stdin.read()}
elif "--method=POST" in words:
    url = f"https://gitlab.example.org/team/sub/shop/-/merge_requests/{len(made) + 1}"
    given = json.load(sys.stdin)
    new = {"url": url, "head": given["source_branch"], "base": given["target_branch"], "body": given["description"]}
else:
    print(json.dumps([{"web_url": one["url"]} for one in made if one["head"].replace("/", "%2F") in words[-1]]))
if "new" in globals():
    kept.open("a").write(json.dumps({**new, "words": words}) + "\\n")
    print(json.dumps({"web_url": url}) if name == "glab" else f"Creating pull request\\n{url}")
"""


@pytest.fixture
def remote(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bare repository that `git@github.com:team/shop.git` leads to."""
    programs, remotes = tmp_path / "programs", tmp_path / "remotes"
    bare = remotes / "team" / "shop.git"
    bare.mkdir(parents=True)
    programs.mkdir()
    for name, text in {"ssh": SSH, "gh": STAND_IN, "glab": STAND_IN}.items():
        (programs / name).write_text(text.replace("REMOTES", str(remotes)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    git(bare, "init", "-q", "--bare", "-b", "main")
    git(repository, "remote", "add", "origin", "git@github.com:team/shop.git")
    git(repository, "push", "-q", "origin", "main")
    return bare


def list_requests(remote: Path) -> list[dict]:
    kept = remote.parents[1] / "requests.jsonl"
    return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []


def list_branches(remote: Path) -> list[str]:
    return git(remote, "for-each-ref", "--format=%(refname:short)").splitlines()


async def run(bench, *items, requests: bool = True):
    """Run a batch as `halo batch --pull-requests` does."""
    opener = PullRequests(bench.records, open_client(Choices(), "batch"))
    options = TaskOptions(model=next(iter(bench.models.values())).name, approval_mode=ApprovalMode.YOLO)
    if requests:
        known = read_queue(bench.records) if bench.records.exists() else {}
        await opener.check([known.get(one.id, Standing(one)) for one in items])
    with Queue(bench.records) as queue:
        await queue.add(items)
        if requests:
            async for _ in opener.publish_left(queue, [one.id for one in items]):
                pass
        publish = opener.publish if requests else None
        places = LocalPlaces(bench.places, bench.records, os.environ, lambda item: False)
        manner = Manner(Choices(unattended=True), options)
        await bench.build(queue, manner=manner, places=places, publish=publish).run()
        return {id: one.outcome for id, one in queue.items.items()}


async def test_what_passed_gets_a_branch_and_a_request_with_its_figures(bench, item, remote, repository):
    done = await run(bench(model=play(EDIT, "It is **right** now.")), item(accept=PASSES))
    (made,) = list_requests(remote)
    assert (made["head"], made["base"], made["title"]) == ("batch/b/one", "main", "mend it")
    assert done["one"].pull_request == made["url"]
    for said in ("It is **right** now.", f"Accepted by `{PASSES}`: exit code 0", "requests: 2", "+1 -0", "> mend it"):
        assert said in made["body"]
    assert git(remote, "show", "batch/b/one:b.txt") == "right"
    assert git(remote, "rev-parse", "batch/b/one~") == git(repository, "rev-parse", "HEAD")
    assert git(repository, "branch", "--list", "batch/*") == ""


async def test_what_did_not_pass_or_changed_nothing_gets_none(bench, item, remote):
    await run(bench(model=play("done")), item(id="rejected", accept=PASSES), item(id="nothing"))
    assert (list_requests(remote), list_branches(remote)) == ([], ["main"])


async def test_a_batch_that_is_continued_opens_none_twice_also_after_a_kill_between_its_steps(bench, item, remote):
    bench = bench(model=play(EDIT, "done"))
    done = await run(bench, item())
    await run(bench, item())
    with Queue(bench.records) as queue:  # as a kill leaves it after the request, and before the note of it
        await queue.end("one", replace(done["one"], pull_request=""))
    assert (await run(bench, item()))["one"] == done["one"]
    assert len(list_requests(remote)) == 1


async def test_what_could_not_be_opened_and_what_ran_without_them_is_opened_by_a_later_run(
    bench, item, remote, monkeypatch
):
    bench = bench(model=play(EDIT, "done"))
    await run(bench, item(), requests=False)
    monkeypatch.setenv("FAILS", "1")
    failed = (await run(bench, item()))["one"]
    assert (failed.passed, "HTTP 502" in failed.problem, failed.pull_request) == (True, True, "")
    monkeypatch.delenv("FAILS")
    opened = (await run(bench, item()))["one"]
    assert (opened.problem, opened.pull_request) == ("", list_requests(remote)[0]["url"])


async def test_a_branch_of_someone_else_stays_as_it_is(bench, item, remote, repository):
    git(repository, "push", "-q", "origin", "main:refs/heads/batch/b/one")
    before = git(remote, "rev-parse", "batch/b/one")
    done = (await run(bench(model=play(EDIT, "done")), item()))["one"]
    assert "is at the remote already" in done.problem
    assert (git(remote, "rev-parse", "batch/b/one"), list_requests(remote)) == (before, [])


async def test_hostile_texts_become_a_plain_title_and_call_no_one(bench, item, remote):
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    prompt = f"--web \x1b[31m$(touch x)\u202e @team {key}\nsecond line"
    answer = f"Fixes #12, @everyone <!-- unseen --> \x07 {key}"
    await run(bench(model=play(EDIT, answer)), item(prompt=prompt))
    (made,) = list_requests(remote)
    assert made["title"].startswith("--web")
    assert made["title"].isprintable()
    assert made["words"][:2] == ["pr", "create"]
    message = git(remote, "log", "-1", "--format=%B", "batch/b/one")
    for text in (made["title"], made["body"], message):
        assert not any(sign in text for sign in (key, "\x1b", "\x07", "\u202e"))
    assert not any(sign in made["body"] for sign in ("@team", "@everyone", "#12", "<!--"))


async def test_a_change_with_a_key_that_is_known_is_not_pushed(bench, item, remote, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789abcdef")
    write = "printf 'sk-very-secret-%s' 0123456789abcdef > b.txt"  # a call with the key in it would be refused
    leak = Turn(calls=(Call("execute_command", {"command": write}),))
    done = (await run(bench(model=play(leak, "done")), item()))["one"]
    assert "has a key that is known here" in done.problem
    assert list_branches(remote) == ["main"]


async def test_gitlab_has_merge_requests_by_glab_and_a_clone_goes_where_it_came_from(bench, item, remote):
    (remote.parents[1] / "team" / "sub").mkdir()
    remote.rename(moved := remote.parents[1] / "team" / "sub" / "shop.git")
    git(moved, "branch", "next")
    address = "git@gitlab.example.org:team/sub/shop.git"
    done = await run(bench(model=play(EDIT, "done")), item(folder="", git=address, revision="next"))
    (made,) = list_requests(remote)
    assert (made["base"], done["one"].pull_request) == ("next", made["url"])
    assert "projects/team%2Fsub%2Fshop/merge_requests" in made["words"]
    assert git(moved, "show", "batch/b/one:b.txt") == "right"


def leave(variable, value):
    return lambda repository, patch: patch.setenv(variable, value)


REFUSED = {
    "not signed in": (leave("SIGNED_OUT", "1"), {}, "gh is not signed in to github.com"),
    "no program": (leave("PATH", "/usr/bin:/bin"), {}, "gh was not found"),
    "no remote": (lambda folder, _: git(folder, "remote", "remove", "origin"), {}, "no remote to push to"),
    "a copy": (lambda *_: None, {"place": "copy"}, "which has no branch"),
    "no code host": (
        lambda folder, _: git(folder, "remote", "set-url", "origin", "/srv/x.git"),
        {},
        "no repository of a code host",
    ),
    "commits of a person": (
        lambda folder, _: git(folder, "commit", "--allow-empty", "-qm", "mine"),
        {},
        "is not at origin, and would be pushed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_can_have_no_request_is_refused_before_anything_runs(
    bench, item, remote, repository, monkeypatch, name
):
    arrange, fields, said = REFUSED[name]
    arrange(repository, monkeypatch)
    bench = bench(model=play(EDIT, "done"))
    with pytest.raises(UsageError, match=said):
        await run(bench, item(**fields))
    assert not bench.records.exists()
