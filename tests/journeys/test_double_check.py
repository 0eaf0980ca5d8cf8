"""The setting `double_check`: the model checks its work once more before a turn that changed something ends."""

import pytest

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)
WRITE = Call("write_to_file", {"path": "a.txt", "content": "a\n"})
RUN = Call("execute_command", {"command": "true", "requires_approval": False})
READ = Call("list_files", {})
FINISH = Call("attempt_completion", {"result": "Finished."})


def checking(journey, *turns: Turn) -> Client:
    return journey.client(turns, double_check=True)


@pytest.mark.parametrize("ends", [Turn(text="Finished."), Turn(calls=(FINISH,))], ids=["text", "attempt_completion"])
@pytest.mark.parametrize("change", [WRITE, RUN])
async def test_a_turn_that_changed_something_ends_only_after_another_look(journey, change, ends):
    look = Turn(calls=(READ,), expect="check your work once more")
    client = checking(journey, Turn(calls=(change,)), ends, look, Turn(text="All is well."))
    await journey.run(client=client, options=YOLO)
    assert len(journey.of(ev.CompletionQuestioned)) == 1
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.state.budget.failures_in_row == 0


async def test_a_turn_that_only_read_ends_at_once(journey):
    await journey.run(client=checking(journey, Turn(calls=(READ,)), Turn(text="Nothing to do.")), options=YOLO)
    assert journey.of(ev.CompletionQuestioned) == []


async def test_each_turn_is_checked_anew(journey):
    turns = (Turn(calls=(RUN,)), Turn(text="One."), Turn(text="Yes."))
    client = checking(journey, *turns, *turns)
    await journey.open(client, YOLO)
    for _ in range(2):
        await journey.prompt(client)
        assert len(journey.of(ev.CompletionQuestioned)) == 1
    await client.close()


async def test_a_reply_that_was_cut_off_is_not_checked(journey):
    cut = Turn(text="Half", stop=StopReason.MAX_TOKENS)
    await journey.run(client=checking(journey, Turn(calls=(RUN,)), cut), options=YOLO)
    assert journey.of(ev.CompletionQuestioned) == []


async def test_without_the_setting_nothing_is_checked_again(journey):
    await journey.run(Turn(calls=(WRITE,)), Turn(text="Finished."), options=YOLO)
    assert journey.of(ev.CompletionQuestioned) == []
