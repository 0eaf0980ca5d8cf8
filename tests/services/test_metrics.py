import pytest
from tests.journeys.conftest import Journey

from halocline.protocol import events as ev
from halocline.protocol.messages import AssistantMessage, Usage
from halocline.providers.scripted.model import Call, Turn
from halocline.services.metrics import Metrics, MetricsCollector


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)


def figures(text):
    """Each line without its comments, as a number by name and labels."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


async def test_a_real_task_is_counted_from_its_log(journey):
    turns = (Turn(calls=(Call("read_file", {"path": "gone"}),), cost=0.5), Turn(text="Done.", cost=0.25))
    await journey.run(*turns)
    found = figures(MetricsCollector(journey.home.tasks, 0.0).collect().render({"open": 1}))
    assert found['halocline_tasks{state="open"}'] == 1
    assert found['halocline_requests_total{model="scripted/script"}'] == 2
    assert found['halocline_cost_dollars_total{model="scripted/script"}'] == 0.75
    assert found['halocline_tool_calls_total{tool="read_file",status="failed"}'] == 1
    assert found['halocline_turns_total{reason="end_turn"}'] == 1
    assert found["halocline_turn_seconds_count"] == 1


async def test_a_second_look_counts_only_what_is_new(journey):
    collector = MetricsCollector(journey.home.tasks, 0.0)
    for number in (1, 2):
        await journey.run(Turn(text="Done."), Turn(text="Done again."), resume=journey.task)
        found = figures(collector.collect().render({}))
        assert found['halocline_turns_total{reason="end_turn"}'] == number


async def test_what_was_before_its_start_is_not_counted(journey):
    await journey.run(Turn(text="Done."))
    assert figures(MetricsCollector(journey.home.tasks, 4e9).collect().render({})) == {}


def test_durations_fall_into_buckets_that_add_up():
    metrics = Metrics()
    for seq, seconds in enumerate((0.05, 2.0, 5000.0)):
        metrics.add(ev.StepStarted("m", seq=seq, at=100.0, task="t"))
        metrics.add(ev.AssistantMessageCompleted(AssistantMessage(()), at=100.0 + seconds, task="t"))
    found = figures(metrics.render({}))
    counted = [found[f'halocline_request_seconds_bucket{{model="m",le="{at}"}}'] for at in ("0.1", "3", "3600", "+Inf")]
    assert counted == [1, 2, 2, 3]
    assert found['halocline_request_seconds_sum{model="m"}'] == pytest.approx(5002.05)


def test_names_are_escaped_and_an_unknown_price_is_no_zero():
    metrics = Metrics()
    metrics.add(ev.SideQuestionAnswered('a"b\n', Usage(1, 2)))
    text = metrics.render({})
    assert 'halocline_unpriced_requests_total{model="a\\"b\\n"} 1\n' in text
    assert "halocline_cost_dollars_total{" not in text
