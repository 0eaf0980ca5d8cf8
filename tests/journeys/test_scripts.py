import stat

import pytest

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, Scope
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.policy.audit import review_task
from halocline.tools.toolset import Tools

ASK = TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS, attended=True)
DONE = Turn(text="done")


def runs(command: str, id: str) -> Turn:
    return Turn(calls=(Call("execute_command", {"command": command}, id=id),))


def writes(path: str, content: str, id: str) -> Turn:
    read = Call("read_file", {"path": path}, id=f"{id} read")
    return Turn(calls=(read, Call("write_to_file", {"path": path, "content": content}, id=id)))


@pytest.fixture
def journey(journey):
    script = journey.write("build.sh", "#!/bin/sh\necho one >> made\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return journey


def decide(decision, before=lambda: None, scope=Scope.TASK):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            before()
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=decision, scope=scope)
        return None

    return answer


def asked(journey) -> list[tuple[str, bool]]:
    return [(event.call, "build.sh changed" in event.reason) for event in journey.of(ev.ApprovalRequested)]


async def test_always_is_asked_again_once_the_script_changed_and_the_card_says_so(journey):
    await journey.run(
        runs("./build.sh", "c1"),
        runs("./build.sh", "c2"),
        writes("build.sh", "#!/bin/sh\necho two >> made\n", "c3"),
        runs("./build.sh", "c4"),
        runs("./build.sh", "c5"),
        writes("build.sh", "#!/bin/sh\necho one >> made\n", "c6"),
        runs("./build.sh", "c7"),
        DONE,
        options=ASK,
        answer=decide(Choice.ALLOW_ALWAYS),
    )
    assert asked(journey) == [("c1", False), ("c4", True)]
    assert (journey.workspace / "made").read_text() == "one\none\ntwo\ntwo\none\n"
    rows = review_task(journey.logged, Tools(), journey.home.root)
    assert [(row.call, row.then, row.now) for row in rows if row.then != row.now] == []


async def test_leave_in_a_project_is_for_the_script_as_it_was_in_later_tasks_too(journey):
    keeping = decide(Choice.ALLOW_ALWAYS, scope=Scope.PROJECT)
    await journey.run(runs("./build.sh", "c1"), DONE, options=ASK, answer=keeping)
    await journey.run(runs("./build.sh", "c1"), DONE, options=ASK, answer=decide(Choice.REJECT_ONCE))
    assert asked(journey) == []
    journey.write("build.sh", "#!/bin/sh\nrm -rf ~\n")
    await journey.run(runs("./build.sh", "c1"), DONE, options=ASK, answer=decide(Choice.REJECT_ONCE))
    assert asked(journey) == [("c1", True)]


async def test_a_script_that_is_swapped_while_a_person_thinks_is_not_run(journey):
    def swap():
        journey.write("build.sh", "#!/bin/sh\necho evil >> made\n")

    await journey.run(runs("./build.sh", "c1"), DONE, options=ASK, answer=decide(Choice.ALLOW_ONCE, swap))
    assert "changed after the command was allowed" in journey.results[0]
    assert not (journey.workspace / "made").exists()
