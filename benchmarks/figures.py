"""From runs to figures: medians over the quiet runs, the floor's and ours side by side. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.scenarios import SCENARIOS, STREAM_FEW_WORDS, STREAM_WORDS
from benchmarks.session import Run

Statistic = Callable[[Sequence[Run]], float | None]
_MS, _MB = 1e3, 1e-6
_EARLY, _LATE = slice(1, 21), slice(179, 199)
_QUIET_CORES, _TICKS = 0.3, 0.02
_FEWEST = 3
_NOTHING = 0.01


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. None: not measured, or without meaning for this contestant."""

    name: str
    title: str
    floor: float | None
    ours: float | None

    @property
    def ratio(self) -> float | None:
        """Ours to the floor's; None when either is missing or the floor's is as good as nothing."""
        if self.ours is None or self.floor is None or self.floor < _NOTHING:
            return None
        return self.ours / self.floor


def quiet(runs: Sequence[Run]) -> list[Run]:
    """The runs that others disturbed little (0.3 cores, two clock ticks forgiven), but at least the quietest three."""
    calm = [run for run in runs if run.others * run.outcome.wall <= _QUIET_CORES * run.outcome.wall + _TICKS]
    return calm if len(calm) >= _FEWEST else sorted(runs, key=lambda run: run.others)[:_FEWEST]


def figures(runs: Sequence[Run], floor: str, ours: str) -> list[Figure]:
    """All figures the runs give; runs with problems are left out, figures without runs too."""
    sound = [run for run in runs if not run.problems]
    table = [
        Figure(name, title, statistic(_of(sound, floor)), statistic(_of(sound, ours)))
        for name, title, statistic in STATISTICS
    ]
    return [figure for figure in table if figure.floor is not None or figure.ours is not None]


def _of(runs: Sequence[Run], contestant: str) -> list[Run]:
    return [run for run in runs if run.contestant == contestant]


def _median(value: Callable[[Run], float], *scenarios: str) -> Statistic:
    """The median of one value over the quiet runs of the scenarios."""

    def statistic(runs: Sequence[Run]) -> float | None:
        chosen = quiet([run for run in runs if run.scenario in scenarios])
        return median(map(value, chosen)) if chosen else None

    return statistic


def _pooled(share: float, values: Callable[[Run], list[float]], *scenarios: str) -> Statistic:
    """The quantile `share` of many values a run, pooled over the quiet runs."""

    def statistic(runs: Sequence[Run]) -> float | None:
        chosen = quiet([run for run in runs if run.scenario in scenarios])
        pool = sorted(value for run in chosen for value in values(run))
        return pool[round(share * (len(pool) - 1))] if pool else None

    return statistic


def _over(above: Statistic, below: Statistic) -> Statistic:
    def statistic(runs: Sequence[Run]) -> float | None:
        top, bottom = above(runs), below(runs)
        return top / bottom if top is not None and bottom else None

    return statistic


def _difference(value: Callable[[Run], float]) -> Statistic:
    """What 1,000 more text deltas add, from the long stream and the short one."""
    more, few = _median(value, "S4"), _median(value, "S4-few")

    def statistic(runs: Sequence[Run]) -> float | None:
        top, bottom = more(runs), few(runs)
        if top is None or bottom is None:
            return None
        return (top - bottom) * 1000 / (STREAM_WORDS - STREAM_FEW_WORDS)

    return statistic


def _start(run: Run) -> float:
    return run.start * _MS


def _exit(run: Run) -> float:
    return run.exit * _MS


def _wall(run: Run) -> float:
    return run.outcome.wall * _MS


def _cpu(run: Run) -> float:
    return run.outcome.cpu * _MS


def _peak(run: Run) -> float:
    return run.outcome.peak * _MB


def _prompt(run: Run) -> float:
    return _system(run) + _tools(run)


def _system(run: Run) -> float:
    return run.exchanges[0].system_chars / 4


def _tools(run: Run) -> float:
    return run.exchanges[0].tools_chars / 4


def _history(run: Run) -> float:
    return run.exchanges[-1].history_bytes * _MB


