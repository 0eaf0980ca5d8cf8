"""What must hold: each goal bounds one figure, or its ratio to the floor's figure of the same run."""

from dataclasses import dataclass
from enum import StrEnum


class Measure(StrEnum):
    """What a goal bounds: our figure itself, or its ratio to the floor's."""

    VALUE = "value"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Goal:
    """`limit` decides whether the goal is met; `aim` is what is worked towards."""

    figure: str
    measure: Measure
    limit: float
    aim: float | None = None


GOALS = (
    Goal("version", Measure.RATIO, 1.4),
    Goal("start", Measure.RATIO, 3, aim=2.5),
    Goal("gap", Measure.VALUE, 5.5, aim=3),
    Goal("growth", Measure.VALUE, 1.5),
    Goal("memory_s1", Measure.VALUE, 70),
    Goal("memory_s3", Measure.VALUE, 95),
    Goal("prompt", Measure.VALUE, 3200, aim=2500),
    Goal("stored", Measure.VALUE, 1.5),
    Goal("delta_cpu", Measure.RATIO, 2),
    Goal("exit", Measure.VALUE, 30),
    Goal("call", Measure.VALUE, 15, aim=5),
    Goal("parse_anthropic", Measure.RATIO, 1),
    Goal("parse_openai", Measure.RATIO, 1),
    Goal("parse_openai-responses", Measure.RATIO, 1),
    Goal("parse_gemini", Measure.RATIO, 1.25),
    Goal("parse_text", Measure.RATIO, 2),
    Goal("judging", Measure.VALUE, 1),
    Goal("command_overhead", Measure.VALUE, 10, aim=2),
    Goal("flood", Measure.VALUE, 5),
    Goal("flood_memory", Measure.VALUE, 100),
    Goal("search_one", Measure.RATIO, 1.3),
    Goal("search_some", Measure.RATIO, 1.3),
    Goal("search_all", Measure.RATIO, 1.3),
    Goal("menu", Measure.VALUE, 50),
    Goal("request", Measure.VALUE, 10),
    Goal("request_cold", Measure.VALUE, 10),
    Goal("rereads", Measure.RATIO, 1),
    Goal("lost", Measure.VALUE, 0),
    Goal("checkpoint_first", Measure.RATIO, 1.5, aim=1.1),
    Goal("checkpoint_edits", Measure.RATIO, 1.2),
    Goal("worktree_add", Measure.RATIO, 1.3),
    Goal("edits", Measure.VALUE, 1000),
)
