"""Format durations, tokens, money, and one-line descriptions of rows."""

import re
import time

from halocline.protocol.events import StepRetried
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.events.hooks import HookDecision, HookStatus
from halocline.protocol.events.subagents import LaneEnd
from halocline.protocol.messages import StopReason, Usage
from halocline.protocol.permission_rules import CommandPart, Effect, Grade
from halocline.protocol.queries.tasks import PARTLY, REWOUND
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.state import State
from halocline.surfaces.rows.kinds import (
    Approval,
    CompactionRow,
    HookRow,
    JobEndRow,
    Lane,
    RetryRow,
    RulesRow,
    TurnEndRow,
)

EFFECTS = {
    Effect.READ_ONLY: "read-only",
    Effect.WRITES_INSIDE: "writes in the workspace",
    Effect.WRITES_OUTSIDE: "writes outside the workspace",
    Effect.NETWORK: "uses the network",
    Effect.DESTRUCTIVE: "destructive",
    Effect.UNKNOWN: "could change anything",
}
"""Labels for the effect of a part of a command."""
GRADES = {
    Grade.OUTSIDE: ("Reaches outside", "warn"),
    Grade.SECRET: ("A secret may leave", "bad"),
    Grade.FINAL: ("Cannot be undone", "bad"),
}
"""Words for the grade of an approval, and the style of its reason; an ordinary one has neither."""
_ENDINGS = {
    StopReason.END_TURN: "done",
    StopReason.MAX_TOKENS: "stopped: the reply reached the model's output limit",
    StopReason.MAX_TURN_REQUESTS: "stopped: a limit was reached",
    StopReason.REFUSAL: "stopped: the model refused",
    StopReason.CANCELLED: "interrupted",
    StopReason.ERROR: "failed",
}

STATUSES = {
    "end_turn": "done",
    "max_tokens": "cut off",
    "max_turn_requests": "at a limit",
    "refusal": "refused",
    "cancelled": "interrupted",
    "error": "failed",
    "unfinished": "unfinished",
    PARTLY: "partly done",
    REWOUND: "rewound",
}
"""Labels for the end of a task's last turn."""

CAUSES = {
    CompactionCause.ASKED: "at your request",
    CompactionCause.CROWDED: "the context window was nearly full",
    CompactionCause.OVERFLOW: "the context window was exceeded",
}


def format_duration(seconds: float) -> str:
    """`0.4 s`, `21 s`, `2 m 05 s`, `1 h 02 m`."""
    return f"{seconds:.1f} s" if seconds < 9.95 else format_elapsed(round(seconds))


def format_elapsed(seconds: float) -> str:
    """Format a running duration in whole seconds."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} m {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} m"


def format_time(at: float) -> str:
    """Format a time (Unix seconds) in the local time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def format_age(at: float, now: float) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `2 days ago`; after a week the date. Both times are Unix seconds."""
    minutes = int(now - at) // 60
    match minutes:
        case _ if minutes < 1:
            return "just now"
        case _ if minutes < 60:
            return f"{minutes} min ago"
        case _ if minutes < 24 * 60:
            return f"{minutes // 60} h ago"
        case _ if minutes < 7 * 24 * 60:
            return f"{format_plural(minutes // (24 * 60), 'day')} ago"
    return time.strftime("%Y-%m-%d", time.localtime(at))


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
    """Format all tokens. Zero tokens with an unknown price mean that the server reported none."""
    return "tokens unknown" if cost is None and not usage.total else f"{format_count(usage.total)} tokens"


def format_money(dollars: float | None) -> str:
    """`$0.04`, `$0.0042`; an unknown price is never shown as zero."""
    if dollars is None:
        return "price unknown"
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def known_part(cost: float | None, unpriced: int) -> float | None:
    """Return the part of a sum that is known, beside `unpriced` others: not zero, which would call these free."""
    return cost or None if unpriced else cost


def format_known_cost(budget: BudgetState) -> str:
    """The cost of a task: `$0.04`, or `at least $0.04` where others of its requests have no price."""
    least = known_part(budget.spent, budget.unpriced)
    return f"at least {format_money(least)}" if least and budget.unpriced else format_money(budget.known_cost)


LANE_ENDS = {LaneEnd.DONE: "", LaneEnd.LIMIT: "reached a limit", LaneEnd.STOPPED: "stopped", LaneEnd.FAILED: "failed"}


def describe_lane(lane: Lane) -> str:
    """`stopped · 3 steps · 8.1k tokens · $0.01 · 14 s`: a sub-agent's end or activity, and its usage."""
    facts = [LANE_ENDS[lane.end] if lane.end else lane.doing or "starting"]
    facts += [format_plural(lane.steps, "step")] if lane.steps else []
    facts += [f"{format_count(lane.tokens)} tokens"] if lane.tokens else []
    facts += [format_money(lane.cost)] if lane.cost else []
    facts += [format_duration(lane.seconds)] if lane.seconds is not None and lane.steps else []
    return " · ".join(filter(None, [*facts, lane.problem]))


def format_plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_UNREPORTED = (StopReason.CANCELLED, StopReason.END_TURN)
"""Ends of a turn without usage that had some, which the model did not report."""


