import re

import pytest

from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.cli.board.entries import Group, TaskEntry, draw_entry, order_entries

EVIL = "\x1b[31mred\x1b[0m \x1b]52;c;ZXZpbA==\a \x9b2J \u202egnp.exe\u202c zero\u200bwidth \x07bell \x7f\nline"
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def make_info(task: str, at: float = 0.0, parent: str = "", text: str = "a title") -> TaskInfo:
    return TaskInfo(task, text, text, text, 0.0, at, "end_turn", 0, parent=parent)


@pytest.mark.parametrize("width", [20, 50, 120])
def test_a_hostile_task_is_drawn_as_text(width: int):
    for line in draw_entry(TaskEntry(make_info("1", text=EVIL)), width, 1.0):
        assert not UNSAFE.search("".join(text for _, text in line))


def test_sub_agents_stand_below_their_task_in_its_group():
    tasks = [make_info("old", 1.0), make_info("child", 9.0, "old"), make_info("new", 5.0)]
    groups = order_entries([TaskEntry(info) for info in tasks])
    assert [entry.info.task for entry in groups[Group.ENDED]] == ["new", "old", "child"]
