"""Numbers as people read them: durations, tokens, money."""

from halocline.protocol.events import CompactionCause, StepRetried
from halocline.protocol.hook_kinds import HookDecision, HookStatus
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.permission_rules import Effect
from halocline.protocol.subtasks import LaneEnd
from halocline.surfaces.row_kinds import CompactionRow, HookRow, JobEndRow, Lane, RetryRow, RulesRow, TurnEndRow

EFFECTS = {
    Effect.READ_ONLY: "only reads",
    Effect.WRITES_INSIDE: "writes in the workspace",
    Effect.WRITES_OUTSIDE: "writes outside the workspace",
    Effect.NETWORK: "reaches the network",
    Effect.DESTRUCTIVE: "destroys",
    Effect.UNKNOWN: "may do anything",
}
"""What a part of a command does, in words."""
_ENDINGS = {
    StopReason.END_TURN: "done",
    StopReason.MAX_TOKENS: "stopped: the reply reached the model's output limit",
    StopReason.MAX_TURN_REQUESTS: "stopped: a limit was reached",
    StopReason.REFUSAL: "stopped: the model refused",
    StopReason.CANCELLED: "interrupted",
    StopReason.ERROR: "failed",
}

CAUSES = {
    CompactionCause.ASKED: "you asked for it",
    CompactionCause.CROWDED: "the window was nearly full",
    CompactionCause.OVERFLOW: "the server took no more",
}


def format_duration(seconds: float) -> str:
    """`0.4 s`, `21 s`, `2 m 05 s`, `1 h 02 m`."""
    return f"{seconds:.1f} s" if seconds < 9.95 else format_elapsed(round(seconds))


def format_elapsed(seconds: float) -> str:
    """A duration that goes on, in whole seconds."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} m {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} m"


def format_count(number: int) -> str:
    """`950`, `12.3k`, `1.2M`."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.1f}M"


def format_size(number: int) -> str:
    """Bytes: `950 B`, `12.3 kB`, `1.2 GB`."""
    for unit, most in (("kB", 999_950), ("MB", 999_950_000)):
        if 1000 <= number < most:
            return f"{number / (1e3 if unit == 'kB' else 1e6):.1f} {unit}"
    return f"{number} B" if number < 1000 else f"{number / 1e9:.1f} GB"


def format_tokens(usage: Usage, cost: float | None) -> str:
    """All tokens. None at all, for an unknown price, is what a server did not tell."""
    return "tokens unknown" if cost is None and not usage.total else f"{format_count(usage.total)} tokens"


def format_money(dollars: float | None) -> str:
    """`$0.04`, `$0.0042`; an unknown price is said, never shown as nothing."""
    if dollars is None:
        return "price unknown"
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


LANE_ENDS = {
    LaneEnd.DONE: "",
    LaneEnd.LIMIT: "reached a limit",
    LaneEnd.STOPPED: "stopped",
    LaneEnd.FAILED: "failed",
}


def lane_said(lane: Lane) -> str:
    """`stopped · 3 steps · 8.1k tokens · $0.01 · 14 s`: how a sub-agent ended, or that it works, and what it took."""
    facts = [LANE_ENDS[lane.end] if lane.end else lane.doing or "begins"]
    facts += [format_plural(lane.steps, "step")] if lane.steps else []
    facts += [f"{format_count(lane.tokens)} tokens"] if lane.tokens else []
    facts += [format_money(lane.cost)] if lane.cost else []
    facts += [format_duration(lane.seconds)] if lane.seconds is not None and lane.steps else []
    return " · ".join(filter(None, [*facts, lane.problem]))


def format_plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe_ending(row: TurnEndRow) -> str:
    """How a turn ended and what it took, in one line."""
    why = row.text.rstrip(".") if row.limit or row.reason is StopReason.REFUSAL else ""
    facts = [
        f"stopped: {why}" if why else _ENDINGS[row.reason],
        format_plural(row.steps, "step"),
        format_tokens(row.usage, row.cost),
        format_money(row.cost),
        format_duration(row.seconds),
    ]
    return " · ".join(facts)


def job_ending(row: JobEndRow) -> str:
    """How a job ended, in one line; its command is shown beside it."""
    if row.stopped:
        return f"{row.job} was stopped: {row.stopped}"
    return f"{row.job} ended" + ("" if row.exit_code is None else f" with exit code {row.exit_code}")


def rules_said(row: RulesRow) -> str:
    """Which rules hold from now on and why, and which no longer: `rules: api.md (src/api/a.py was read)`."""
    by_reason: dict[str, list[str]] = {}
    for file in row.files:
        by_reason.setdefault(file.why, []).append(file.path)
    held = [", ".join(paths) + (f" ({why})" if why != "always" else "") for why, paths in by_reason.items()]
    said = [f"rules: {'; '.join(held)}"] if held else []
    said += [f"rules no longer: {', '.join(row.gone)}"] if row.gone else []
    return " · ".join(said)


def compaction_said(row: CompactionRow) -> str:
    """What became of the conversation: `shortened from 98.0k to 31.2k tokens (the window was nearly full)`."""
    if row.cause is None:
        return "the model reads again what it read before it was shortened"
    return f"shortened from {format_count(row.before)} to {format_count(row.after)} tokens ({CAUSES[row.cause]})"


def hook_ending(row: HookRow) -> str:
    """What a hook did that a person should know, in one line."""
    verb = {HookStatus.FAILED: "failed", HookStatus.TIMED_OUT: "hung", HookStatus.CANCELLED: "was cut short"}.get(
        row.status, "blocked" if row.decision is HookDecision.BLOCK else "ran"
    )
    went_on = row.status is not HookStatus.COMPLETED and row.decision is not HookDecision.BLOCK
    why = f": {' '.join(row.said.split())}" if row.said else ""
    return (
        f"hook {row.hook} ({row.moment}) {verb}, {format_duration(row.seconds)}{why}{' (went on without it)' * went_on}"
    )


def describe_retry(row: RetryRow | StepRetried) -> str:
    """Why the model is asked again, when, and how often that was done: `Overloaded: asking again in 4 s (2 of 3)`."""
    if row.model:
        return f"{row.cause.rstrip('.')}: asking {row.model} instead"
    if not row.wait:
        return f"{row.cause.rstrip('.')}: asking again now ({_describe_times(row)})"
    seconds = f"{row.wait:.1f}".removesuffix(".0") + " s" if row.wait < 9.95 else format_duration(row.wait)
    return f"{row.cause.rstrip('.')}: asking again in {seconds} ({_describe_times(row)})"


def _describe_times(row: RetryRow | StepRetried) -> str:
    return f"{row.attempt} of {row.most}" if row.most else f"attempt {row.attempt}"


def model_name(model: str) -> str:
    """A model as people read it: of a scripted one, the script's name without its folders."""
    return f"scripted/{model.rsplit('/', 1)[-1]}" if model.startswith("scripted/") else model
