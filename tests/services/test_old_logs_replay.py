"""Logs of earlier versions replay for ever, whoever replays them, in whatever order tasks are ready."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.shuffled_loop import ShuffledLoop

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import Text
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.replay import Replay, run_replay
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording
from halocline.task.log import read_log

LOGS = sorted((Path(__file__).parent.parent / "golden" / "replays").glob("*/*.jsonl"))
NAMES = [f"{log.parent.name}-{log.stem}" for log in LOGS]
SEEDS = (1, 2, 3)


def replay(events: tuple[ev.DurableEvent, ...], place: Path, seed: int = 0) -> Replay:
    async def play() -> Replay:
        home = Home.of({"HALOCLINE_HOME": str(place)})
        async with asyncio.timeout(60):
            return await run_replay(Recording(events), Assembly(home, Settings(), {}), strict=True)

    with asyncio.Runner(loop_factory=lambda: ShuffledLoop(seed)) as runner:
        return runner.run(play())


def test_there_are_logs_of_each_version() -> None:
    stories = {log.stem for log in LOGS}
    versions = {log.parent.name for log in LOGS}
    assert len(versions) >= 2
    assert len(stories) >= 9
    assert len(LOGS) == len(versions) * len(stories)


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_an_old_log_replays(log: Path, tmp_path: Path) -> None:
    events = tuple(read_log(log))
    found = [replay(events, tmp_path, seed) for seed in SEEDS]
    assert [(done.differences, done.events) for done in found] == [((), len(events))] * len(SEEDS)


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_an_old_log_replays_in_another_home(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    assert replay(tuple(read_log(log)), tmp_path / "data").differences == ()


@pytest.mark.parametrize(
    "log", [log for log in LOGS if log.stem.startswith("refusals")], ids=lambda log: log.parent.name
)
def test_facts_of_a_refusal_are_compared_though_its_words_are_not(log: Path, tmp_path: Path) -> None:
    events = tuple(read_log(log))
    seen = set()
    for at, event in enumerate(events):
        if isinstance(event, ev.ApprovalRequested):
            other = replace(event, reason="Other words.", title="Another title")
            assert replay((*events[:at], other, *events[at + 1 :]), tmp_path).same
            different = replace(event, rule="another")
        elif isinstance(event, ev.ToolCallEnded) and event.status is CallStatus.REJECTED:
            result = replace(event.result, content=(Text("Other words."),))
            assert replay((*events[:at], replace(event, result=result), *events[at + 1 :]), tmp_path).same
            different = replace(event, status=CallStatus.FAILED)
        else:
            continue
        seen.add(type(event))
        assert not replay((*events[:at], different, *events[at + 1 :]), tmp_path).same
    assert seen == {ev.ApprovalRequested, ev.ToolCallEnded}
