import pytest
from msgspec.structs import replace

from halocline.edits.diff import make_diff
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Mode, Scope
from halocline.protocol.messages import Image, Note, StopReason, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.apply_command import PLANS_NOW
from halocline.runtime.controller import TaskOptions
from halocline.task.calls.pending_approvals import name_changes

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
ALONE = TaskOptions(approval_mode=ApprovalMode.ASK, attended=False)
TOUCH = Call("execute_command", {"command": "touch made", "requires_approval": False}, id="c1")
DONE = Turn(text="done")


def decide(decision, note="", arguments=None):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(
                task=event.task, request=event.request, decision=decision, note=note, arguments=arguments
            )
        return None

    return answer


async def test_a_call_runs_after_a_yes(journey):
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=decide(Choice.ALLOW_ONCE))
    assert (journey.workspace / "made").exists()
    assert [kind for kind in journey.kinds if kind != "CheckpointTaken"] == [
        "TaskStarted",
        "TurnStarted",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "ApprovalRequested",
        "ApprovalResolved",
        "ToolCallStarted",
        "ToolCallEnded",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "TurnEnded",
    ]


async def test_the_switch_to_plan_mode_refuses_what_waits(journey):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.SetMode(task=event.task, mode=Mode.PLAN)
        return None

    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=answer)
    (resolved,) = journey.of(ev.ApprovalResolved)
    assert (resolved.decision, resolved.note) == (Choice.REJECT_ONCE, PLANS_NOW)
    assert not (journey.workspace / "made").exists()


async def test_words_on_a_yes_reach_the_model(journey):
    await journey.run(
        Turn(calls=(TOUCH,)),
        Turn(text="ok", expect="and be quick"),
        options=ASK,
        answer=decide(Choice.ALLOW_ONCE, "and be quick"),
    )
    assert journey.state.last_end.reason is StopReason.END_TURN


@pytest.mark.parametrize("decision", [Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS, Choice.REJECT_ONCE])
async def test_a_picture_with_a_decision_reaches_the_model(journey, decision):
    shown = (Note("[shot.png]", "picture"), Image("image/png", "b" * 64))

    def answer(event):
        return (decided := decide(decision, "see here")(event)) and replace(decided, content=shown)

    seen = Turn(text="ok", expect="see here")
    await journey.run(Turn(calls=(TOUCH,)), seen, options=ASK, answer=answer)
    (end,) = journey.of(ev.ToolCallEnded)
    assert end.result.content[-2:] == shown
    assert journey.of(ev.ApprovalResolved)[0].content == shown
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_no_with_a_reason_is_told_and_the_calls_after_it_are_skipped(journey):
    again = Call("read_file", {"path": "x"}, id="c2")
    await journey.run(
        Turn(calls=(TOUCH, again)),
        Turn(text="ok", expect="not today"),
        options=ASK,
        answer=decide(Choice.REJECT_ONCE, "not today"),
    )
    assert journey.ends == [("c1", "rejected"), ("c2", "skipped")]
    assert not (journey.workspace / "made").exists()


async def test_always_asks_once_for_the_same_command_and_again_for_another(journey):
    other = Call("execute_command", {"command": "touch other", "requires_approval": False})
    await journey.run(
        Turn(calls=(TOUCH,)),
        Turn(calls=(TOUCH,)),
        Turn(calls=(other,)),
        DONE,
        options=ASK,
        answer=decide(Choice.ALLOW_ALWAYS),
    )
    assert [event.detail for event in journey.of(ev.ApprovalRequested)] == ["touch made", "touch other"]


async def test_an_edited_command_runs_as_edited_and_the_model_knows(journey):
    arguments = {"command": "touch better", "requires_approval": False}
    await journey.run(
        Turn(calls=(TOUCH,)),
        Turn(text="ok", expect="touch better"),
        options=ASK,
        answer=decide(Choice.ALLOW_ONCE, arguments=arguments),
    )
    assert (journey.workspace / "better").exists()
    assert not (journey.workspace / "made").exists()


