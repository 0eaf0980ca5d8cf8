from pathlib import Path

import pytest

from halocline.protocol import codec, events as ev
from halocline.protocol.events.subagents import Subtask
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode
from halocline.protocol.messages import Text, ToolResult, Usage
from halocline.services.usage_stats import Amount, ToolUse, collect_stats

DAY = 86_400.0
NOON = 1_700_049_600.0  # a day's noon in UTC; tests of days use whole days apart


def write(tasks: Path, name: str, *events: ev.Durable, at: float = NOON, **start: object) -> None:
    started = ev.TaskStarted(
        workspace="/w",
        model="a/one",
        mode=Mode.ACT,
        approval_mode=ApprovalMode.ASK,
        system_prompt="",
        version="",
        **start,
    )
    (tasks / name).mkdir(parents=True)
    lines = [
        codec.encode(event.__class__(**{**fields(event), "seq": seq, "at": at, "task": name}))
        for seq, event in enumerate((started, *events), 1)
    ]
    (tasks / name / codec.LOG_NAME).write_bytes(b"\n".join(lines) + b"\nbroken\n")


def fields(event: ev.Durable) -> dict[str, object]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


def step(model: str, tokens: int, cost: float | None) -> tuple[ev.Durable, ...]:
    return ev.StepStarted(model=model), ev.UsageReported(usage=Usage(input=tokens, reasoning=3), cost=cost)


def call(name: str, status: CallStatus) -> ev.Durable:
    return ev.ToolCallEnded(call="c", name=name, status=status, result=ToolResult("c", ()))


TURN = ev.TurnStarted(content=(Text("hi"),))


def test_amounts_are_summed_by_day_model_and_tool(tmp_path: Path) -> None:
    write(
        tmp_path, "a", TURN, *step("a/one", 10, 0.5), *step("b/two", 5, None), call("read_file", CallStatus.COMPLETED)
    )
    write(tmp_path, "b", TURN, TURN, *step("a/one", 1, 0.25), call("read_file", CallStatus.FAILED), at=NOON + DAY)
    stats = collect_stats(tmp_path, 0.0)
    first, second = sorted(stats.days)
    assert stats.days == {first: Amount(2, 15, 0.5, 1), second: Amount(1, 1, 0.25, 0)}
    assert stats.models == {"a/one": Amount(2, 11, 0.75, 0), "b/two": Amount(1, 5, None, 1)}
    assert stats.tools == {"read_file": ToolUse(2, 1)}
    assert (stats.tasks, stats.turns) == ({first: {"a"}, second: {"b"}}, {first: 1, second: 2})
    assert collect_stats(tmp_path, NOON + 1).days == {second: Amount(1, 1, 0.25, 0)}


def test_what_a_fork_repeats_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "a", TURN, *step("a/one", 10, 0.5))
    write(tmp_path, "b", TURN, *step("a/one", 10, 0.5), *step("a/one", 1, 0.1), forked_from="a", forked_at=4)
    (day,) = collect_stats(tmp_path, 0.0).days.values()
    assert day == Amount(2, 11, 0.6, 0)


def test_a_sub_agent_is_no_task_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "a", TURN, *step("a/one", 10, 0.5))
    write(tmp_path, "b", TURN, *step("a/one", 1, 0.1), subtask=Subtask(parent="a", call="c", name="n"))
    stats = collect_stats(tmp_path, 0.0)
    assert [*stats.tasks.values()] == [{"a"}]
    assert [*stats.days.values()] == [Amount(2, 11, 0.6, 0)]


@pytest.mark.parametrize("bound", [{"most_tasks": 1}, {"most_bytes": 500}], ids=str)
def test_no_more_logs_are_read_than_the_bound_allows(tmp_path: Path, bound: dict[str, int]) -> None:
    for name in "abc":
        write(tmp_path, name, TURN, *step("a/one", 1, 0.1))
    stats = collect_stats(tmp_path, 0.0, **bound)
    assert (stats.left_out, [*stats.tasks.values()]) == (2, [{"c"}])


def test_a_home_without_tasks_has_none(tmp_path: Path) -> None:
    assert collect_stats(tmp_path / "none", 0.0).days == {}
