"""Check the logs of tasks for `halo doctor`, and repair them when asked."""

from collections.abc import Iterator
from pathlib import Path

from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import HaloclineError, LogTooNew
from halocline.services.doctor.finding import Finding
from halocline.store.paths import Home
from halocline.task.log_mending import LogDamage, find_damage, mend_log

MOST_READ = 200_000_000
"""Bytes of logs to read when nothing is to be repaired: a second or two."""


def check_logs(home: Home, *, fix: bool = False) -> list[Finding]:
    """Count the logs and find damaged ones, newest first; `fix` reads all of them and repairs them."""
    logs = sorted(home.tasks.glob(f"*/{LOG_NAME}"), key=lambda log: log.stat().st_mtime, reverse=True)
    looked_at = logs if fix else list(_newest_logs(logs))
    damaged = [(log, damage) for log in looked_at if (damage := _find_damage(log))]
    rest = "" if len(looked_at) == len(logs) else f"; checked the newest {len(looked_at)}"
    total = f"{len(logs)} task{'s'[: len(logs) != 1]}{rest}"
    if not damaged:
        return [Finding("tasks", True, total, needed=False)]
    return [_make_finding(log, damage, fix=fix) for log, damage in damaged]


def _newest_logs(logs: list[Path]) -> Iterator[Path]:
    left = MOST_READ
    for log in logs:
        left -= log.stat().st_size
        if left < 0:
            break
        yield log


def _find_damage(log: Path) -> LogDamage | str | None:
    try:
        return find_damage(log)
    except LogTooNew as error:
        return f"{error.text} {error.hint}"
    except OSError as error:
        return f"{log} cannot be read: {error.strerror or error}."


def _make_finding(log: Path, damage: LogDamage | str, *, fix: bool) -> Finding:
    name = f"The log of task {log.parent.name}"
    if isinstance(damage, str):
        return Finding("tasks", False, f"{name} cannot be read", damage, needed=False)
    text = f"{name} is damaged: {damage.text}"
    if not damage.kept:
        return Finding("tasks", False, text, f"If you have a backup, restore {log} from it.", needed=False)
    if not fix:
        hint = f"Run halo doctor --fix to repair it; the damaged log is kept in {log.parent}"
        return Finding("tasks", False, text, hint, needed=False)
    return _mended_finding(log, text)


def _mended_finding(log: Path, text: str) -> Finding:
    try:
        done = mend_log(log)
    except HaloclineError as error:
        return Finding("tasks", False, text, f"{error.text} {error.hint}", needed=False)
    except OSError as error:
        return Finding("tasks", False, text, f"It could not be repaired: {error.strerror or error}.", needed=False)
    aside = f"; the damaged log is kept in {done[1]}" if done else ""
    return Finding("tasks", True, f"{text[:-1]}. Repaired{aside}", needed=False)
