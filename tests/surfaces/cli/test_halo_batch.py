"""`halo batch` as a person runs it: tables of tasks, reports, exit codes, kills."""

import asyncio
import json
import random
import re
import signal
import subprocess

import pytest
from tests.journeys.soundness import assert_sound
from tests.samples import choose
from tests.surfaces.cli.halo_process import Halo, call

from halocline.protocol import codec, events as ev

pytestmark = pytest.mark.process
PASSES = "test -f b.txt"


@pytest.fixture
def repository(halo: Halo) -> Halo:
    (halo.folder / "a.txt").write_text("wrong\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, check=True)
    return halo


def model(halo: Halo, name: str, *turns) -> str:
    return halo.script(*turns, *[{"text": "Done."}] * 3, name=name)


def write_tasks(halo: Halo, *items: dict) -> str:
    path = halo.folder.parent / "tasks.jsonl"
    path.write_text(
        "".join(f"{json.dumps({'prompt': 'mend it', 'folder': str(halo.folder), **one})}\n" for one in items)
    )
    return str(path)


def good(halo: Halo) -> str:
    return model(halo, "good", {"call": [call("write_to_file", path="b.txt", content="right\n")]})


async def test_a_batch_reports_and_runs_again_only_what_is_asked_for(repository: Halo) -> None:
    bad = model(repository, "bad")
    tasks = write_tasks(repository, {"id": "g", "model": good(repository)}, {"id": "b", "model": bad})
    plan = await repository.run("batch", tasks, "--accept", PASSES, "--dry-run")
    assert (plan.code, plan.out.count("would run")) == (0, 2)
    report = repository.folder.parent / "report"
    options = ("--accept", PASSES, "-y", "--branches", "--report", f"{report}.json", "--report", f"{report}.html")
    done = await repository.run("batch", tasks, *options)
    assert (done.code, "1 of 2 passed" in done.out) == (1, True)
    assert "g  passed" in done.err
    told = json.loads(report.with_suffix(".json").read_text())
    assert (told["passed"], told["failures"]) == (1, {"rejected: exit code 1": 1})
    page = report.with_suffix(".html").read_text()
    assert "1 of 2 passed" in page
    assert "http" not in page.partition("</head>")[2]
    git = ["git", "-C", str(repository.folder), "show", "batch/tasks/g:b.txt"]
    assert subprocess.run(git, capture_output=True, text=True, check=True).stdout == "right\n"
    again = await repository.run("batch", "--name", "tasks", "--again", "failed", "--json", "-y", "--accept", PASSES)
    first, second = json.loads(again.out)["lines"]
    assert (first["attempt"], second["attempt"]) == (1, 2)
    listed = await repository.run("batch", "--list")
    assert "tasks  1 of 2 passed" in listed.out
    names = (await repository.run("worktrees")).out
    assert re.search(r"tasks-[0-9a-f]{6}-b\.2 ", names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "No tasks"),
        (("nothing.jsonl",), "Cannot read nothing.jsonl"),
        (("--name", "none"), "There is no batch none"),
        (("--name", "../x"), "is no name for a batch"),
        (("{tasks}", "--only", "x"), "There is no item 'x'"),
        (("{tasks}", "--again", "x"), "There is no item 'x'"),
        (("{tasks}", "--shard", "3/2"), "is no shard"),
        (("{tasks}", "--on", "slurm"), "is no cluster"),
        (("{tasks}", "--on", "ray", "--ask"), "needs tasks on this machine"),
        (("{tasks}", "--on", "ray", "--pull-requests"), "needs places on this machine"),
        (("{tasks}", "--pull-requests"), "no remote to push to"),
        (("{tasks}", "--on", "ray", "--api-key", "k"), "No key goes to nodes"),
        (("{tasks}", "--on", "ray", "--place", "worktree", "--dry-run"), "cannot be made on a node"),
        (("{tasks}", "--on", "ray"), "Ray is not installed"),
        (("{tasks}", "--report", "x.pdf"), "A report is written to FILE.json or FILE.html"),
        (("{tasks}", "--report", "no/folder.html"), "There is no folder for"),
        (("-",), "needs a name"),
    ],
)
async def test_what_cannot_be_meant_is_told(repository: Halo, words, said) -> None:
    tasks = write_tasks(repository, {"id": "g", "model": good(repository)})
    done = await repository.run("batch", *(word.format(tasks=tasks) for word in words))
    assert (done.code, said in done.err) == (2, True), done.err
    assert "There is no batch" in (await repository.run("batch", "--list")).err


async def test_what_failed_before_any_model_was_asked_begins_anew(repository: Halo) -> None:
    tasks = write_tasks(repository, {"id": "g"})
    failed = await repository.run("batch", tasks, "-y", "-m", "nonsense/model")
    assert (failed.code, "error: usage" in failed.out) == (1, True)
    done = await repository.run("batch", tasks, "-y", "-m", good(repository))
    assert (done.code, "1 of 1 passed" in done.out) == (0, True)
    again = await repository.run("batch", tasks, "-y", "-m", good(repository))
    assert "All items have ended" in again.err