def _stored(run: Run) -> float:
    return run.grown / run.exchanges[-1].history_bytes


def _written(run: Run) -> float:
    return run.outcome.written / run.exchanges[-1].history_bytes


def _gaps(run: Run) -> list[float]:
    return [gap * _MS for gap in run.gaps]


def _gaps_at(part: slice) -> Callable[[Run], list[float]]:
    return lambda run: _gaps(run)[part]


def _gaps_of(kind: str) -> Callable[[Run], list[float]]:
    """The gaps that hold a tool of this kind."""

    def values(run: Run) -> list[float]:
        calls = SCENARIOS[run.scenario].calls
        return [gap for call, gap in zip(calls, _gaps(run), strict=True) if call.kind == kind]

    return values


def _calls(run: Run) -> list[float]:
    return [call * _MS for call in run.calls]


def _starts(run: Run) -> list[float]:
    return [_start(run)]


_ALL = tuple(SCENARIOS)
_EARLY_GAP = _pooled(0.5, _gaps_at(_EARLY), "S3")
_LATE_GAP = _pooled(0.5, _gaps_at(_LATE), "S3")

STATISTICS: tuple[tuple[str, str, Statistic], ...] = (
    ("version", "`--version` (floor: `python -c pass`), ms", _median(_wall, "bare")),
    ("start", "start, ms", _median(_start, *_ALL)),
    ("start_p10", "start, 10th percentile, ms", _pooled(0.1, _starts, *_ALL)),
    ("start_p90", "start, 90th percentile, ms", _pooled(0.9, _starts, *_ALL)),
    ("gap", "gap, 40 steps, median, ms", _pooled(0.5, _gaps, "S2")),
    ("gap_p95", "gap, 40 steps, 95th percentile, ms", _pooled(0.95, _gaps, "S2")),
    ("gap_read", "gap with a read, median, ms", _pooled(0.5, _gaps_of("read"), "S2")),
    ("gap_edit", "gap with an edit, median, ms", _pooled(0.5, _gaps_of("edit"), "S2")),
    ("gap_run", "gap with a command, median, ms", _pooled(0.5, _gaps_of("run"), "S2")),
    ("gap_early", "gap at steps 2–21 of 200, ms", _EARLY_GAP),
    ("gap_late", "gap at steps 180–199 of 200, ms", _LATE_GAP),
    ("growth", "gap at steps 180–199 ÷ gap at steps 2–21", _over(_LATE_GAP, _EARLY_GAP)),
    ("call", "from a call's last byte to its command's first act, median, ms", _pooled(0.5, _calls, "S5")),
    ("call_p95", "… 95th percentile, ms", _pooled(0.95, _calls, "S5")),
    ("exit", "exit, 3 steps, ms", _median(_exit, "S1")),
    ("exit_s2", "exit, 40 steps, ms", _median(_exit, "S2")),
    ("memory_s1", "peak memory, 3 steps, MB", _median(_peak, "S1")),
    ("memory_s3", "peak memory, 200 steps, MB", _median(_peak, "S3")),
    ("cpu_s1", "CPU, 3 steps, ms", _median(_cpu, "S1")),
    ("cpu_s2", "CPU, 40 steps, ms", _median(_cpu, "S2")),
    ("cpu_s3", "CPU, 200 steps, ms", _median(_cpu, "S3")),
    ("delta_cpu", "CPU for 1,000 text deltas, ms", _difference(_cpu)),
    ("delta_wall", "time for 1,000 text deltas, ms", _difference(_wall)),
    ("edits", "1,000 blocks on a file of 1 MB, with the process, ms", _median(_wall, "edits")),
    ("prompt", "system prompt and tool schemas, tokens", _median(_prompt, "S1")),
    ("prompt_system", "of these the system prompt, tokens", _median(_system, "S1")),
    ("prompt_tools", "of these the tool schemas, tokens", _median(_tools, "S1")),
    ("history", "history after 200 steps, MB", _median(_history, "S3")),
    ("stored", "home and temp grew, 200 steps, ÷ history", _median(_stored, "S3")),
    ("written", "written to disk, 200 steps, ÷ history", _median(_written, "S3")),
)
