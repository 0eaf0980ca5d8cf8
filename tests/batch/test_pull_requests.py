"""Results as pull requests. The remote is a real bare repository, reached by a stand-in of `ssh`. `gh` and `glab`
need the code hosts themselves, so they are stand-ins, too: they keep what they are given, and answer as the real ones.
"""

import asyncio
import json
import os
import shutil
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
echo "$last" >> REMOTES/asked
cd REMOTES && exec sh -c "$last"
"""
STAND_IN = """#!/usr/bin/env python3
import json, os, sys, time
from pathlib import Path
name, words, kept = Path(sys.argv[0]).name, sys.argv[1:], Path("REMOTES/requests.jsonl")
made = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
find = lambda flag: next((word.partition("=")[2] for word in words if word.startswith(f"--{flag}=")), "")
if words[:2] == ["auth", "status"]:
    sys.exit("not logged in" if os.environ.get("SIGNED_OUT") else 0)
if os.environ.get("HANGS"):
    Path("REMOTES/hangs").touch()
    time.sleep(60)
if os.environ.get("FAILS"):
    sys.exit("HTTP 502: the server has a bad day")
if name == "gh" and words[:2] == ["pr", "list"]:
    ours = [one for one in made if one["head"] == find("head")]
    print(json.dumps([{"isCrossRepository": False, "headRefOid": "0", **one} for one in ours]))
elif name == "gh":
    url = f"https://github.com/team/shop/pull/{len(made) + 1}"
    new = {"url": url, "head": find("head"), "base": find("base"), "title": find("title"), "body": sys.stdin.read()}
elif "--method=POST" in words:
    url = f"https://gitlab.example.org/team/sub/shop/-/merge_requests/{len(made) + 1}"
    given = json.load(sys.stdin)
    new = {"url": url, "head": given["source_branch"], "base": given["target_branch"], "body": given["description"]}
else:
    ours = [one for one in made if one["head"].replace("/", "%2F") in words[-1]]
    print(json.dumps([{"web_url": one["url"], "description": one["body"]} for one in ours]))
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


def keep_request(remote: Path, **fields: str) -> None:
    """Have the code host know a request, as someone else has opened it or changed it."""
    with (remote.parents[1] / "requests.jsonl").open("a") as file:
        file.write(json.dumps({"head": "batch/b/one", "base": "main", "body": "", **fields}) + "\n")


async def run(bench, *items, requests: bool = True, opener: PullRequests | None = None):
    """Run a batch as `halo batch --pull-requests` does."""
    opener = opener or PullRequests(bench.records, open_client(Choices(), "batch"))
    options = TaskOptions(model=next(iter(bench.models.values())).name, approval_mode=ApprovalMode.YOLO)
    if requests:
        known = read_queue(bench.records) if bench.records.exists() else {}
        await opener.check([known.get(one.id, Standing(one)) for one in items])
    with Queue(bench.records) as queue:
        await queue.add(items)
        if requests:
            await opener.note_targets()
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


async def test_a_remote_that_a_task_changed_gets_nothing_at_the_next_start(
    bench, item, remote, repository, monkeypatch
):
    change = Turn(
        calls=(Call("execute_command", {"command": "git remote set-url origin git@github.com:evil/shop.git"}),)
    )
    monkeypatch.setenv("FAILS", "1")
    bench = bench(model=play(change, EDIT, "done"))
    await run(bench, item())
    assert "evil" in git(repository, "remote", "get-url", "origin")
    monkeypatch.delenv("FAILS")
    with pytest.raises(UsageError, match=r"went to github\.com/team/shop .* its remote is github\.com/evil/shop now"):
        await run(bench, item())


async def test_a_request_of_an_earlier_batch_of_the_same_name_is_not_taken_for_this_one(bench, item, remote):
    keep_request(remote, url="https://github.com/team/shop/pull/9", body="merged long ago, its branch is gone")
    done = await run(bench(model=play(EDIT, "done")), item())
    assert done["one"].pull_request == "https://github.com/team/shop/pull/2"


async def test_a_request_to_whose_branch_others_pushed_is_found_after_a_kill(bench, item, remote):
    bench = bench(model=play(EDIT, "done"))
    done = await run(bench, item())
    git(remote, "update-ref", "refs/heads/batch/b/one", git(remote, "rev-parse", "main"))
    with Queue(bench.records) as queue:
        await queue.end("one", replace(done["one"], pull_request=""))
    assert (await run(bench, item()))["one"] == done["one"]


async def test_a_batch_that_is_stopped_waits_for_no_program_and_opens_it_later(bench, item, remote, monkeypatch):
    bench = bench(model=play(EDIT, "done"))
    opener = PullRequests(bench.records, open_client(Choices(), "batch"))
    monkeypatch.setenv("HANGS", "1")
    hanging = PullRequests(bench.records, open_client(Choices(), "batch"))
    running = asyncio.create_task(run(bench, item(), item(id="two"), opener=hanging))
    async with asyncio.timeout(60):
        while not (remote.parents[1] / "hangs").exists():
            await asyncio.sleep(0.02)
        hanging.stop()
        stopped = await running
    assert {one.problem for one in stopped.values()} == {"No pull request: the batch was stopped before."}
    assert list_requests(remote) == []
    monkeypatch.delenv("HANGS")
    opened = await run(bench, item(), item(id="two"), opener=opener)
    assert all(one.pull_request for one in opened.values())


