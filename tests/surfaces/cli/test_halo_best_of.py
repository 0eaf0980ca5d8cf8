"""Several attempts side by side, in worktrees of a real repository."""

import asyncio
import json
import signal
import subprocess

import pytest
from tests.surfaces.cli.halo_process import Halo, call

SMALL, LARGE = "right\n", "right\nand\nmuch\nmore\n"
UNTIL = ("--until", "grep -q right a.txt")
pytestmark = pytest.mark.process


@pytest.fixture
def repository(halo: Halo) -> Halo:
    (halo.folder / "a.txt").write_text("wrong\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, check=True)
    return halo


def attempt(halo: Halo, name: str, content: str) -> str:
    read, write = call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content=content)
    return halo.script({"call": [read]}, {"call": [write]}, *[{"text": "Done."}] * 3, name=name)


def models(halo: Halo, **contents: str) -> tuple[str, str]:
    return "--models", ",".join(attempt(halo, name, content) for name, content in contents.items())


async def test_the_smallest_change_that_meets_the_goal_is_merged_and_the_others_stay(repository: Halo) -> None:
    given = models(repository, large=LARGE, bad="bad\n", small=SMALL)
    done = await repository.run("-y", "--best-of", "3", *given, *UNTIL, "--merge", "best", "mend it")
    assert done.code == 0
    assert (repository.folder / "a.txt").read_text() == SMALL
    order = [line.split()[1] for line in done.out.splitlines()[1:4]]
    assert order == [f"scripted/{name}.toml" for name in ("small", "large", "bad")]
    kept = await repository.run("worktrees")
    assert kept.out.count("1 file to merge") == 2


async def test_without_a_word_about_it_nothing_is_merged_and_json_has_each_attempt(repository: Halo) -> None:
    given = models(repository, small=SMALL, large=LARGE)
    done = await repository.run("-y", *given, *UNTIL, "--output-format", "json", "mend it")
    first, second = json.loads(done.out)
    assert (first["added"], second["added"], first["result"]["goal"]["met"]) == (1, 4, True)
    assert (done.code, (repository.folder / "a.txt").read_text()) == (0, "wrong\n")


async def test_if_none_meets_the_goal_none_is_merged(repository: Halo) -> None:
    given = models(repository, one="bad\n", two="worse\n")
    done = await repository.run("-y", *given, *UNTIL, "--merge", "best", "mend it")
    assert (done.code, (repository.folder / "a.txt").read_text()) == (3, "wrong\n")


async def test_an_attempt_that_cannot_be_compared_is_the_last_and_costs_no_other(repository: Halo) -> None:
    orphan = {"call": [call("execute_command", command="git checkout -q --orphan new", requires_approval=False)]}
    odd = repository.script(orphan, *[{"text": "Done."}] * 3, name="odd")
    done = await repository.run("-y", "--models", f"{odd},{attempt(repository, 'good', SMALL)}", "mend it")
    first, second = (line.split()[1] for line in done.out.splitlines()[1:3])
    assert (done.code, first, second) == (0, "scripted/good.toml", "scripted/odd.toml")
    assert "are not known" in done.err


async def test_a_model_that_cannot_be_used_leaves_no_worktree(repository: Halo) -> None:
    done = await repository.run("-y", "--models", f"{attempt(repository, 'one', SMALL)},nosuch/model", "mend it")
    assert (done.code, repository.tasks) == (2, [])
    assert (await repository.run("worktrees")).out == ""


async def test_if_one_worktree_cannot_be_made_no_other_stays(repository: Halo) -> None:
    repository.home.mkdir()
    (repository.home / "settings.toml").write_text("""worktree_setup = 'touch made "${PWD%-1}-2"'\n""")
    done = await repository.run("-y", *models(repository, one=SMALL, two=SMALL), "mend it")
    assert done.code != 0
    assert "Setting up" in done.err
    assert (await repository.run("worktrees")).out == ""
    branches = subprocess.run(["git", "branch", "--list"], cwd=repository.folder, check=True, capture_output=True)
    assert not [name for name in branches.stdout.split() if name.endswith(b"-1")]


async def test_an_interrupt_stops_all_attempts_and_merges_nothing(repository: Halo) -> None:
    given = models(repository, one=SMALL, two=SMALL)
    until = ("--until", "touch started; sleep 60")
    process = await repository.start("-y", *given, *until, "--merge", "best", "mend it")
    places = repository.root / "project-worktrees"
    while len(list(places.glob("*/started"))) < 2:
        await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert (process.returncode, (repository.folder / "a.txt").read_text()) == (130, "wrong\n")
    assert b"Stopped, and nothing is merged." in err
    assert out.count(b"cancelled") == 2


@pytest.mark.parametrize(
    "words",
    [
        "--best-of 1",
        "--models a/b",
        "--best-of 2 --models ,",
        "--merge best",
        "--best-of 2 -c",
        "--best-of 2 --after x",
        "--best-of 2 --bg --after x",
        "--best-of 2 --name x",
        "--best-of 2 --record x",
        "--best-of 2 --input-format stream-json",
        "--best-of 2 --output-format stream-json",
    ],
)
async def test_what_makes_no_sense_is_refused_before_anything_is_made(repository: Halo, words: str) -> None:
    done = await repository.run(*words.split(), "mend it")
    assert (done.code, repository.tasks) == (2, [])
    assert any(said in done.err for said in ("goes with", "does not go with", "makes 2 to 8 attempts", "no model"))
    assert not (repository.root / "project-worktrees").exists()


async def test_a_goal_without_a_command_is_refused(halo: Halo) -> None:
    done = await halo.run("run", "--until", " ", "x")
    assert (done.code, "--until: the command is empty" in done.err) == (2, True)
