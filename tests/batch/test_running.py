"""Whole batches with a scripted model: how items end, what is kept of them, and what a stop leaves."""

import asyncio
import errno
import gc
import os

import pytest
from msgspec.structs import replace
from tests.batch.conftest import EDIT, PASSES, git, play

from halocline.batch.items import PlaceKind
from halocline.batch.places import LocalPlaces
from halocline.batch.queue import Ending, Queue
from halocline.batch.report import make_report
from halocline.batch.work import Manner
from halocline.client.options import Choices, TaskOptions
from halocline.protocol import events as ev
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.kinds import ApprovalMode
from halocline.surfaces.cli.commands.batch.progress import Lines, Table
from halocline.testing import Call, Fault, Scripted, Turn

pytestmark = pytest.mark.process
RUN = Turn(calls=(Call("execute_command", {"command": "touch ran"}),))
YOLO = {"approval_mode": ApprovalMode.YOLO}
ENDS = {
    "passed": ((EDIT, "done"), {}, (Ending.PASSED, "")),
    "rejected": (("done",), {}, (Ending.REJECTED, "exit code 1")),
    "without acceptance": (("done",), {"accept": ""}, (Ending.PASSED, "")),
    "at a limit": ((EDIT, EDIT, EDIT, "done"), {"max_steps": 2, "accept": ""}, (Ending.LIMIT, "steps")),
    "accepted at a limit": ((EDIT, EDIT, EDIT, "done"), {"max_steps": 2}, (Ending.PASSED, "steps")),
    "without an approval": ((RUN, "done"), {"accept": ""}, (Ending.APPROVAL, "")),
    "with an error": ((Turn(fault=Fault.AUTH), "done"), {}, (Ending.ERROR, "model_auth")),
    "without a model": (("done",), {"model": "none/such"}, (Ending.ERROR, "usage")),
    "without a folder": (("done",), {"folder": "/none/such"}, (Ending.PLACE, "usage")),
    "accepted too slowly": (("done",), {"accept": "sleep 60", "accept_seconds": 0.5}, (Ending.REJECTED, None)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
async def test_an_item_ends_as_its_task_and_its_acceptance_do(bench, item, name):
    turns, fields, (ending, cause) = ENDS[name]
    done = await bench(model=play(*turns)).run(item(**{"accept": PASSES, **fields}))
    outcome = done["one"]
    assert (outcome.ending, cause is None or outcome.cause == cause) == (ending, True), outcome


PARTS_OF_A_TASK = {"Task", "State", "Log", "ShadowGit", "SaveQueue", "Repository", "Toolset", "OpenTask", "Spending"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
async def test_an_ended_task_is_freed_without_a_look_for_cycles(bench, item, name):
    """Where 200 tasks end together, a look at what they left would hold all others for half a second."""
    turns, fields, _ = ENDS[name]
    gc.collect()
    gc.disable()
    try:
        await bench(model=play(*turns)).run(item(**{"accept": PASSES, **fields}))
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(one).__name__ for one in gc.garbage if _is_ours(one)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left & PARTS_OF_A_TASK == set()


def _is_ours(thing: object) -> bool:
    return f"{type(thing).__module__}".startswith("halocline.")


async def test_an_outcome_has_figures_patch_and_branch(bench, item, repository):
    first = git(repository, "rev-parse", "HEAD")
    bench = bench()
    manner = Manner(Choices(unattended=True), TaskOptions(model="scripted", **YOLO), branches=True)
    manner = replace(manner, options=replace(manner.options, model=next(iter(bench.models.values())).name))
    done = (await bench.run(item(accept=PASSES), manner=manner))["one"]
    assert (done.files, done.added, done.removed, done.requests, done.calls) == (1, 1, 0, 2, 1)
    assert (done.accepted, done.text, done.result) == (True, "done", "batch/b/one")
    assert git(repository, "log", "-1", "--format=%P", done.result) == first
    patch = bench.records / "results" / "one.patch"
    assert git(repository, "apply", "--numstat", str(patch)) == "1\t0\tb.txt"
    assert not (repository / "b.txt").exists()


async def test_acceptance_files_come_over_the_result_and_through_no_link_of_the_task(bench, item, tmp_path):
    outside, tests = tmp_path / "outside", tmp_path / "hidden"
    outside.mkdir()
    (tests / "checks").mkdir(parents=True)
    (tests / "checks" / "check.sh").write_text("grep -q right b.txt\n")
    link = Turn(calls=(Call("execute_command", {"command": f"ln -s {outside} checks"}),))
    bench = bench(model=play(link, EDIT, "done"))
    files = {"accept": "sh checks/check.sh", "accept_files": str(tests)}
    done = (await bench.run(item(**files, **YOLO), manner=_yolo(bench)))["one"]
    assert (done.ending, done.accepted) == (Ending.PASSED, True)
    assert [*outside.iterdir()] == []


async def test_acceptance_runs_in_the_sandbox_of_the_task(bench, item, tmp_path):
    canary = tmp_path.parent / f"{tmp_path.name}-canary"
    settings = tmp_path / "halocline-home" / "settings.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('sandbox = "auto"\n')
    bench = bench(model=play("done"))
    manner = Manner(Choices(unattended=True), replace(_yolo(bench).options, approval_mode=ApprovalMode.AUTO))
    await bench.run(item(accept=f"touch {canary}"), manner=manner)
    assert not canary.exists()


async def test_items_in_one_folder_work_one_after_another(bench, tmp_path, item):
    plain = tmp_path / "plain"
    plain.mkdir()
    wait = Turn(calls=(Call("execute_command", {"command": "mkdir busy && sleep 0.2 && rmdir busy"}),))
    bench = bench(model=play(wait, "done"))
    items = [item(id=f"i{number}", folder=str(plain), accept="test ! -e busy") for number in range(4)]
    done = await bench.run(*items, at_once=4, manner=_yolo(bench))
    assert [one.ending for one in done.values()] == [Ending.PASSED] * 4
    assert sum(one.failed_calls for one in done.values()) == 0


async def test_no_item_begins_once_the_money_is_spent_and_more_money_lets_them_continue(bench, item):
    bench = bench(model=play(Turn("done", cost=0.4)))
    items = [item(id=f"i{number}") for number in range(4)]
    first = await bench.run(*items, at_once=1, max_total_cost=0.5)
    assert [bool(one) for one in first.values()] == [True, False, False, False]
    again = await bench.run(*items, at_once=1, max_total_cost=5.0)
    assert all(again.values())
    assert sum(one.cost for one in again.values()) <= 5 * 0.4


async def test_what_is_stopped_continues_its_own_task_and_what_ended_does_not_run_again(bench, item):
    hang = Turn(calls=(Call("execute_command", {"command": "echo x >> ran; sleep 60"}),))
    bench = bench(quick=play(EDIT, "done", name="quick"), slow=play(hang, "done", "done", name="slow"))
    quick, slow = (model.name for model in bench.models.values())
    items = [item(id="quick", model=quick, accept=PASSES), item(id="slow", model=slow)]
    with Queue(bench.records) as queue:
        await queue.add(items)
        batch = bench.build(queue, manner=_yolo(bench))
        running = asyncio.create_task(batch.run())
        while not (list(bench.folder.rglob("ran")) and queue.items["quick"].outcome):
            await asyncio.sleep(0.05)
        batch.stop()
        assert await running
        before = dict(queue.items)
    assert (before["slow"].outcome, bool(before["slow"].task)) == (None, True)
    done = await bench.run(*items, manner=_yolo(bench))
    assert [one.ending for one in done.values()] == [Ending.PASSED, Ending.PASSED]
    assert done["quick"] == before["quick"].outcome
    (ran,) = bench.folder.rglob("ran")
    assert ran.read_text() == "x\n"
    with Queue(bench.records) as queue:
        assert queue.items["slow"].task == before["slow"].task


async def test_a_stop_cuts_the_acceptance_short_and_it_runs_again(bench, item, tmp_path):
    bench = bench(model=play("done"))
    flag = tmp_path / "flag"
    items = [item(accept=f"test -e {flag} || {{ touch {tmp_path}/began; sleep 60; }}")]
    with Queue(bench.records) as queue:
        await queue.add(items)
        batch = bench.build(queue)
        running = asyncio.create_task(batch.run())
        while not (tmp_path / "began").exists():
            await asyncio.sleep(0.02)
        batch.stop()
        async with asyncio.timeout(30):
            assert await running
        assert queue.items["one"].outcome is None
    flag.touch()
    done = (await bench.run(*items))["one"]
    assert (done.ending, done.requests) == (Ending.PASSED, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1, 0.3])
async def test_a_stop_ends_a_batch_at_any_moment(bench, item, seconds):
    hang = Turn("thinks", delay=3600)
    bench = bench(model=play(hang))
    with Queue(bench.records) as queue:
        await queue.add([item(id=f"i{number}") for number in range(8)])
        batch = bench.build(queue, 8)
        running = asyncio.create_task(batch.run())
        await asyncio.sleep(seconds)
        batch.stop()
        async with asyncio.timeout(60):
            assert await running
        assert [one.outcome for one in queue.items.values()] == [None] * 8


async def test_no_more_items_run_at_once_than_are_wanted(bench, item):
    wait = Turn(calls=(Call("execute_command", {"command": "sleep 0.2"}),))
    bench = bench(model=play(wait, "done"))
    most = 0
    with Queue(bench.records) as queue:
        await queue.add([item(id=f"i{number}") for number in range(5)])
        batch = bench.build(queue, 2, _yolo(bench), note=lambda id: count())

        def count() -> None:
            nonlocal most
            most = max(most, sum(batch.read_state(id) is not None for id in queue.items))

        await batch.run()
    assert most == 2


class Slow(Scripted):
    """Its second request waits in the line of the provider's limit until it is let through."""

    def __init__(self) -> None:
        super().__init__([EDIT, "done"], "scripted/one")
        self.may_go = asyncio.Event()
        self.asked = 0

    async def stream(self, request):
        self.asked += 1
        if self.asked > 1:
            yield ev.StepRetried(attempt=0, wait=53.0, cause="Waiting for the provider's limit", unbilled=True)
            await self.may_go.wait()
        async for event in super().stream(request):
            yield event


async def test_an_item_that_waits_for_the_provider_says_so_until_it_continues(bench, item, capsys):
    bench = bench(model=Slow())
    lines, table, seen = Lines(), Table(), list[str]()
    with Queue(bench.records) as queue:
        await queue.add([item()])

        def note(id: str) -> None:
            lines.note(id)
            table.note(id)
            if batch.read_wait(id):
                seen.extend(str(cell) for column in table.draw(batch).columns for cell in column.cells)
            if seen.count("one") == 2:  # also after what was done meanwhile: the checkpoint of the edit
                bench.models["model"].may_go.set()

        batch = bench.build(queue, note=note)
        async with asyncio.timeout(60):
            with lines.show(batch):
                await batch.run()
        assert batch.read_wait("one") is None
    assert seen.count("Waiting for the provider's limit: 53 s") == 2
    assert capsys.readouterr().err.count("one  Waiting for the provider's limit: 53 s") == 1


async def test_a_place_goes_only_when_it_is_not_to_be_kept(bench, item, repository):
    for number, (keep, left) in enumerate({"all": 2, "failed": 1, "none": 0}.items()):
        here = bench(good=play(EDIT, "done", name="good"), bad=play("done", name="bad"))
        good, bad = (model.name for model in here.models.values())
        here.records, here.places = (path.with_name(f"b{number}") for path in (here.records, here.places))
        items = [
            item(id="good", model=good, accept=PASSES, place=PlaceKind.COPY),
            item(id="bad", model=bad, accept=PASSES, place=PlaceKind.COPY),
        ]
        await here.run(*items, manner=replace(_yolo(here), keep=keep))
        assert len([*(here.places / "places").iterdir()]) == left
        assert (here.records / "results" / "good.patch").read_bytes()


async def test_a_report_counts_endings_and_knows_how_sure_it_is(bench, item):
    bench = bench(good=play(EDIT, "done", name="good"), bad=play("done", name="bad"))
    good, bad = (model.name for model in bench.models.values())
    items = [item(id=f"i{number}", model=good if number else bad, accept=PASSES) for number in range(4)]
    await bench.run(*items)
    with Queue(bench.records) as queue:
        report = make_report("b", queue.items.values())
    assert (report.items, report.ended, report.passed, report.rate) == (4, 4, 3, 0.75)
    assert report.interval == (0.3006, 0.9544)
    assert report.failures == {"rejected: exit code 1": 1}
    assert report.requests == 7


def _yolo(bench) -> Manner:
    model = next(iter(bench.models.values())).name
    return Manner(Choices(unattended=True), TaskOptions(model=model, approval_mode=ApprovalMode.YOLO))


async def test_hidden_tests_are_in_no_patch_also_after_a_stop_during_acceptance(bench, item, tmp_path):
    tests, flag = tmp_path / "hidden", tmp_path / "flag"
    tests.mkdir()
    (tests / "hidden_test.sh").write_text(f"test -e {flag} || {{ touch {tmp_path}/began; sleep 60; }}\n")
    bench = bench()
    items = [item(accept="sh hidden_test.sh", accept_files=str(tests))]
    with Queue(bench.records) as queue:
        await queue.add(items)
        batch = bench.build(queue)
        running = asyncio.create_task(batch.run())
        while not (tmp_path / "began").exists():
            await asyncio.sleep(0.02)
        batch.stop()
        assert await running
        assert (queue.items["one"].outcome, queue.items["one"].done.files) == (None, 1)
    flag.touch()
    done = (await bench.run(*items))["one"]
    assert (done.ending, done.files) == (Ending.PASSED, 1)
    assert b"hidden" not in (bench.records / "results" / "one.patch").read_bytes()


async def test_nothing_that_the_task_left_running_sees_the_acceptance(bench, item, tmp_path):
    tests, seen = tmp_path / "hidden", tmp_path / "seen"
    tests.mkdir()
    (tests / "hidden.sh").write_text("sleep 0.5\n")
    look = f"while sleep 0.05; do test -e hidden.sh && touch {seen}; done"
    left = Turn(calls=(Call("execute_command", {"command": look, "background": True}),))
    bench = bench(model=play(left, EDIT, "done"))
    done = await bench.run(item(accept="sh hidden.sh", accept_files=str(tests)), manner=_yolo(bench))
    assert (done["one"].ending, seen.exists()) == (Ending.PASSED, False)


async def test_what_tasks_cost_counts_through_restarts_and_further_attempts(bench, item):
    bench = bench(model=play(Turn("done", cost=0.4)))
    items = [item(id=f"i{number}") for number in range(3)]
    for _ in range(3):  # the same limit each time
        done = await bench.run(*items, at_once=1, max_total_cost=0.5)
    assert sum(bool(one) for one in done.values()) == 1
    with Queue(bench.records) as queue:
        await queue.repeat(["i0"])
        batch = bench.build(queue, max_total_cost=0.9)
        await batch.run()
        assert batch.purse.spent >= 0.8
        assert queue.items["i0"].cost == 0.4


async def test_a_repository_that_a_task_makes_in_its_place_spoils_no_result(bench, item):
    make = Turn(calls=(Call("execute_command", {"command": "git init -q sub; touch sub/x"}),))
    bench = bench(model=play(make, EDIT, "done"))
    done = (await bench.run(item(accept=PASSES), manner=_yolo(bench)))["one"]
    assert (done.ending, done.files, done.problem) == (Ending.PASSED, 1, "")


async def test_a_patch_that_cannot_be_kept_is_said_and_the_result_is_accepted_all_the_same(bench, item):
    bench = bench()
    bench.records.mkdir(parents=True)
    (bench.records / "results").write_text("in the way")
    done = (await bench.run(item(accept=PASSES)))["one"]
    assert (done.ending, done.result, "results" in done.problem) == (Ending.PASSED, "", True)


async def test_files_of_the_acceptance_need_a_place_of_its_own(bench, item, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    done = (await bench().run(item(folder=str(plain), accept="true", accept_files=str(plain))))["one"]
    assert (done.ending, "of the item's own" in done.text) == (Ending.PLACE, True)


async def test_an_item_that_began_and_cannot_be_opened_now_keeps_its_task(bench, item, repository):
    bench = bench()
    with Queue(bench.records) as queue:
        await queue.add([item()])
        await queue.begin("one", "its-task")
    moved = repository.with_name("moved")
    repository.rename(moved)
    assert (await bench.run())["one"] is None
    moved.rename(repository)
    assert (await bench.run())["one"].ending is Ending.PASSED
    with Queue(bench.records) as queue:
        assert queue.items["one"].task == "its-task"


class FullAtFirst(LocalPlaces):
    """Places on a disk that has no room the first `times`."""

    times = 2

    async def _open(self, standing, kind):
        if self.times:
            self.times -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return await super()._open(standing, kind)


async def test_an_item_whose_place_finds_no_room_on_the_disk_has_no_end_and_passes_later(bench, item):
    bench = bench()
    places = FullAtFirst(bench.places, bench.records, {}, lambda item: False)
    with Queue(bench.records) as queue:
        await queue.add([item(accept=PASSES)])
        await bench.build(queue, places=places).run()
        assert (places.times, queue.items["one"].outcome) == (0, None)
        await bench.build(queue, places=places).run()
        assert queue.items["one"].outcome.ending is Ending.PASSED


async def test_an_item_whose_task_was_cut_in_the_first_line_of_its_log_begins_again_in_it(bench, item, halocline_home):
    bench = bench()
    task = halocline_home / "tasks" / "261201-000000-torn"
    with Queue(bench.records) as queue:
        await queue.add([item(accept=PASSES)])
        await queue.begin("one", task.name)
        task.mkdir(parents=True)
        (task / LOG_NAME).write_bytes(b'{"type":"task_sta')
        await bench.build(queue).run()
        assert (queue.items["one"].outcome.ending, queue.items["one"].task) == (Ending.PASSED, task.name)
