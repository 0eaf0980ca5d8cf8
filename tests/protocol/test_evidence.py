"""The evidence at the end of a turn, folded from logs."""

from msgspec.structs import replace
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.events.imports import Origin
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, Note, StopReason, Text, ToolResult
from halocline.protocol.state.evidence.facts import EvidenceState, Ran, gather_evidence
from halocline.protocol.state.evidence.findings import Evidence, find_evidence
from halocline.protocol.state.reducer import fold_events

NONE_RAN = "no test ran after the last edit"


def edit(path: str = "a.py", before: str | None = "old", after: str | None = "new") -> list[ev.DurableEvent]:
    return [ev.FileChanged(path, before, after, "c")]


def run(
    command: str, end: str = "exit code 0 in 0.1 s", *, status: CallStatus = CallStatus.COMPLETED, output: str = ""
) -> list[ev.DurableEvent]:
    result = ToolResult("c", (Text(f"{output}\n[{end}]"), Text("a note")))
    started = ev.ToolCallStarted("c", "execute_command", command, ToolKind.EXECUTE)
    return [started, ev.ToolCallEnded("c", "execute_command", status, result)]


def say(text: str, reason: StopReason = StopReason.END_TURN) -> list[ev.DurableEvent]:
    return [ev.AssistantMessageCompleted(AssistantMessage((Text(text),))), ev.TurnEnded(reason)]


def log(*parts: list[ev.DurableEvent]) -> list[ev.DurableEvent]:
    events = [event for part in parts for event in ([ev.TurnStarted((Text("go"),))] if part == [] else part)]
    return [replace(event, seq=seq) for seq, event in enumerate([ev.TurnStarted((Text("go"),)), *events], 1)]


def judge(*parts: list[ev.DurableEvent], whole: bool = False) -> Evidence:
    return find_evidence(gather_evidence(log(*parts)), whole=whole)


def test_a_turn_that_edits_and_tests_names_both_and_doubts_nothing():
    found = judge(edit(), edit("b.py", None), run("pytest -q tests/test_a.py"), say("All tests pass."))
    assert [(one.path, one.how) for one in found.changed] == [("a.py", "changed"), ("b.py", "new")]
    assert [(one.command, one.end, one.tests) for one in found.commands] == [
        ("pytest -q tests/test_a.py", "exit 0", True)
    ]
    assert found.tests == ("tests/test_a.py",)
    assert found.lines == ("a.py changed, b.py new; then `pytest -q tests/test_a.py` (exit 0)",)


def test_an_edit_after_the_tests_is_not_checked_and_the_claim_not_confirmed():
    found = judge(edit(), run("pytest"), edit("b.py"), say("All tests pass."))
    assert found.commands == ()
    assert found.not_checked == ("b.py changed after the last command",)
    assert found.not_confirmed == (NONE_RAN,)
    assert found.lines == ("a.py and b.py changed", f"not confirmed: {NONE_RAN}")


def test_a_text_that_was_edited_after_the_tests_stands_behind_them():
    found = judge(edit(), run("pytest"), edit("notes.md", None), run("ls"), say("Done."))
    assert found.lines == ("a.py changed; then `pytest` (exit 0); then notes.md new",)
    assert found.text == "After the last edit but that of notes.md: `pytest` (exit 0)."
    assert judge(edit("notes.md"), run("pytest"), say("Done.")).lines == ("notes.md changed; then `pytest` (exit 0)",)
    assert judge(run("pytest"), edit("notes.md"), say("Done.")).lines == ("`pytest` (exit 0); then notes.md changed",)


def test_a_claim_over_a_failing_test_is_not_confirmed_and_the_failed_test_named():
    output = "FAILED tests/test_a.py::test_add - assert 1 == 2"
    found = judge(edit(), run("pytest -q", "exit code 1 in 0.1 s", output=output), say("All tests pass."))
    assert found.failed_tests == ("tests/test_a.py::test_add",)
    assert found.not_confirmed == ("`pytest -q` ended with exit 1",)


