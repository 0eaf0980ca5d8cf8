"""What the exit code of `halo` says. The docs are generated from this table."""

from enum import IntEnum

from halocline.protocol.errors import HaloclineError, SettingsError, TaskNotFound, UsageError
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State


class ExitCode(IntEnum):
    """Every exit code there is."""

    FINISHED = 0
    ERROR = 1
    USAGE = 2
    LIMIT = 3
    APPROVAL = 4
    ANSWER = 5
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.FINISHED: "The work was finished.",
    ExitCode.ERROR: "Something failed: the model could not be reached, refused, or a file could not be written.",
    ExitCode.USAGE: "The call was wrong: an unknown flag, model, task or setting, or a missing key.",
    ExitCode.LIMIT: "A limit was reached: steps, cost, time, failures in a row, or the length of a reply.",
    ExitCode.APPROVAL: "An approval was needed and nobody could give it; what needed it was not done.",
    ExitCode.ANSWER: "The answer did not fit `--output-schema`, not even when the model was told what is wrong.",
    ExitCode.INTERRUPTED: "Interrupted with Ctrl-C or a signal; the task can be resumed.",
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
    """The code for a task whose last turn ended."""
    if state.last_end is None:
        return ExitCode.ERROR
    if state.last_end.limit == "answer":
        return ExitCode.ANSWER
    code = _OF_REASON[state.last_end.reason]
    if code is ExitCode.FINISHED and state.nobody_answered:
        return ExitCode.APPROVAL
    return code


def of_error(error: HaloclineError) -> ExitCode:
    """The code for an error that ended the program."""
    return ExitCode.USAGE if isinstance(error, UsageError | SettingsError | TaskNotFound) else ExitCode.ERROR


def explain_error(error: HaloclineError | ExceptionGroup[Exception]) -> HaloclineError:
    """The error to tell of. Parallel tool calls report together: one is enough, but a bug keeps its trace."""
    if isinstance(error, HaloclineError):
        return error
    told, bugs = error.split(HaloclineError)
    if bugs is not None or told is None:
        raise error
    first: BaseException = told
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, HaloclineError)
    return first
