from pathlib import Path

import pytest
from benchmarks.figures import STATISTICS, Figure, figures, quiet
from benchmarks.goals import GOALS, Goal, Measure
from benchmarks.parsing import races
from benchmarks.process import Outcome
from benchmarks.report import markdown, verdicts
from benchmarks.server import Exchange
from benchmarks.session import Run

from benchmarks import checkpoints, commands, context, judging, menu, search

pytestmark = pytest.mark.slow

MEASURED = {"first": 1.0, "short": 1.0, "flood": 1.0, "memory": 1.0}


def run(
    contestant: str, milliseconds: float, scenario: str = "bare", others: float = 0.0, problems: tuple[str, ...] = ()
) -> Run:
    outcome = Outcome(started=0, ended=milliseconds / 1000, exit_code=0, cpu=0, peak=0, written=0, rest=0)
    return Run(contestant, scenario, outcome, others, problems=list(problems))


def growing(contestant: str) -> Run:
    """200 steps whose gaps are 1, 2, 3 … ms."""
    arrivals = [step + step * (step + 1) / 2000 for step in range(200)]
    exchanges = [Exchange(arrived=at, answered=at + 1, history_bytes=1000) for at in arrivals]
    outcome = Outcome(started=0, ended=500, exit_code=0, cpu=0, peak=0, written=0, rest=0)
    return Run(contestant, "S3", outcome, others=0.0, grown=1500, exchanges=exchanges)


def named(table: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in table}


def test_a_figure_is_the_median_of_sound_runs_and_its_ratio_that_of_the_medians() -> None:
    runs = [run("floor", ms) for ms in (9, 10, 30)] + [run("ours", ms) for ms in (14, 15, 90)]
    figure = named(figures([*runs, run("ours", 1, problems=("no work",))], "floor", "ours"))["version"]
    assert (figure.floor, figure.ours, figure.ratio) == (pytest.approx(10), pytest.approx(15), pytest.approx(1.5))


def test_runs_that_others_disturbed_are_left_out_when_enough_are_quiet() -> None:
    runs = [run("ours", 1000, others=load) for load in (0.0, 0.1, 0.2, 0.9)]
    assert quiet(runs) == runs[:3]


def test_the_quietest_three_are_used_when_all_were_disturbed() -> None:
    runs = [run("ours", 1000, others=load) for load in (1.4, 0.9, 1.1, 1.9)]
    assert sorted(r.others for r in quiet(runs)) == [0.9, 1.1, 1.4]


def test_growth_sets_the_last_twenty_gaps_against_the_first_twenty() -> None:
    table = named(figures([growing("ours")], "floor", "ours"))
    assert table["gap_early"].ours == pytest.approx(11.5, abs=1)
    assert table["gap_late"].ours == pytest.approx(189.5, abs=1)
    assert table["growth"].ours == pytest.approx(189.5 / 11.5, rel=0.1)
    assert table["stored"].ours == pytest.approx(1.5)


def test_what_was_not_run_is_no_line_of_the_table() -> None:
    assert "gap" not in named(figures([run("floor", 9), run("ours", 10)], "floor", "ours"))


@pytest.mark.parametrize(
    ("measure", "limit", "ours", "met"),
    [
        (Measure.RATIO, 2, 15.0, True),
        (Measure.RATIO, 2, 25.0, False),
        (Measure.VALUE, 20, 15.0, True),
        (Measure.VALUE, 20, 25.0, False),
        (Measure.VALUE, 20, None, None),
    ],
)
def test_a_goal_is_met_up_to_its_limit(measure: Measure, limit: float, ours: float | None, met: bool | None) -> None:
    [verdict] = verdicts([Goal("version", measure, limit)], [Figure("version", "version, ms", 10.0, ours)])
    assert verdict.met is met


def test_a_missed_goal_stands_out_in_the_table() -> None:
    table = [Figure("version", "version, ms", 10.0, 25.0)]
    text = markdown(table, verdicts([Goal("version", Measure.RATIO, 2, aim=1.5)], table))
    assert text.splitlines()[-1] == "| version, ms | 10.0 | 25.0 | 2.50 | ≤ 2 × | ≤ 1.5 × | **no** |"


def test_every_goal_bounds_a_figure_that_is_measured() -> None:
    of_commands = {figure.name for figure in commands.table(MEASURED, MEASURED)}
    measured = {name for name, _, _ in STATISTICS} | {f"parse_{race.name}" for race in races()}
    simple = {figure.name for part in (judging, menu, context) for figure in part.figures(1)}
    assert {
        goal.figure for goal in GOALS
    } <= measured | of_commands | simple | search.SEARCHES.keys() | checkpoints.CHECKPOINTS.keys()


@pytest.mark.parametrize("side", [commands.floor, commands.ours])
async def test_both_sides_of_a_command_give_its_output(side, tmp_path: Path) -> None:
    assert set(await side(tmp_path, flood=1_000_000)) == set(MEASURED)


async def test_a_search_is_measured_on_both_sides_of_the_same_tree(tmp_path: Path) -> None:
    search.make_tree(tmp_path, files=200)
    assert len(list(tmp_path.rglob("*.py"))) == 200
    measured = await search.measure(tmp_path)
    assert measured.keys() == search.SEARCHES.keys()
    assert all(low > 0 and high > 0 for low, high in measured.values())


def test_checkpoints_are_measured_on_both_sides_of_the_same_repository(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    search.make_tree(project, files=500)
    checkpoints.commit_all(project)
    measured = checkpoints.measure(project, tmp_path, times=1, fewer=200)
    assert measured.keys() == checkpoints.CHECKPOINTS.keys()
    assert all(low > 0 and high > 0 for low, high in measured.values())