async def test_ctrl_c_leaves_a_batch_that_continues(repository: Halo) -> None:
    slow = model(repository, "slow", {"call": [call("execute_command", command="touch began; sleep 60")]})
    tasks = write_tasks(repository, {"id": "s", "model": slow}, {"id": "g", "model": good(repository)})
    running = await repository.start("batch", tasks, "-y", "-j", "1")
    while not [*repository.folder.parent.rglob("began")]:
        await asyncio.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = await running.communicate()
    assert (running.returncode, b"To continue: halo batch " in told and b" -y -j 1" in told) == (130, True)
    done = await repository.run("batch", "--name", "tasks", "-y")
    assert (done.code, "2 of 2 passed" in done.out) == (0, True)


@pytest.mark.slow
async def test_kills_change_neither_what_is_done_nor_what_is_reported(repository: Halo) -> None:
    # Each step appends its own word to a file outside, which a kill may prevent, and which no resume may repeat.
    chance = random.Random(7)
    trace = repository.folder.parent / "trace"
    items = []
    for number in range(6):
        steps = [{"call": [call("execute_command", command=f"echo {number}.{at} >> {trace}")]} for at in range(4)]
        items.append({"id": f"i{number}", "model": model(repository, f"m{number}", *steps), "accept": "true"})
    tasks = write_tasks(repository, *items)
    kills = 0
    while kills < choose(25, 4):
        running = await repository.start("batch", tasks, "-y", "-j", "3")
        try:
            async with asyncio.timeout(chance.uniform(0.3, 2.5)):
                await running.wait()
        except TimeoutError:
            running.kill()
            kills += 1
        else:
            break
        finally:
            await running.communicate()
    done = await repository.run("batch", "--name", "tasks", "-y", "--json")
    report = json.loads(done.out)
    assert (done.code, report["passed"]) == (0, 6), report["lines"]
    assert len({line["task"] for line in report["lines"]}) == 6
    words = trace.read_text().split()
    assert len(words) == len({*words})
    logs = [
        [codec.decode(line) for line in log.read_bytes().splitlines()]
        for log in repository.home.glob("tasks/*/events.jsonl")
    ]
    assert len(logs) == 6
    for log in logs:
        assert_sound(log)
        assert isinstance(next(event for event in reversed(log) if isinstance(event, ev.TurnEnded)), ev.TurnEnded)


async def test_an_evaluation_compares_models_and_calls_a_regression_an_error(repository: Halo) -> None:
    bad, predictions = model(repository, "bad"), repository.folder.parent / "predictions.jsonl"
    tasks = write_tasks(repository, *({"id": f"t{number}"} for number in range(4)))
    options = ("--accept", PASSES, "-y", "--repeat", "2")
    done = await repository.run("eval", tasks, *options, "--models", f"{good(repository)},{bad}", "--name", "first")
    assert (done.code, "8 of 16 passed" in done.out) == (0, True)
    first, second = [line.split() for line in done.out.splitlines() if line.startswith("scripted/")]
    assert (first[1], first[3], second[1]) == ("100%", "100%", "0%")
    good_path = repository.root / "good.toml"
    good_path.write_text((repository.root / "bad.toml").read_text())
    again = ("--models", f"scripted/{good_path}", "--against", "first")
    worse = await repository.run("eval", tasks, *options, *again, "--predictions", str(predictions))
    assert (worse.code, "REGRESSION" in worse.out) == (1, True)
    written = sorted(predictions.parent.glob("predictions.*"))
    assert [len(path.read_text().splitlines()) for path in written] == [4, 4]
    nothing = await repository.run("eval", tasks, "--against", "none", "-m", bad)
    assert (nothing.code, "There is no batch none" in nothing.err) == (2, True)
    unnamed = await repository.run("eval", tasks)
    assert (unnamed.code, "An evaluation names them" in unnamed.err) == (2, True)


async def test_why_an_item_ended_is_said_and_a_damaged_batch_hides_no_other(repository: Halo) -> None:
    tasks = write_tasks(repository, {"id": "g", "model": "nonsense/model"})
    done = await repository.run("batch", tasks, "-y", "--name", "one")
    assert "nonsense" in done.err.partition("error: usage")[2].partition("\n")[0]
    await repository.run("batch", tasks, "-y", "--name", "two")
    with (repository.home / "batches" / "one" / "queue.jsonl").open("a") as log:
        log.write("nothing of ours\n")
    listed = await repository.run("batch", "--list")
    assert (listed.code, "two  0 of 1" in listed.out, "one" in listed.err) == (1, True, True)