def describe_ending(row: TurnEndRow, *more: str) -> str:
    """Describe the end of a turn, its usage and what `more` it left in one line.

    Usage that was never reported is unknown, not zero; a price that no one knows is left out.
    """
    is_reported = row.usage.total or not row.steps
    cost = row.cost if is_reported else None
    why = row.text.rstrip(".") if row.limit or row.reason is StopReason.REFUSAL else ""
    failed = f", but {' and '.join(row.failed)} failed" if row.failed else ""
    facts = [
        f"stopped: {why}" if why else _ENDINGS[row.reason] + failed,
        format_plural(row.steps, "step"),
        *([format_tokens(row.usage, cost)] if is_reported or row.reason in _UNREPORTED else []),
        *([] if cost is None else [format_money(cost)]),
        *more,
        format_duration(row.seconds),
    ]
    return " · ".join(facts)


def list_ending(row: TurnEndRow) -> tuple[str, ...]:
    """Return the end of a turn and its evidence, a line each."""
    return (describe_ending(row), *row.evidence.lines)


def job_ending(row: JobEndRow) -> str:
    """Describe the end of a job in one line, without its command."""
    if row.stopped:
        return f"{row.job} was stopped: {row.stopped}"
    return f"{row.job} ended" + ("" if row.exit_code is None else f" with exit code {row.exit_code}")


def describe_rules(row: RulesRow) -> str:
    """Describe which rules apply from now on and why, and which do not: `rules: api.md (src/api/a.py was read)`."""
    by_reason: dict[str, list[str]] = {}
    for file in row.files:
        by_reason.setdefault(file.why, []).append(file.path)
    held = [", ".join(paths) + (f" ({why})" if why != "always" else "") for why, paths in by_reason.items()]
    facts = [f"rules: {'; '.join(held)}"] if held else []
    facts += [f"rules removed: {', '.join(row.gone)}"] if row.gone else []
    return " · ".join(facts)


def describe_compaction(row: CompactionRow) -> str:
    """`compacted from 98.0k to 31.2k tokens (the context window was nearly full)`, or that it was undone."""
    if row.cause is None:
        return "compaction undone: the model sees the full conversation again"
    return f"compacted from {format_count(row.before)} to {format_count(row.after)} tokens ({CAUSES[row.cause]})"


def hook_ending(row: HookRow) -> str:
    """Describe a hook that blocked, failed or took long, in one line."""
    verb = {
        HookStatus.FAILED: "failed",
        HookStatus.TIMED_OUT: "timed out",
        HookStatus.CANCELLED: "was interrupted",
        HookStatus.STOPPED: "was stopped",
        None: "is running",
    }.get(row.status, "blocked" if row.decision is HookDecision.BLOCK else "ran")
    is_skipped = row.status is not HookStatus.COMPLETED and row.decision is not HookDecision.BLOCK
    rest = " (continued without it)" if is_skipped else ""
    why = f": {' '.join(row.said.split())}" if row.said else ""
    return f"hook {row.hook} ({row.moment}) {verb}, {format_duration(row.seconds)}{why}{rest}"


def describe_retry(row: RetryRow | StepRetried) -> str:
    """Describe a retry: `Overloaded: retrying in 4 s (2 of 3)`."""
    if row.model:
        return f"{row.cause.rstrip('.')}: trying {row.model} instead"
    if not row.attempt:
        return f"{row.cause}: {format_duration(row.wait)}" if row.wait else f"{row.cause}: skipped"
    if not row.wait:
        return f"{row.cause.rstrip('.')}: retrying now ({_describe_times(row)})"
    seconds = f"{row.wait:.1f}".removesuffix(".0") + " s" if row.wait < 9.95 else format_duration(row.wait)
    return f"{row.cause.rstrip('.')}: retrying in {seconds} ({_describe_times(row)})"


def _describe_times(row: RetryRow | StepRetried) -> str:
    return f"{row.attempt} of {row.most}" if row.most else f"attempt {row.attempt}"


def context_left(state: State) -> int | None:
    """Percent of the context window that the latest request left; None when the window or the use is unknown."""
    window = state.model.limit or state.model.window
    used = state.budget.last_usage.total
    return max(0, 100 - round(100 * used / window)) if window and used else None


def model_name(model: str) -> str:
    """A model's display name; of a scripted one, without the script's folders."""
    return f"scripted/{model.rsplit('/', 1)[-1]}" if model.startswith("scripted/") else model


def name_grade(grade: Grade, reason: str, agent: str = "") -> str:
    """Return a reason behind the word for its grade, and behind the sub-agent that asks."""
    word, _ = GRADES.get(grade, ("", ""))
    graded = f"{word}: {reason}" if word and reason else word or reason
    return f"The agent {agent} asks: {graded}" if agent else graded


def describe_effect(approval: Approval) -> str:
    """Say in one line what an approval would do; empty where its title says all, as of an edit.

    What is more than ordinary comes first. That the mode asks is no part of it: the mode is always in sight.
    """
    asks = _MODE_ASKS.match(approval.reason)
    reason = approval.reason[asks.end() :] if asks else approval.reason
    acts = [part for part in approval.parts if part.effect is not Effect.READ_ONLY]
    told = [_describe_part(part) for part in acts if not (part.reason and part.reason in reason) or not asks]
    graded = approval.grade is not Grade.ORDINARY
    first = name_grade(approval.grade, reason) if graded else reason.removeprefix("it ") if asks else reason
    others = [one for one in dict.fromkeys(told) if one not in first]
    named = {target for part in acts for target in part.targets if target not in first + " ".join(others)}
    text = " · ".join(filter(None, [first, *others])) + (f" → {', '.join(sorted(named))}" if named else "")
    return name_grade(Grade.ORDINARY, text, approval.agent)


_MODE_ASKS = re.compile(r"(?:ask|accept-edits|auto|yolo) mode asks before [^:]*(?:: )?")


def _describe_part(part: CommandPart) -> str:
    return part.reason.removeprefix("it ") or EFFECTS[part.effect]