def test_no_claim_is_denied_where_the_log_leaves_a_doubt():
    done = say("All tests pass.")
    failed = run("pytest", "exit code 1 in 0.1 s")
    hook = [ev.HookRan("h", "PostToolUse", "project", "completed")]
    server = [ev.ToolCallStarted("m", "ci__run", "Run", ToolKind.EXECUTE)]
    doubtful = {
        "a script that may have tested": [edit(), run("./verify.sh"), done],
        "one after a test that failed": [edit(), failed, run("./verify.sh"), done],
        "a pipeline": [edit(), run("pytest | tail"), done],
        "a failed list": [edit(), run("pytest && ruff check .", "exit code 1 in 1 s"), done],
        "a hook": [edit(), hook, done],
        "a tool of a server": [edit(), server, done],
        "an edit of a text": [edit(), run("pytest"), edit("README.md"), done],
        "nothing edited": [run("ls"), done],
        "a turn that was interrupted": [edit(), say("All tests pass.", StopReason.CANCELLED)],
        "a narrow claim beside a test that passed": [edit(), run("pytest a"), failed, say("The new test passes.")],
        "a failure that is said": [edit(), failed, say("All tests pass. test_b still fails.")],
        "a person's command": [
            edit(),
            [ev.OwnCommandStarted("r", "pytest"), ev.OwnCommandEnded("r", "pytest", exit_code=0)],
            done,
        ],
        "tests of the turn before": [edit(), run("pytest"), say("Done."), [], done],
    }
    assert {name: found for name, parts in doubtful.items() if (found := judge(*parts).not_confirmed)} == {}


def test_commands_that_only_look_are_no_test():
    assert judge(edit(), run("git diff"), run("cat a.py"), say("All tests pass.")).not_confirmed == (NONE_RAN,)


def test_the_end_of_a_command_is_said_as_it_was():
    ends = {
        "exit code 127 (command not found) in 0.0 s": "exit 127",
        "killed by SIGSEGV after 2.0 s": "SIGSEGV",
        "stopped: it was still running after 5 s; set timeout": "timed out",
        "exit code 1: nothing was found, in 0.1 s": "exit 1",
    }
    assert {end: judge(edit(), run("x", end)).commands[0].end for end in ends} == ends
    assert judge(edit(), run("x", status=CallStatus.CANCELLED)).commands[0].end == "interrupted"
    assert judge(edit(), run("x", status=CallStatus.FAILED)).commands[0].end == "not run"


def test_a_test_that_timed_out_or_still_runs_confirms_nothing():
    late = run("pytest", "stopped: it was still running after 5 s; set timeout")
    assert judge(edit(), late, say("All tests pass.")).not_confirmed == ("`pytest`: timed out",)
    started, ended = run("pytest", "still running as job-1")
    job = [started, ev.JobStarted("job-1", "pytest", "c", "model"), ended]
    assert judge(edit(), job, say("All tests pass.")).not_confirmed == ("`pytest` still runs",)
    over = [ev.JobEnded("job-1", "pytest", 0)]
    found = judge(edit(), job, over, say("All tests pass."))
    assert (found.not_confirmed, found.commands[0].end) == ((), "exit 0")


def test_the_build_is_confirmed_by_a_build_or_by_tests():
    claim = say("The build works.")
    assert judge(edit(), run("git diff"), claim).not_confirmed == ("no build ran after the last edit",)
    assert judge(edit(), run("npm test"), claim).not_confirmed == ()
    failed = run("npm run build", "exit code 2 in 1 s")
    assert judge(edit(), failed, claim).not_confirmed == ("`npm run build` ended with exit 2",)


def test_a_file_that_is_as_before_is_not_changed():
    assert judge(edit("a.py", "one", "two"), edit("a.py", "two", "one"), say("Done.")).changed == ()


def test_a_file_that_was_written_as_it_was_voids_no_test():
    assert judge(edit(), run("pytest"), edit("a.py", "new", "new"), say("All tests pass.")).not_confirmed == ()


def test_last_words_of_any_size_are_judged_at_once():
    said = say("?" * 99_999 + "a\n" + "\n" * 99_999 + "`test " * 20_000 + "\nAll tests pass.")
    assert judge(edit(), said).not_confirmed == (NONE_RAN,)


def test_errors_of_language_servers_are_new_until_a_list_of_all_shows_that_they_are_gone():
    text = "This edit introduced 1 error:\na.py:3 | x = y\n  y is not defined (pyflakes)"
    ended = [
        ev.ToolCallEnded(
            "e", "write_to_file", CallStatus.COMPLETED, ToolResult("e", (Text("ok"), Note(text, "diagnostics")))
        )
    ]
    assert judge(edit(), ended).new_errors == ("a.py:3: y is not defined (pyflakes)",)
    problems = [ev.MentionsResolved((Note("No errors in the files changed or read in this task.", "problems"),))]
    found = judge(edit(), ended, say("Done."), [], problems)
    assert (found.new_errors, found.gone_errors) == ((), ("a.py:3: y is not defined (pyflakes)",))