async def test_an_edit_is_shown_as_a_diff_before_it_is_made(journey):
    path = journey.write("a.txt", "one\n")
    seen = []

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            seen.append((event.diffs[0].text, path.read_text()))
            return decide(Choice.ALLOW_ONCE)(event)
        return None

    call = Call("replace_in_file", {"path": "a.txt", "diff": "------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE"})
    await journey.run(Turn(calls=(call,)), DONE, options=ASK, answer=answer)
    assert "-one" in seen[0][0]
    assert "+two" in seen[0][0]
    assert seen[0][1] == "one\n"
    assert path.read_text() == "two\n"


async def test_nobody_is_asked_about_an_edit_that_does_not_apply(journey):
    journey.write("a.txt", "one\n")
    call = Call("replace_in_file", {"path": "a.txt", "diff": "------- SEARCH\nzero\n=======\ntwo\n+++++++ REPLACE"})
    await journey.run(Turn(calls=(call,)), DONE, options=ASK, answer=decide(Choice.ALLOW_ONCE))
    assert journey.of(ev.ApprovalRequested) == []
    assert journey.ends[0][1] == "failed"


async def test_the_second_edit_of_a_message_is_shown_as_it_is_after_the_first(journey):
    journey.write("a.txt", "one\n")
    calls = tuple(
        Call("replace_in_file", {"path": "a.txt", "diff": f"------- SEARCH\n{a}\n=======\n{b}\n+++++++ REPLACE"})
        for a, b in (("one", "two"), ("two", "three"))
    )
    await journey.run(Turn(calls=calls), DONE, options=ASK, answer=decide(Choice.ALLOW_ONCE))
    assert "-two" in journey.of(ev.ApprovalRequested)[1].diffs[0].text
    assert (journey.workspace / "a.txt").read_text() == "three\n"


async def test_without_a_person_what_needs_one_is_refused_and_the_model_is_told(journey):
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="nobody can give it"), options=ALONE)
    assert journey.of(ev.ApprovalResolved)[0].by == "nobody"
    assert journey.state.pending.nobody_answered
    assert not (journey.workspace / "made").exists()


async def test_plan_mode_refuses_changes_without_asking(journey):
    options = TaskOptions(mode=Mode.PLAN, approval_mode=ApprovalMode.YOLO, attended=True)
    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="plan mode"), options=options)
    assert journey.ends == [("c1", "rejected")]
    assert not (journey.workspace / "made").exists()


async def test_a_question_gets_its_answer(journey):
    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="blue")
        return None

    call = Call("ask_followup_question", {"question": "Which colour?", "options": ["red", "blue"]})
    await journey.run(Turn(calls=(call,)), Turn(text="ok", expect="blue"), answer=answer)
    assert journey.of(ev.QuestionAnswered)[0].client == "test"


async def test_a_question_without_a_person_does_not_hang(journey):
    call = Call("ask_followup_question", {"question": "Which colour?"})
    await journey.run(Turn(calls=(call,)), DONE)
    assert journey.of(ev.QuestionAnswered)[0].by == "nobody"
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_stale_decision_changes_nothing(journey):
    late = []

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            late.append(event)
            return decide(Choice.REJECT_ONCE)(event)
        return decide(Choice.ALLOW_ONCE)(late[0]) if isinstance(event, ev.ToolCallEnded) else None

    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=answer)
    assert len(journey.of(ev.ApprovalResolved)) == 1
    assert not (journey.workspace / "made").exists()


async def test_steering_reaches_the_model_before_its_next_request(journey):
    def answer(event):
        if isinstance(event, ev.ToolCallStarted):
            return cmd.Steer(task=event.task, content=(Text("use tabs"),))
        return None

    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="use tabs"), answer=answer)
    assert "SteeringReceived" in journey.kinds


PATCH = """*** Begin Patch
*** Update File: a.txt
@@
-one
+two
*** Add File: ../outside.txt
+x
*** End Patch"""


