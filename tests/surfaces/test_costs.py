from halocline.protocol import events as ev
from halocline.protocol.messages import Text, Usage
from halocline.surfaces.costs import cost_table, turns_of

ASKED = ev.TurnStarted(content=(Text("Fix it.\nPlease."),))
STEP = ev.StepStarted(model="openai/gpt-5.6")
TOLD = ev.UsageReported(Usage(input=1200, output=40, cache_read=9000), 0.0123)
UNPRICED = ev.UsageReported(Usage(input=100, output=40), None)
UNTOLD = ev.UsageReported(Usage(), None)


def cells(line: str) -> list[str]:
    return line.split()


def test_each_step_turn_and_task_has_its_tokens_and_dollars() -> None:
    lines = cost_table(turns_of([ASKED, STEP, TOLD, STEP, TOLD, ev.TurnEnded("end_turn"), ASKED, STEP, TOLD]))
    assert [line for line in lines if line.startswith(("Turn", "Task"))] == [
        "Turn 1 · Fix it.",
        "Turn 2 · Fix it.",
        "Task · 2 turns · 3 steps",
    ]
    assert cells(lines[2]) == ["step", "1", "1.2k", "9.0k", "0", "40", "0", "0.0123", "openai/gpt-5.6"]
    assert [cells(line) for line in lines if "sum" in line] == [
        ["sum", "2.4k", "18.0k", "0", "80", "0", "0.0246"],
        ["sum", "1.2k", "9.0k", "0", "40", "0", "0.0123"],
        ["sum", "3.6k", "27.0k", "0", "120", "0", "0.0369"],
    ]


def test_the_columns_stand_below_their_names() -> None:
    head, step, total = cost_table(turns_of([ASKED, STEP, TOLD]))[1:4]
    assert len(head) == len(total) == step.index("  openai/")


def test_a_failed_attempt_counts_in_its_step() -> None:
    (turn,) = turns_of([ASKED, STEP, TOLD, TOLD])
    assert [(step.usage, step.cost) for step in turn.steps] == [(TOLD.usage + TOLD.usage, 0.0246)]


def test_a_step_of_which_nothing_was_told_is_unknown() -> None:
    for reports in ([], [UNTOLD]):
        (turn,) = turns_of([ASKED, STEP, *reports])
        assert [(step.usage, step.cost) for step in turn.steps] == [(None, None)]
        assert cells(cost_table([turn])[2])[2:8] == ["unknown"] * 6


def test_a_sum_says_what_it_leaves_out() -> None:
    lines = cost_table(turns_of([ASKED, STEP, TOLD, STEP, UNPRICED, STEP, UNTOLD]))
    assert lines[-1].endswith("0.0123  without the tokens of 1 step and the price of 2 steps")


def test_a_task_without_a_step_is_a_line() -> None:
    assert cost_table([])[0] == "Task · 0 turns · 0 steps"