@for_each(
    "text",
    (
        "Unknown: no language server responded for the files changed or read in this task.",
        "The editor shows no errors or warnings.",
        "The editor shows 1 error and 0 warnings:\nb.py:1 | z\n  z is wrong",
        "2 errors:\nb.py:1 | z\n  z is wrong\nand 1 more",
        "Problems reported for this code:\n- line 1: z is wrong",
    ),
)
def test_a_list_that_is_not_of_all_errors_says_of_none_that_it_is_gone(text):
    note = Note("This edit introduced 1 error:\na.py:3 | x = y\n  y is not defined (pyflakes)", "diagnostics")
    ended = ev.ToolCallEnded("e", "write_to_file", CallStatus.COMPLETED, ToolResult("e", (Text("ok"), note)))
    problems = [ev.MentionsResolved((Note(text, "problems"),))]
    assert judge(edit(), [ended], say("Done."), [], problems).gone_errors == ()


def test_files_that_were_restored_are_edited_again():
    undone = [ev.CheckpointRestored("c", "u", changed=("a.py",))]
    assert judge(edit(), run("pytest"), undone, say("All tests pass.")).not_confirmed == (NONE_RAN,)


def test_a_restore_that_was_undone_at_once_leaves_all_as_it_was_before():
    gone = [ev.CheckpointRestored("c", "u", changed=("a.py", "t.py"))]
    back = [ev.CheckpointRestored("u", "v", changed=("a.py", "t.py"))]
    assert judge(edit(), run("pytest"), gone, back, say("All tests pass.")).not_confirmed == ()
    found = judge(edit(), run("pytest"), gone, back, [], edit("a.py"), say("Done."))
    assert found.not_checked == ("a.py changed after the last command",)
    later = judge(edit(), run("pytest"), gone, edit("c.py"), back, [], edit("a.py"), say("Done."))
    assert later.not_checked == ("a.py, t.py and 1 more changed after the last command",)


def test_what_a_command_changed_is_named_and_does_not_void_its_tests():
    snapshot = [ev.FilesChangedOutside((ChangedFile("out.json", "h", "pytest"),), ())]
    found = judge(edit(), run("pytest"), snapshot, say("All tests pass."))
    assert (found.changed[-1].path, found.not_confirmed) == ("out.json", ())


def test_an_import_has_evidence_and_no_verdict():
    begun = ev.TaskStarted("/w", "", Mode.ACT, ApprovalMode.ASK, "", "1", origin=Origin("claude", "i", "p"))
    ended = ev.ToolCallEnded("e", "write_to_file", CallStatus.COMPLETED, ToolResult("e", (Text("ok"),)))
    parts = [[begun], [], [ev.ToolCallStarted("e", "write_to_file", "Write a.py", ToolKind.EDIT), ended]]
    failed = run("pytest", "", status=CallStatus.FAILED, output="Exit code 2\nboom")
    found = judge(*parts, failed, say("All tests pass."))
    assert ([one.path for one in found.changed], found.commands[0].end) == (["a.py"], "exit 2")
    assert found.not_confirmed == ()


def test_the_evidence_of_a_whole_task_has_what_ran_in_earlier_turns():
    parts = (edit(), run("pytest"), say("All tests pass."), [], say("You are welcome."))
    assert judge(*parts).lines == ()
    assert judge(*parts, whole=True).text == "After the last edit: `pytest` (exit 0)."


def test_a_long_command_and_many_files_stay_one_short_line():
    many = [event for at in range(9) for event in edit(f"f{at}.py")]
    found = judge(many, *(run(f"pytest -q {'x' * 200}") for _ in range(5)), say("Done."))
    assert found.lines[0].startswith("9 files changed; then 3 other commands, `pytest -q xxx")
    assert len(found.lines[0]) < 160


def test_the_state_of_a_task_holds_the_same_facts():
    events = log(edit(), run("pytest"), say("Done."))
    assert fold_events(events).evidence == gather_evidence(events)


def test_a_command_is_read_once_however_many_turns_end_after_it():
    ran = tuple(Ran(f"make part-{number}", number) for number in range(1, 101))
    facts = EvidenceState(ran=ran)
    find_evidence(facts)
    read = [vars(one)["checked"] for one in ran]
    find_evidence(facts)
    assert all(vars(one)["checked"] is before for one, before in zip(ran, read, strict=True))
