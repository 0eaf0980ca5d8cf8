import pytest

from halocline.protocol import events as ev
from halocline.protocol.messages import Usage
from halocline.protocol.state.throughput import tokens_per_second

SENT = ev.StepStarted("m", at=100.0)


def reported(output=400, first_token=1.0, at=105.0):
    return ev.UsageReported(Usage(output=output), first_token=first_token, at=at)


def test_the_time_before_the_first_token_does_not_count():
    assert tokens_per_second(SENT, reported()) == 100.0


@pytest.mark.parametrize("unknown", [{"first_token": None}, {"at": 101.0}, {"output": 1}])
def test_a_speed_that_cannot_be_told_is_unknown(unknown):
    assert tokens_per_second(SENT, reported(**unknown)) is None
