import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.journeys.repair import PROJECT, PROMPT, TURNS

from halocline.protocol import codec, events as ev
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import loose_ends
from halocline.surfaces.export.markdown import to_markdown
from halocline.surfaces.rows.fold import rows_of
from halocline.task.log import Log

GOLDEN = Path(__file__).parent.parent / "golden"
OLD_LOGS = sorted(GOLDEN.glob("format-*/*.jsonl"))
DIFFERS = {"seq", "at", "task", "folder_mark"}
"""Fields that differ from run to run, or follow from what does."""
STANDS_FOR = {"system_prompt": "<system prompt>", "version": "<version>", "checkpoint": "<checkpoint>"}
PATTERNS = (
    (r"Time: [^\\]*", "Time: <time>"),
    (r"Home: [^\\]*(\\nPrograms: [^\\]*)?(\\nNot installed: [^\\]*)?", "Home: <home>"),
    (r" in \d+\.\d s\]", " in <seconds> s]"),
)


async def test_the_repair_writes_exactly_the_golden_log(journey):
    for name, text in PROJECT.items():
        journey.write(name, text)
    await journey.run(*TURNS, prompt=PROMPT)
    written = "".join(f"{line}\n" for line in normalised(journey.logged, journey.workspace))
    golden = GOLDEN / "repair.jsonl"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(written, encoding="utf-8")
    assert written.split("\n") == golden.read_text(encoding="utf-8").split("\n")


def normalised(events, workspace):
    """One line for each event. Checkpoints are taken in the background, so all are put before the turn's end."""
    (end,) = [event for event in events if isinstance(event, ev.TurnEnded)]
    checkpoints = [event for event in events if isinstance(event, ev.CheckpointTaken)]
    for event in [*(event for event in events if event not in (*checkpoints, end)), *checkpoints, end]:
        fields = msgspec.json.decode(codec.encode(event))
        kept = {name: STANDS_FOR.get(name, value) for name, value in fields.items() if name not in DIFFERS}
        line = msgspec.json.encode(kept).decode().replace(str(workspace), "<workspace>")
        for pattern, stand_in in PATTERNS:
            line = re.sub(pattern, stand_in, line)
        yield line


async def test_the_numbers_of_a_log_have_no_gap_and_its_times_never_go_back(journey):
    for name, text in PROJECT.items():
        journey.write(name, text)
    await journey.run(*TURNS, prompt=PROMPT)
    assert [event.seq for event in journey.logged] == list(range(1, len(journey.logged) + 1))
    times = [event.at for event in journey.logged]
    assert times == sorted(times)


@pytest.fixture(params=OLD_LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def old_events(request, tmp_path):
    """The events of a log that an earlier version (or this one) left behind, opened as for going on with it."""
    shutil.copy(request.param, tmp_path / codec.LOG_NAME)
    log = Log(tmp_path, "old")
    yield log.load()
    log.close()


def test_there_are_old_logs():
    assert {path.stem for path in OLD_LOGS} >= {
        "repair",
        "approvals",
        "killed",
        "story",
        "asked-again",
        "adopted",
        "subagents",
    }


def test_every_line_of_an_old_log_is_understood(old_events):
    assert old_events
    assert not [event for event in old_events if isinstance(event, ev.Unrecognised)]
    assert [event.seq for event in old_events] == list(range(1, len(old_events) + 1))


def test_an_old_log_folds_to_a_state_that_can_be_gone_on_with(old_events):
    state = fold_events(old_events)
    for end in loose_ends(state):
        state = reduce_event(state, end)
    assert state.workspace
    assert state.messages
    assert (state.pending.calls, state.pending.approvals, state.pending.questions, loose_ends(state)) == (
        (),
        (),
        (),
        (),
    )


def test_an_old_log_can_be_shown_and_exported(old_events):
    rows = rows_of(old_events)
    assert rows
    assert fold_events(old_events).title in to_markdown(rows, fold_events(old_events).title)


def test_the_torn_last_line_of_a_killed_task_is_cut_and_reported(tmp_path):
    killed = (GOLDEN / "format-1" / "killed.jsonl").read_bytes()
    (tmp_path / codec.LOG_NAME).write_bytes(killed)
    log = Log(tmp_path, "old")
    repaired = log.load()[-1]
    log.close()
    torn = killed.rpartition(b"\n")[2]
    assert isinstance(repaired, ev.LogRepaired)
    assert repaired.bytes_cut == len(torn) > 0
