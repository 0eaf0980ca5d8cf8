"""A patch of several files is decided file by file: the refused ones stay, the model is told, the log replays."""

import pytest
from msgspec.structs import replace
from tests.journeys.test_replay import again

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.tasks.recording import read_recording

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
SECTIONS = {
    "changed.txt": "*** Update File: changed.txt\n@@\n-one\n+ONE\n",
    "made.txt": "*** Add File: made.txt\n+made\n",
    "gone.txt": "*** Delete File: gone.txt\n",
    "there.txt": "*** Update File: here.txt\n*** Move to: there.txt\n@@\n-here\n+THERE\n",
}
PATCH = Call("apply_patch", {"input": f"*** Begin Patch\n{''.join(SECTIONS.values())}*** End Patch"})
BEFORE = {"changed.txt": "one\ntwo\n", "gone.txt": "gone\n", "here.txt": "here\n"}
AFTER = {
    "changed.txt": {"changed.txt": "ONE\ntwo\n"},
    "made.txt": {"made.txt": "made\n"},
    "gone.txt": {"gone.txt": None},
    "there.txt": {"here.txt": None, "there.txt": "THERE\n"},
}
DONE = Turn(text="done")


def refusing(*paths, **more):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            given = {"decision": Choice.ALLOW_ONCE, **more}
            return cmd.ResolveApproval(task=event.task, request=event.request, refused=paths, **given)
        return None

    return answer


async def run(journey, *turns, **more):
    for name, text in BEFORE.items():
        journey.write(name, text)
    await journey.run(Turn(calls=(PATCH,)), *turns, options=more.pop("options", ASK), **more)
    return {path.name: path.read_text() for path in journey.workspace.iterdir() if path.is_file()}


@pytest.mark.parametrize("refused", [[name] for name in SECTIONS] + [["changed.txt", "gone.txt"]], ids=" ".join)
async def test_refused_files_stay_as_they_are_and_the_others_are_changed(journey, refused):
    told = Turn(text="ok", expect=f"refused the changes to {' and '.join(refused)}, which stay as they are")
    found = await run(journey, told, answer=refusing(*refused))
    wanted = dict(BEFORE)
    for name in SECTIONS.keys() - set(refused):
        wanted |= AFTER[name]
    assert found == {name: text for name, text in wanted.items() if text is not None}
    (decided,) = journey.of(ev.ApprovalResolved)
    assert decided.refused == tuple(refused)
    assert "*** Begin Patch" in decided.arguments["input"]
    assert not any(SECTIONS[name] in decided.arguments["input"] for name in refused)


ALL, UNKNOWN, SOURCE = tuple(SECTIONS), ("no-such.txt",), ("here.txt",)


@pytest.mark.parametrize("refused", [ALL, UNKNOWN, SOURCE], ids=["all", "unknown", "source"])
async def test_a_patch_of_which_nothing_is_left_or_none_of_its_files_is_named_is_declined(journey, refused):
    assert await run(journey, DONE, answer=refusing(*refused)) == BEFORE
    assert journey.ends[0][1] == CallStatus.REJECTED
    (decided,) = journey.of(ev.ApprovalResolved)
    assert (decided.decision, decided.arguments, decided.refused) == (Choice.REJECT_ONCE, None, ())


async def test_no_permission_is_kept_where_a_file_was_refused(journey):
    await run(journey, DONE, answer=refusing("gone.txt", decision=Choice.ALLOW_ALWAYS, note="keep it"))
    (decided,) = journey.of(ev.ApprovalResolved)
    assert (decided.decision, decided.grant, decided.note) == (Choice.ALLOW_ONCE, None, "keep it")


async def test_a_decision_on_some_files_replays(journey, tmp_path):
    file = tmp_path / "recording"
    await run(journey, DONE, answer=refusing("made.txt"), options=replace(ASK, record=file))
    done = await again(journey, read_recording(file))
    assert done.differences == ()