async def test_a_patch_is_asked_about_once_with_every_file_shown_and_the_reason_of_the_strictest(journey):
    journey.write("a.txt", "one\n")
    calls = Turn(calls=(Call("apply_patch", {"input": PATCH}),))
    edits = TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS, attended=True)
    await journey.run(calls, DONE, options=edits, answer=decide(Choice.ALLOW_ONCE))
    (asked,) = journey.of(ev.ApprovalRequested)
    assert asked.title == "Edit a.txt, add ../outside.txt"
    assert "outside the workspace" in asked.reason
    assert [(diff.added, diff.removed) for diff in asked.diffs] == [(1, 1), (1, 0)]
    assert (journey.workspace / "a.txt").read_text() == "two\n"
    assert (journey.workspace.parent / "outside.txt").read_text() == "x\n"


async def test_a_call_is_named_by_its_path_in_the_workspace_however_the_model_wrote_it(journey):
    journey.write("src/a.txt", "one\n")
    inside = str(journey.workspace / "src/a.txt")
    edit = {"path": inside, "diff": "------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE"}
    both = {"files": [{"path": f"/mnt{inside}"}, {"path": inside}]}
    calls = (Call("read_file", {"path": inside}), Call("read_file", both), Call("replace_in_file", edit))
    await journey.run(Turn(calls=calls), DONE, options=TaskOptions(attended=True), answer=decide(Choice.ALLOW_ONCE))
    assert [one.title for one in journey.of(ev.ApprovalRequested)] == [
        f"Read /mnt{inside}, src/a.txt",
        "Edit src/a.txt",
    ]
    assert [one.title for one in journey.of(ev.ToolCallStarted)] == [
        "Read src/a.txt",
        f"Read /mnt{inside}, src/a.txt",
        "Edit src/a.txt",
    ]


async def test_a_path_that_leads_elsewhere_once_it_was_approved_is_not_written(journey):
    (journey.workspace / "safe").mkdir()
    (journey.workspace.parent / "other").mkdir()

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            (journey.workspace / "safe").rmdir()
            (journey.workspace / "safe").symlink_to(journey.workspace.parent / "other")
            return decide(Choice.ALLOW_ONCE)(event)
        return None

    call = Call("write_to_file", {"path": "safe/a.txt", "content": "x\n"})
    await journey.run(Turn(calls=(call,)), DONE, options=ASK, answer=answer)
    assert journey.ends[0][1] == "failed"
    assert "leads elsewhere" in journey.results[0]
    assert list((journey.workspace.parent / "other").iterdir()) == []
    (journey.workspace / "safe").unlink()
    (journey.workspace / "safe").mkdir()


def keeping(scope, *, wider=False):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(
                task=event.task, request=event.request, decision=Choice.ALLOW_ALWAYS, scope=scope, wider=wider
            )
        return None

    return answer


async def test_leave_for_the_project_holds_in_the_next_task(journey):
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=keeping(Scope.PROJECT))
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ALONE)
    assert journey.ends == [("c1", "completed")]
    assert journey.of(ev.ApprovalRequested) == []
    assert [event.rule for event in journey.of(ev.ToolCallStarted)] == ["grant-1"]


async def test_leave_for_the_task_is_not_kept(journey):
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ASK, answer=keeping(Scope.TASK))
    await journey.run(Turn(calls=(TOUCH,)), DONE, options=ALONE)
    assert journey.ends == [("c1", "rejected")]


async def test_the_rules_in_force_are_in_the_log_before_the_first_call_that_they_judge(journey):
    journey.home.policy.write_text('[[rule]]\ndecision = "deny"\nname = "mine"\nreason = "no"\ntools = ["execute_*"]\n')
    await journey.run(Turn(calls=(TOUCH,)), Turn(calls=(TOUCH,)), Turn(text="ok", expect="no (rule mine)"))
    (changed,) = journey.of(ev.RulesChanged)
    assert [rule.name for rule in changed.book.rules] == ["mine"]
    assert journey.ends == [("c1", "rejected"), ("c1", "rejected")]


