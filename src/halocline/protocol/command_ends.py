"""Reads how a command ended from the last line of its result. Pure."""

import re

_ANSWER = re.compile(r"\[exit code 1: ([^,\]]+)")
_FAILURE = re.compile(r"\[(?:exit code (-?[1-9]\d*)\b(?!: )|killed by (\w+)|(stopped): it was still running)")


def command_failure(output: str) -> str:
    """Return how a command failed, as `exit 3`, `SIGKILL` or `timed out`; empty if it did not."""
    found = _FAILURE.match(output.rstrip().rpartition("\n")[2])
    if found is None:
        return ""
    code, name, stopped = found.groups()
    return f"exit {code}" if code else name or ("timed out" if stopped else "")


def command_answer(output: str) -> str:
    """Return the meaning of exit code 1 that is no failure, as `nothing was found`; empty for all others."""
    found = _ANSWER.match(output.rstrip().rpartition("\n")[2])
    return found[1] if found else ""
