"""Batches on a real Ray cluster of three node processes: whatever dies, each item has one end, and nothing is lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.batch.fleet.conftest import Bench, start_third, wait_for
from tests.journeys.soundness import assert_sound

from halocline.protocol import codec

pytestmark = [pytest.mark.long, pytest.mark.process]
IDS = [f"i{number}" for number in range(12)]
FIGURES = ("items", "ended", "passed", "requests", "calls", "failed_calls", "cost", "failures")


def assert_whole(bench: Bench, report: dict, ids: list[str] = IDS) -> None:
    """Each item once in the report and among the ends, accepted, with its own patch and a sound log."""
    assert [line["id"] for line in report["lines"]] == ids
    assert (report["passed"], sorted(bench.read_ends())) == (len(ids), sorted(ids))
    assert len({line["task"] for line in report["lines"]}) == len(ids)
    for line in report["lines"]:
        assert f"+right {line['id']}\n" in Path(line["outcome"]["result"]).read_text()
        log = bench.home / "tasks" / line["task"] / codec.LOG_NAME
        assert_sound([codec.decode(event) for event in log.read_bytes().splitlines()])


def test_items_run_on_all_nodes_and_the_report_is_that_of_this_machine(bench: Bench) -> None:
    tasks = bench.write_tasks(12, f"echo {{id}} >> {bench.trace}")
    report = bench.finish(bench.start(tasks, "--on", "ray", "-j", "6"))
    assert_whole(bench, report)
    assert sorted(bench.read_trace()) == sorted(IDS)
    assert len({line["node"] for line in report["lines"]}) == 3
    here = bench.finish(bench.start(tasks, "--name", "here", "-j", "6"))
    assert {name: report.get(name) for name in FIGURES} == {name: here.get(name) for name in FIGURES}
    env = {**bench.cluster.env, "HALOCLINE_HOME": str(bench.home)}
    task = report["lines"][0]["task"]
    for words in (("tasks", "show", task), ("replay", task)):
        done = subprocess.run([sys.executable, "-m", "halocline", *words], env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_a_node_did_while_its_network_was_cut_does_not_count(bench: Bench, third) -> None:
    if third is None:
        pytest.skip("no network of its own can be made here: it takes root and iproute2")
    slow = f"echo $PWD >> {bench.trace}; case $PWD in */third/*) sleep 2;; esac"
    wait = f"case $PWD in */third/*) ;; *) while ! test -e {bench.flag}; do sleep 0.1; done;; esac"
    tasks = bench.write_tasks(3, slow, wait)
    running = bench.start(tasks, "--on", "ray", "-j", "3", "--node-timeout", "20")
    wait_for(lambda: any("/third/" in word for word in bench.read_trace()))
    third.cut()
    try:
        wait_for(lambda: bench.queue.read_text().count('"begun"') == 4)  # the lost one begins again
    finally:
        third.join()
    (lost,) = [json.loads(line)["id"] for line in bench.queue.read_text().splitlines() if '"lost"' in line]
    late = [*bench.cluster.folder.glob("third/halocline/fleet/tasks-*/*/home/batches/tasks/queue.jsonl")]
    ends = [line for path in late for line in path.read_text().splitlines() if '"ended"' in line]
    assert any(f'"id":"{lost}"' in line for line in ends)
    wait_for(lambda: len([word for word in bench.read_trace() if "/third/" not in word]) == 3)
    bench.flag.touch()
    report = bench.finish(running)
    assert_whole(bench, report, IDS[:3])
    (line,) = [line for line in report["lines"] if line["id"] == lost]
    assert (line["attempt"], len(line["lost"]), "/third/" in line["outcome"]["folder"]) == (2, 1, False)


def test_a_worker_that_is_killed_in_a_command_does_nothing_twice(bench: Bench) -> None:
    first, second = (f"echo {word}.{{id}} >> {bench.trace}; sleep 1.5" for word in ("first", "second"))
    running = bench.start(bench.write_tasks(12, first, second), "--on", "ray", "-j", "6")
    wait_for(lambda: len(bench.read_trace()) >= 3)
    assert bench.cluster.kill("", "ray::AgentHost") >= 1
    report = bench.finish(running)
    assert_whole(bench, report)
    assert [line["attempt"] for line in report["lines"]] == [1] * 12
    assert len(bench.read_trace()) == len({*bench.read_trace()})


def test_a_node_that_is_killed_loses_its_attempts_and_others_do_its_items(bench: Bench, third) -> None:
    slow = f"echo $PWD >> {bench.trace}; sleep 2"
    running = bench.start(bench.write_tasks(12, slow), "--on", "ray", "-j", "6", "--node-timeout", "15")
    wait_for(lambda: any("/third/" in word for word in bench.read_trace()))
    assert bench.cluster.kill("third") > 3
    try:
        report = bench.finish(running)
    finally:
        start_third(bench.cluster, third)
    assert_whole(bench, report)
    lost = [line for line in report["lines"] if line.get("lost")]
    assert lost
    assert all(line["attempt"] == 2 and len(line["lost"]) == 1 for line in lost)
    assert not any("/third/" in line["outcome"]["folder"] for line in lost)


def test_a_driver_that_is_killed_and_started_again_does_nothing_twice(bench: Bench) -> None:
    first, second = (f"echo {word}.{{id}} >> {bench.trace}; sleep 1.5" for word in ("first", "second"))
    tasks = bench.write_tasks(12, first, second)
    running = bench.start(tasks, "--on", "ray", "-j", "6")
    wait_for(lambda: len(bench.read_trace()) >= 8)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    report = bench.finish(bench.start("--name", "tasks", "--on", "ray", "-j", "6"))
    assert_whole(bench, report)
    assert [line["attempt"] for line in report["lines"]] == [1] * 12
    assert len(bench.read_trace()) == len({*bench.read_trace()})
