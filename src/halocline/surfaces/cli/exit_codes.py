"""Exit codes of `halo`. The docs are generated from this table."""

from enum import IntEnum

from halocline.protocol.errors import HaloclineError, SettingsError, TaskNotFound, UsageError
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State


class ExitCode(IntEnum):
    """All exit codes."""

    FINISHED = 0
    ERROR = 1
    USAGE = 2
    LIMIT = 3
    APPROVAL = 4
    ANSWER = 5
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.FINISHED: "Success.",
    ExitCode.ERROR: "An error: the model was unreachable or refused, or a file could not be written or restored.",
    ExitCode.USAGE: "Wrong usage: an unknown flag, model, task or setting, or a missing key.",
    ExitCode.LIMIT: "A limit was reached: steps, cost, time, consecutive failures or reply length.",
    ExitCode.APPROVAL: "An action needed approval and no one could give it, so it was not done.",
    ExitCode.ANSWER: "The answer did not match `--output-schema`, even after the model got the errors.",
    ExitCode.INTERRUPTED: "Interrupted by Ctrl-C or a signal; the task can be resumed.",
}

_OF_REASON = {
    StopReason.END_TURN: ExitCode.FINISHED,
    StopReason.MAX_TOKENS: ExitCode.LIMIT,
    StopReason.MAX_TURN_REQUESTS: ExitCode.LIMIT,
    StopReason.REFUSAL: ExitCode.ERROR,
    StopReason.CANCELLED: ExitCode.INTERRUPTED,
    StopReason.ERROR: ExitCode.ERROR,
}


def of_state(state: State) -> ExitCode:
    """Exit code for a task, by its last turn."""
    if state.last_end is None:
        return ExitCode.ERROR
    if state.last_end.limit == "answer":
        return ExitCode.ANSWER
    code = _OF_REASON[state.last_end.reason]
    if code is ExitCode.FINISHED and state.pending.nobody_answered:
        return ExitCode.APPROVAL
    return code


def of_run(state: State, *, is_leaving: bool) -> ExitCode:
    """Exit code of a run that left its task in this state; `is_leaving`: because of a signal."""
    if state.turn is not None:  # what waits for the person is asked again, or the task broke: closing it raises why
        return ExitCode.INTERRUPTED if is_leaving else ExitCode.ERROR
    if state.last_end is None:
        return ExitCode.FINISHED  # the person quit without a prompt
    return ExitCode.INTERRUPTED if is_leaving else of_state(state)


def of_error(error: HaloclineError) -> ExitCode:
    """Exit code for an error that ended the program."""
    return ExitCode.USAGE if isinstance(error, UsageError | SettingsError | TaskNotFound) else ExitCode.ERROR


def explain_error(error: HaloclineError | ExceptionGroup[Exception]) -> HaloclineError:
    """Pick the error to report: one of a group of parallel calls is enough. A group with a bug is raised again."""
    if isinstance(error, HaloclineError):
        return error
    known, bugs = error.split(HaloclineError)
    if bugs is not None or known is None:
        raise error
    first: BaseException = known
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, HaloclineError)
    return first
