"""Reads how a command ended from the last line of its result. Pure."""

from halocline.protocol.patterns import compile_later

_ANSWER = compile_later(r"\[exit code (\d+): ([^,\]]+)")
_END = compile_later(r"\[(?:exit code (-?\d+)|killed by (\w+)|(stopped): it was still running)")


def command_end(output: str) -> str:
    """Return how a command ended, as `exit 0`, `SIGKILL` or `timed out`; empty if the result does not say it."""
    found = _END.match(_last_line(output))
    if found is None:
        return ""
    code, name, _ = found.groups()
    return f"exit {int(code)}" if code else name or "timed out"


def command_failure(output: str) -> str:
    """Return how a command failed; empty if it did not."""
    end = command_end(output)
    return "" if end == "exit 0" or _ANSWER.match(_last_line(output)) else end


def command_answer(output: str) -> str:
    """Return the meaning of exit code 1 that is no failure, as `nothing was found`; empty for all others."""
    found = _ANSWER.match(_last_line(output))
    return found[2] if found and found[1] == "1" else ""


def _last_line(output: str) -> str:
    return output.rstrip().rpartition("\n")[2]
