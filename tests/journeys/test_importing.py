import pytest
from tests.importers import transcripts

from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.imports import ImportService, TranscriptStatus
from halocline.services.replay.replay import run_replay
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording


async def test_an_imported_task_goes_on_with_a_model_and_a_system_prompt_of_today(journey, tmp_path):
    transcripts.cline(tmp_path, str(journey.workspace))
    desk = ImportService(Assembly(journey.home, Settings(), {}), tmp_path, {})
    (there,) = desk.found(["cline"])
    task = desk.take(there, journey.workspace).task
    journey.write("a.txt", "here")
    then, look = [Turn("said elsewhere")] * 4, Turn(calls=(Call("read_file", {"path": "a.txt"}),))
    await journey.run(*then, look, Turn("All tidy."), prompt="Go on", resume=task)
    (adopted,) = (event for event in journey.logged if isinstance(event, ev.TaskAdopted))
    assert journey.state.prompt.system == adopted.system_prompt != ""
    assert (journey.state.model.name, journey.state.last_end.reason) == (adopted.model, "end_turn")
    assert journey.results[-1].startswith("1 | here")
    assert desk.standing(there) == TranscriptStatus.CONTINUED
    with pytest.raises(UsageError, match="imported"):
        await run_replay(Recording(tuple(journey.logged)), None, strict=True)
    journey.task = ""  # what happened elsewhere cannot happen again