async def test_a_remote_is_read_once_for_all_items(bench, item, remote):
    items = [item(id=f"i{number}") for number in range(4)]
    (remote.parents[1] / "asked").unlink()
    done = await run(bench(model=play(EDIT, "done")), *items)
    assert all(one.pull_request for one in done.values())
    asked = (remote.parents[1] / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked].count("git-upload-pack") == 1


async def test_a_remote_that_refuses_is_quoted_and_another_start_tries_again(bench, item, remote):
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'no \033[31mbatches here' >&2; exit 1\n")
    hook.chmod(0o755)
    bench = bench(model=play(EDIT, "done"))
    failed = (await run(bench, item()))["one"]
    assert ("batches here" in failed.problem, list_requests(remote)) == (True, [])
    hook.unlink()
    assert (await run(bench, item()))["one"].pull_request


async def test_the_request_is_for_the_branch_that_the_one_here_follows_also_beside_a_tag_of_its_name(
    bench, item, remote, repository
):
    git(repository, "push", "-q", "origin", "main:next")
    git(repository, "checkout", "-q", "-b", "work", "--track", "origin/next")
    git(repository, "tag", "work")
    await run(bench(model=play(EDIT, "done")), item())
    assert list_requests(remote)[0]["base"] == "next"


async def test_a_name_of_a_batch_that_git_does_not_take_becomes_one_that_it_does(bench, item, remote):
    bench = bench(model=play(EDIT, "done"))
    bench.records = bench.records.with_name("a..b.lock")
    await run(bench, item())
    assert "batch/a-.b-lock/one" in list_branches(remote)


async def test_what_was_not_kept_can_have_no_request_and_says_so(bench, item, remote):
    bench = bench(model=play(EDIT, "done"))
    await run(bench, item(), requests=False)
    shutil.rmtree(bench.records / "stores")
    assert "its place was not kept" in (await run(bench, item()))["one"].problem


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


async def test_a_branch_of_someone_else_stays_as_it_is_also_one_that_comes_while_the_batch_runs(
    bench, item, remote, repository
):
    bench = bench(model=play(EDIT, "done"))
    opener = PullRequests(bench.records, open_client(Choices(), "batch"))
    await opener.check([Standing(item())])
    git(repository, "push", "-q", "origin", "main:refs/heads/batch/b/one")
    before = git(remote, "rev-parse", "batch/b/one")
    for said in ("stale info", "is at the remote already"):  # the first look at the remote was before
        done = (await run(bench, item(), opener=opener))["one"]
        assert said in done.problem
    assert (git(remote, "rev-parse", "batch/b/one"), list_requests(remote)) == (before, [])


async def test_hostile_texts_become_a_plain_title_and_call_no_one(bench, item, remote):
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    prompt = f"--web \x1b[31m$(touch x)\u202e @team {key}\nsecond line"
    answer = f"Fixes #12, team/shop#13, GH-14 @everyone <!-- unseen --> \x07 {key}\n/merge\n[skip ci]\n```sh\nls"
    await run(bench(model=play(EDIT, answer)), item(prompt=prompt))
    (made,) = list_requests(remote)
    assert made["title"].startswith("--web")
    assert made["title"].isprintable()
    assert made["words"][:2] == ["pr", "create"]
    message = git(remote, "log", "-1", "--format=%B", "batch/b/one")
    for text in (made["title"], made["body"], message):
        assert not any(sign in text for sign in (key, "\x1b", "\x07", "\u202e"))
        body = text.removeprefix(made["title"])
        assert not any(sign in body for sign in ("@everyone", "#12", "#13", "GH-14", "\n/merge", "[skip ci]"))
    assert not any(sign in made["body"] for sign in ("@team", "<!--"))
    assert "ls\n```\n\n---" in made["body"]


@pytest.mark.parametrize("before", ["", "echo '* -diff' > .gitattributes; ", "printf '\\0' > b.txt; "])
async def test_a_change_with_a_key_that_is_known_is_not_pushed(bench, item, remote, monkeypatch, before):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789abcdef")
    write = before + "printf 'sk-very-secret-%s' 0123456789abcdef >> b.txt"  # with it in a call, that would be refused
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
    "no remote": (
        lambda folder, _: git(folder, "remote", "remove", "origin"),
        {},
        "'one': .* no remote",
    ),
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
    "a branch that is there": (
        lambda folder, _: git(folder, "push", "-q", "origin", "main:refs/heads/batch/b/one"),
        {},
        "batch/b/one is at .* already",
    ),
    "a remote that cannot be read": (
        lambda folder, _: git(folder, "remote", "set-url", "origin", "git@github.com:team/none.git"),
        {},
        "git failed: .*team/none.git",
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
