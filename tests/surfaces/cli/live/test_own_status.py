"""The person's own status line: a format, or a command that gets facts as JSON and prints a line."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path

import pytest

from halocline.protocol.state.state import State
from halocline.surfaces.cli.live.own_status import OwnStatusLine, read_facts

GUIDE = Path(__file__).parents[4] / "docs/guide/terminal.md"
FACTS = {"model": "m1", "mode": "act", "branch": "main", "name": ""}


class Frame:
    """What an own line needs of the screen."""

    def __init__(self, line: str) -> None:
        self.jobs: list[asyncio.Task[None]] = []
        self.said: list[str] = []
        self.frames = 0
        self.line = OwnStatusLine(line, self.start, self.said.append, self.redraw)

    def start(self, work: Coroutine[None, None, None]) -> None:
        self.jobs.append(asyncio.get_running_loop().create_task(work))

    def redraw(self) -> None:
        self.frames += 1

    def shown(self, **facts: str) -> list[tuple[str, str]] | None:
        return self.line.draw_line(FACTS | facts, "a-task", State(), 60)

    async def until_drawn(self) -> None:
        while not self.frames:
            await asyncio.sleep(0.01)


def test_a_format_names_facts_and_keeps_what_it_does_not_know() -> None:
    assert Frame("{model} on {branch} {nothing}").shown() == [("class:quiet", "m1 on main {nothing}")]
    assert Frame("{branch}").shown(branch="a\x1b]0;x\x07b") == [("class:quiet", "ab")]
    assert Frame("").shown() is None


def test_every_fact_of_a_task_has_a_name_that_the_guide_lists() -> None:
    facts = read_facts(State(), branch="main", jobs=0, waiting=2)
    assert all(f"`{name}`" in GUIDE.read_text(encoding="utf-8") for name in facts)
    assert (facts["branch"], facts["jobs"], facts["waiting"], facts["approvals"]) == ("main", "", "2", "ask")


@pytest.mark.process
async def test_a_command_gets_the_facts_and_its_first_line_is_shown_with_colors_only(tmp_path: Path) -> None:
    frame = Frame(f"!cat > '{tmp_path}/given'; printf '\\033[32mgreen\\033[0m\\033]0;title\\007 end\\nmore\\n'")
    assert frame.shown() is None
    await frame.until_drawn()
    assert "".join(text for _, text in frame.shown() or ()) == "green end"
    assert any("ansigreen" in style for style, _ in frame.shown() or ())
    given = json.loads((tmp_path / "given").read_text())
    assert (given["session_id"], given["model"]["display_name"], given["facts"]["branch"]) == ("a-task", "m1", "main")
    for job in frame.jobs:
        job.cancel()


@pytest.mark.process
@pytest.mark.parametrize("command", ["exit 3", "no-such-program-here"])
async def test_a_command_that_fails_is_said_once_and_the_usual_line_stays(command: str) -> None:
    frame = Frame(f"!{command}")
    frame.shown()
    await asyncio.wait(frame.jobs)
    assert frame.shown(branch="other") is None
    assert len(frame.said) == 1
    assert "status line is off" in frame.said[0]
    assert len(frame.jobs) == 1
