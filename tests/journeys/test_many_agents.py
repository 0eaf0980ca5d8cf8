"""Ten agents that write at once in a large repository: all is merged, or in conflict with both sides kept."""

import pytest
from tests.journeys.conftest import Journey
from tests.journeys.test_subagents import client_of, reports
from tests.journeys.test_writing_agents import DONE, LINES, edits, git, make_repository, spawns, takes

from halocline.protocol.events.subagents import LaneEnd, SubagentEnded
from halocline.providers.scripted.model import Turn

AGENTS = [f"agent{number}" for number in range(10)]
FILES = 5_000


@pytest.mark.process
@pytest.mark.slow
async def test_ten_agents_write_at_once_in_five_thousand_files(journey: Journey):
    journey.longest = 300.0
    for number in range(FILES):
        journey.write(f"src/{number % 50}/file{number}.txt", f"{number}\n")
    make_repository(journey)
    journey.write("b.txt", "the person's\n")
    begins = Turn(calls=tuple(spawns(name, writes=True) for name in AGENTS))
    merges = Turn(calls=tuple(takes(name, "a.txt", f"src/{at}/file{at}.txt") for at, name in enumerate(AGENTS)))
    children = [
        (
            edits("a.txt", f"line {1 + at % 5 * 2}\n", f"by {at}\n"),
            *(edits(f"src/{other}/file{other}.txt", f"{other}\n", f"{other} by {at}\n") for other in range(10)),
            reports(f"{at} done"),
        )
        for at in range(10)
    ]
    await journey.run(client=client_of(journey, (begins, merges, DONE), *children, subagent_seconds=250.0))
    assert [one.end for one in journey.of(SubagentEnded)] == [LaneEnd.DONE] * 10
    text = (journey.workspace / "a.txt").read_text()
    results = "".join(journey.results[10:])
    for line in range(5):
        both = [at for at in range(10) if at % 5 == line]
        won = [at for at in both if f"by {at}\n" in text]
        assert len(won) == 1
        assert all(f"by {at}\n" in results for at in both if at not in won)
    for at in range(10):
        assert (journey.workspace / f"src/{at}/file{at}.txt").read_text().startswith(f"{at} by ")
    assert (journey.workspace / "b.txt").read_text() == "the person's\n"
    assert text.split("\n")[1::2] == LINES.split("\n")[1::2]
    assert git(journey, "fsck", "--strict") == ""
    changed = git(journey, "status", "--porcelain").split("\n")
    assert len([line for line in changed if line]) == 12
