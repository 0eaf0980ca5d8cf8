"""Numbers as people read them: durations, tokens, money."""

from halocline.protocol.messages import StopReason
from halocline.surfaces.row_kinds import JobEndRow, RetryRow, TurnEndRow

_ENDINGS = {
    StopReason.END_TURN: "done",
    StopReason.MAX_TOKENS: "stopped: the reply reached the model's output limit",
    StopReason.MAX_TURN_REQUESTS: "stopped: a limit was reached",
    StopReason.REFUSAL: "stopped: the model refused",
    StopReason.CANCELLED: "interrupted",
    StopReason.ERROR: "failed",
}


def duration(seconds: float) -> str:
    """`0.4 s`, `21 s`, `2 m 05 s`, `1 h 02 m`."""
    return f"{seconds:.1f} s" if seconds < 9.95 else elapsed(round(seconds))


def elapsed(seconds: float) -> str:
    """A duration that goes on, in whole seconds."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} m {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} m"


def count(number: int) -> str:
    """`950`, `12.3k`, `1.2M`."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.1f}M"


def money(dollars: float | None) -> str:
    """`$0.04`, `$0.0042`; an unknown price is said, never shown as nothing."""
    if dollars is None:
        return "price unknown"
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def again(row: RetryRow) -> str:
    """What is done after a request failed."""
    if row.model:
        return f"asking {row.model} instead"
    return f"asking again in {duration(row.wait)} (attempt {row.attempt})"


def ending(row: TurnEndRow) -> str:
    """How a turn ended and what it took, in one line."""
    why = row.text.rstrip(".") if row.limit and row.text else ""
    facts = [
        f"stopped: {why}" if why else _ENDINGS[row.reason],
        plural(row.steps, "step"),
        f"{count(row.usage.total)} tokens",
        money(row.cost),
        duration(row.seconds),
    ]
    return " · ".join(facts)


def job_ending(row: JobEndRow) -> str:
    """How a job ended, in one line; its command is shown beside it."""
    if row.stopped:
        return f"{row.job} was stopped: {row.stopped}"
    return f"{row.job} ended" + ("" if row.exit_code is None else f" with exit code {row.exit_code}")


def model_name(model: str) -> str:
    """A model as people read it: of a scripted one, the script's name without its folders."""
    return f"scripted/{model.rsplit('/', 1)[-1]}" if model.startswith("scripted/") else model