async def test_an_edit_of_a_file_that_changed_after_it_was_shown_is_not_made(journey):
    path = journey.write("a.txt", "one\ntwo\n")

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            path.write_text("one\ntwo, by somebody else\n")
            return decide(Choice.ALLOW_ONCE)(event)
        return None

    diff = "------- SEARCH\none\n=======\nthree\n+++++++ REPLACE"
    call = Call("replace_in_file", {"path": "a.txt", "diff": diff}, id="c1")
    again = Turn(text="ok", expect="changed after the user saw this edit")
    await journey.run(Turn(calls=(call,)), again, options=ASK, answer=answer)
    assert journey.ends == [("c1", "failed")]
    assert path.read_text() == "one\ntwo, by somebody else\n"


def agreeing(journey, text, would_be):
    """The file changes while it is asked; the person agrees to what the edit would do then."""

    def answer(event):
        if not isinstance(event, ev.ApprovalRequested):
            return None
        journey.write("a.txt", text)
        return replace(decide(Choice.ALLOW_ONCE)(event), seen=name_changes((make_diff("a.txt", text, would_be),)))

    return answer


BLOCK = {"path": "a.txt", "diff": "------- SEARCH\none\n=======\nthree\n+++++++ REPLACE"}
WHOLE = {"path": "a.txt", "content": "three\ntwo\n"}


@pytest.mark.parametrize(
    ("tool", "given", "becomes"),
    [
        ("replace_in_file", BLOCK, "three\ntwo, by somebody else\n"),
        ("write_to_file", WHOLE, "three\ntwo\n"),
    ],
)
async def test_what_an_edit_would_do_to_a_changed_file_is_done_when_just_that_was_agreed_to(
    journey, tool, given, becomes
):
    path = journey.write("a.txt", "one\ntwo\n")
    read = Turn(calls=(Call("read_file", {"path": "a.txt"}, id="c1"),))
    edit = Turn(calls=(Call(tool, given, id="c2"),))
    answer = agreeing(journey, "one\ntwo, by somebody else\n", becomes)
    await journey.run(read, edit, DONE, options=ASK, answer=answer)
    assert journey.ends == [("c1", "completed"), ("c2", "completed")]
    assert path.read_text() == becomes


async def test_an_edit_of_a_file_that_changed_once_more_is_not_made(journey):
    path = journey.write("a.txt", "one\ntwo\n")
    edit = Turn(calls=(Call("replace_in_file", BLOCK, id="c1"),))
    answer = agreeing(journey, "one\nby somebody else\n", "three\nas it was seen\n")
    await journey.run(edit, Turn(text="ok", expect="changed after the user"), options=ASK, answer=answer)
    assert journey.ends == [("c1", "failed")]
    assert path.read_text() == "one\nby somebody else\n"


async def test_ignored_files_are_neither_read_nor_found(journey):
    journey.write(".clineignore", "private/\n")
    journey.write("private/key.txt", "needle 1")
    journey.write("open.txt", "needle 2")
    calls = (
        Call("read_file", {"path": "private/key.txt"}, id="c1"),
        Call("search_files", {"regex": "needle"}, id="c2"),
        Call("list_files", {"recursive": True}, id="c3"),
    )
    await journey.run(Turn(calls=calls), DONE)
    ended = {end.call: end for end in journey.of(ev.ToolCallEnded)}
    assert {call: end.status.value for call, end in ended.items()} == {
        "c1": "rejected",
        "c2": "completed",
        "c3": "completed",
    }
    said = {call: "".join(part.text for part in end.result.content) for call, end in ended.items()}
    assert "hidden by an ignore file" in said["c1"]
    assert "needle 2" in said["c2"]
    assert not any("needle 1" in said[call] or "key.txt" in said[call] for call in ("c2", "c3"))
