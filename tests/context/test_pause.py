import pytest

from halocline.context.notes.idle import note_pause
from halocline.protocol.events import TurnEnded
from halocline.protocol.messages import StopReason, Text, UserMessage
from halocline.protocol.state.state import State
from halocline.protocol.state.turn import TurnState

END = TurnEnded(StopReason.END_TURN, at=1_000.0)
TALKED = State(messages=(UserMessage((Text("a"),)),), last_end=END)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(600, "10 minutes"), (3_599, "59 minutes"), (3_600, "1 hour"), (172_800, "2 days"), (9_000_000, "104 days")],
)
def test_a_long_pause_is_told_in_its_largest_unit(seconds: float, said: str):
    (note,) = note_pause(TALKED, 0.0, 1_000.0 + seconds)
    assert f"idle for {said}." in note.text


@pytest.mark.parametrize(
    ("state", "seconds"),
    [(TALKED, 599), (TALKED, -5), (State(), 9_000), (State(messages=TALKED.messages, turn=TurnState(0.0)), 9_000)],
)
def test_a_short_one_a_new_task_and_a_running_turn_are_not(state: State, seconds: float):
    assert note_pause(state, 0.0, 1_000.0 + seconds) == ()


def test_the_end_of_a_turn_that_is_written_when_a_crashed_task_is_opened_again_is_no_work():
    (note,) = note_pause(TALKED, 200.0, 1_000.0)
    assert "idle for 13 minutes." in note.text
