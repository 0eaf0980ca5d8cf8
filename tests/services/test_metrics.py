from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.journeys.conftest import Journey

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import AssistantMessage, Usage
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.history.forks import Fork
from halocline.services.metrics import MOST_VALUES, Metrics, MetricsCollector


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
    found = figures(MetricsCollector(journey.home.tasks, 0.0).render({"open": 1}))
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
        found = figures(collector.render({}))
        assert found['halocline_turns_total{reason="end_turn"}'] == number


async def test_what_was_before_its_start_is_not_counted(journey):
    await journey.run(Turn(text="Done."))
    assert figures(MetricsCollector(journey.home.tasks, 4e9).render({})) == {}


def test_scrapes_at_once_count_each_event_once(tmp_path):
    for task in map(str, range(4)):
        lines = (codec.encode(ev.StepStarted("m", seq=seq, at=1.0, task=task)) + b"\n" for seq in range(1, 400))
        (tmp_path / task).mkdir()
        (tmp_path / task / codec.LOG_NAME).write_bytes(b"".join(lines))
    collector = MetricsCollector(tmp_path, 0.0)
    with ThreadPoolExecutor(8) as pool:
        [*pool.map(lambda _: collector.render({}), range(8))]
    assert figures(collector.render({}))['halocline_requests_total{model="m"}'] == 4 * 399


async def test_what_a_fork_shares_with_its_source_is_counted_once(journey):
    await journey.run(Turn(text="Done.", cost=0.5))
    client = journey.client(())
    await client.time.fork(Fork("", journey.task))
    await client.close()
    found = figures(MetricsCollector(journey.home.tasks, 0.0).render({}))
    assert found['halocline_requests_total{model="scripted/script"}'] == 1
    assert found['halocline_cost_dollars_total{model="scripted/script"}'] == 0.5


async def test_a_tool_that_the_model_invents_has_no_name_in_a_label(journey):
    await journey.run(Turn(calls=(Call("rm_everything_of_ann", {}),)), Turn(text="Done."))
    text = MetricsCollector(journey.home.tasks, 0.0).render({})
    assert 'halocline_tool_calls_total{tool="unknown",status="failed"} 1\n' in text
    assert "ann" not in text


def test_a_label_has_a_bounded_number_of_values():
    metrics = Metrics()
    for number in range(MOST_VALUES + 50):
        metrics.add(ev.SideQuestionAnswered(f"m{number}", Usage(1, 2), seq=number))
    found = {name: value for name, value in figures(metrics.render({})).items() if "requests_total" in name}
    assert found['halocline_requests_total{model="other"}'] == 50
    assert len([name for name in found if name.startswith("halocline_requests_total")]) == MOST_VALUES + 1


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
