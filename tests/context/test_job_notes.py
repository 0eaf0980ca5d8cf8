import pytest

from halocline.context.notes.jobs import begun_anew, describe_status, exit_words, note_jobs
from halocline.ports.jobs import JobOutput
from halocline.protocol.events import JobStarted, ShellMoved
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.protocol.state.host import HostState, JobsState
from halocline.protocol.state.state import State


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (JobInfo("job-1", "x", JobState.HOT, seconds=3.21), "running for 3.2 s, printing"),
        (JobInfo("job-1", "x", JobState.IDLE, seconds=70, quiet=60), "running for 70 s, quiet for 60 s"),
        (
            JobInfo("job-1", "x", JobState.HOT, ports=(80, 443)),
            "running for 0.0 s, listening on port 80, 443, printing",
        ),
        (
            JobInfo("job-1", "x", JobState.ENDED, exit_code=127, seconds=1),
            "ended with exit code 127 (command not found) after 1.0 s",
        ),
        (
            JobInfo("job-1", "x", JobState.ENDED, exit_code=-15, stopped="on request"),
            "stopped (on request) after 0.0 s",
        ),
        (
            JobInfo("job-1", "x", JobState.HOT, exit_code=0),
            "running for 0.0 s, its shell ended with exit code 0, its children are still running, printing",
        ),
    ],
)
def test_a_state_is_told_in_words(info: JobInfo, words: str):
    assert describe_status(info) == words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (126, "exit code 126 (not executable)"),
        (139, "exit code 139 (SIGSEGV)"),
        (-9, "killed by SIGKILL"),
    ],
)
def test_an_exit_code_is_told_with_its_meaning(code: int, words: str):
    assert exit_words(code) == words


def test_news_hold_short_output_whole_and_of_long_output_the_end():
    short = JobOutput(JobInfo("job-1", "make\nall", JobState.HOT), "built\n")
    long = JobOutput(JobInfo("job-2", "x" * 200, JobState.HOT, unread=5_000), "the end")
    assert note_jobs([short, long]).text == (
        "job-1 (make all): running for 0.0 s, printing; new output:\nbuilt\n"
        f"job-2 ({'x' * 80}…): running for 0.0 s, printing; 5,000 bytes of unread output, ending in:\n…the end"
    )


def test_what_a_dead_process_took_along_is_told():
    state = State(
        jobs=JobsState(running=(JobStarted(job="job-1", command="npm run dev", call="c", by="model"),)),
        host=HostState(shell=ShellMoved(cwd="/w/sub", exported=("A", "B"))),
    )
    assert (note := begun_anew(state)) is not None
    assert note.text == (
        "job-1 (npm run dev) is gone: it ended when Halocline was closed.\n"
        "Commands start in the workspace again, not in /w/sub.\n"
        "These exported variables were reset: A, B."
    )
    assert begun_anew(State()) is None
