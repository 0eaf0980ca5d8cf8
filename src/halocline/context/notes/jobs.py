"""Notes on running commands, added before a request: only what the model does not know yet."""

import signal
from collections.abc import Sequence
from contextlib import suppress

from halocline.ports.host import ShellResult
from halocline.ports.jobs import JobOutput
from halocline.protocol.events import JobEnded
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.protocol.messages import Note
from halocline.protocol.state.state import State

SOURCE = "jobs"
_LONGEST_COMMAND = 80
_MEANINGS = {126: "not executable", 127: "command not found"}


def note_jobs(news: Sequence[JobOutput]) -> Note:
    """Build the note on jobs that ended or printed."""
    return Note("\n".join(map(_describe_output, news)), source=SOURCE)


def begun_anew(state: State) -> Note | None:
    """Build the note for a reopened task: what ended with its old process, and the state of its shell."""
    lines = [
        f"{job.job} ({_short_command(job.command)}) is gone: it ended when Halocline was closed."
        for job in state.jobs.running
    ]
    lines += [f"{job.job} ({_short_command(job.command)}): {_describe_end(job)}." for job in state.jobs.ended_apart]
    if state.host.shell.cwd:
        lines.append(f"Commands start in the workspace again, not in {state.host.shell.cwd}.")
    if state.host.shell.exported:
        lines.append(f"These exported variables were reset: {', '.join(state.host.shell.exported)}.")
    if state.host.page:
        lines.append("The browser is closed.")
    return Note("\n".join(lines), source=SOURCE) if lines else None


def describe_status(info: JobInfo) -> str:
    """Describe the status of a job in words."""
    if info.state is JobState.ENDED:
        return f"{_describe_end(info)} after {_format_time(info.seconds)}"
    facts = [f"running for {_format_time(info.seconds)}"]
    if info.exit_code is not None:
        facts.append(f"its shell ended with {exit_words(info.exit_code)}, its children are still running")
    if info.ports:
        facts.append(f"listening on port {', '.join(map(str, info.ports))}")
    facts.append("printing" if info.state is JobState.HOT else f"quiet for {_format_time(info.quiet)}")
    return ", ".join(facts)


def find_answer(command: str, result: ShellResult) -> str:
    """Return the meaning of an exit code that is an answer, as for `grep`; empty for all others."""
    if result.exit_code != 1:
        return ""
    from halocline.context.notes import exit_answers  # most commands end otherwise

    return exit_answers.find_answer(command, result.exit_code, result.output)


def exit_words(code: int, answer: str = "") -> str:
    """Describe an exit code; a negative one is a signal. `answer` is the meaning of one that is no failure."""
    if code < 0:
        return f"killed by {_signal_name(-code)}"
    if answer:
        return f"exit code {code}: {answer},"
    meaning = _MEANINGS.get(code) or (_signal_name(code - 128) if code > 128 else "")
    return f"exit code {code}{f' ({meaning})' if meaning else ''}"


def _describe_output(news: JobOutput) -> str:
    info = news.info
    hint = f"; {news.hint}" if news.hint else ""
    head = f"{info.name} ({_short_command(info.command)}): {describe_status(info)}{hint}"
    if not news.text.strip():
        return head
    if info.unread:
        return f"{head}; {info.unread:,} bytes of unread output, ending in:\n…{news.text.strip()}"
    return f"{head}; new output:\n{news.text.strip()}"


def _describe_end(info: JobInfo | JobEnded) -> str:
    if info.stopped:
        return f"stopped ({info.stopped})"
    return "ended" if info.exit_code is None else f"ended with {exit_words(info.exit_code)}"


def _short_command(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _LONGEST_COMMAND else line[:_LONGEST_COMMAND] + "…"


def _format_time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}" if number < 65 else ""
